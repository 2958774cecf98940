"""Writes all-minilm-l6-v2.json: vectors of 20 texts by sentence-transformers, the reference implementation.

    python3 -m venv venv && venv/bin/pip install sentence-transformers
    venv/bin/python make_minilm.py MODEL_FOLDER

MODEL_FOLDER is the folder that `mingti models pull all-minilm-l6-v2` made. Each text is embedded alone; components are
rounded to six decimals, which moves the cosine by less than 1e-7.
"""

import json
import pathlib
import sys

from sentence_transformers import SentenceTransformer

TEXTS = [
    "The spindle must not exceed 12,000 rpm.",
    "What is the alarm temperature of the main shaft?",
    "Close the guard before you start the machine!",
    "ERR-9801",
    "a",
    "Oil pressure below 0.45 MPa stops the pump; see section 3.2.1 for the restart procedure.",
    "Naïve café résumé — Übergröße",
    "It isn't allowed, and they've said so: \"never\".",
    "  spaces   around\tand\ninside  ",
    "https://example.org/manual?page=12#top",
    "The technician who replaced the bearing in March noted that the noise had been there since the coupling was "
    "aligned, that it grew with the load, and that it went away when the motor ran without the gearbox. " * 3,
    "word " * 400,
    "主轴轴承温度超过 70℃ 时，系统报警。",
    "该设备不得在防护罩打开时运行。",
    "第十二条　当事人应当按照约定全面履行自己的义务。",
    "报警代码ERR-9801表示伺服驱动器过载，应立即停机检查。",
    "什么情况下需要更换液压油？",
    "ＡＢＣ１２３ 全角字符",
    "😀 émoji and 中文 mixed",
    "否",
]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    model = SentenceTransformer(str(folder), device="cpu")
    vectors = [model.encode(text, normalize_embeddings=True) for text in TEXTS]
    limit = model.max_seq_length
    lengths = [len(model.tokenizer(text)["input_ids"]) for text in TEXTS]
    golden = {
        "model": "all-minilm-l6-v2",
        "max_tokens": limit,
        "truncated": [index for index, length in enumerate(lengths) if length > limit],
        "texts": TEXTS,
        "vectors": [[round(float(x), 6) for x in vector] for vector in vectors],
    }
    out = pathlib.Path(__file__).with_name("all-minilm-l6-v2.json")
    out.write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
