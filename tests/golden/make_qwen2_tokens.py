"""Writes qwen2-tokens.json: token ids of 30 texts by the tokenizer that the makers of Qwen publish.

    python3 -m venv venv && venv/bin/pip install dashscope tiktoken
    venv/bin/python make_qwen2_tokens.py

Its byte-level vocabulary is that of Qwen2 and Qwen2.5. Texts are in composed form (NFC).
"""

import json
import pathlib

from dashscope.tokenizers import get_tokenizer

TEXTS = [
    "主轴轴承温度超过 70℃ 时，系统报警 ERR-9801。",
    "The spindle must not exceed 12,000 rpm; see §3.2.",
    "it's don't WE'LL they've",
    "  多个空格   和\t制表符\n\n换行\r\n再来",
    "第十二条　当事人不得……",
    "价格：￥1,234.56（含税）",
    "émigré naïve café Å",
    "😀👍🏽 emoji",
    "",
    "a",
    "   ",
    "\n\n\n",
    "x=1+2*3/(4-5)",
    '["一","二"]',
    "0123456789",
    "ＡＢＣ１２３",
    "한국어 日本語 テスト",
    "GB/T 19001—2016",
    '{"a": [1, 2]}\n```json\n',
    "Übergrößenträger",
    "हिन्दी",
    "العربية",
    "foo_bar.baz()",
    "严禁在设备运行时打开防护罩！",
    "1. 检查油位\n2. 启动泵\n",
    "http://example.com/a?b=c&d=e",
    "—–‐",
    "A\u00a0B",
    "tab\there",
    "end ",
]


def main() -> None:
    tokenizer = get_tokenizer("qwen-7b-chat")
    lines = [json.dumps([text, tokenizer.encode(text)], ensure_ascii=False) for text in TEXTS]
    out = pathlib.Path(__file__).with_name("qwen2-tokens.json")
    out.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
