"""Writes recursive.json: the pieces of langchain-text-splitters for the documents beside this script.

    pip install langchain-text-splitters
    python make_recursive.py

A piece is recorded as [code points, FNV-1a of its UTF-8 bytes], so that the file stays small. `neither` pieces are
recorded without white space, because ranges cannot leave out repeated separators.
"""

import json
from pathlib import Path

import langchain_text_splitters
from langchain_text_splitters import RecursiveCharacterTextSplitter

HERE = Path(__file__).parent
NAMES = ["pump_en.md", "leave_en.txt", "storm_en.txt", "spindle_zh.md", "storage_zh.txt", "flood_zh.txt"]
CJK = ["\n\n", "\n", "。", "！", "？", "；", ". ", "! ", "? ", "; ", "，", ", ", "、", " ", ""]
KEEP = {"start": True, "end": "end", "neither": False}


def fnv(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def main() -> None:
    cases = []
    for name in NAMES:
        for separators, keep, size, overlap, crlf in [
            ("default", "start", 400, 0, False),
            ("default", "start", 200, 40, False),
            ("default", "start", 100, 50, True),
            ("default", "start", 37, 9, False),
            ("default", "start", 1, 0, False),
            ("default", "end", 150, 30, False),
            ("default", "neither", 120, 25, False),
            ("cjk", "end", 400, 80, False),
            ("cjk", "end", 120, 0, False),
            ("cjk", "end", 60, 20, True),
            ("cjk", "end", 25, 10, False),
            ("cjk", "start", 90, 30, False),
        ]:
            text = (HERE / name).read_text(encoding="utf-8")
            if crlf:
                text = text.replace("\n", "\r\n")
            splitter = RecursiveCharacterTextSplitter(
                chunk_size=size,
                chunk_overlap=overlap,
                separators=CJK if separators == "cjk" else None,
                keep_separator=KEEP[keep],
            )
            pieces = splitter.split_text(text)
            if keep == "neither":
                pieces = ["".join(piece.split()) for piece in pieces]
            if size == 1:
                pieces = pieces[:200]
            cases.append({
                "document": name,
                "separators": separators,
                "keep": keep,
                "size": size,
                "overlap": overlap,
                "crlf": crlf,
                "pieces": [[len(piece), fnv(piece)] for piece in pieces],
            })
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (HERE / "recursive.json").write_text(f"[\n{lines}\n]\n")
    print(getattr(langchain_text_splitters, "__version__", ""), len(cases), sum(len(c["pieces"]) for c in cases))


main()
