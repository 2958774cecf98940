"""Writes windows.json: the boundaries of two sliding windows over documents of made-up sentences.

    python make_windows.py

An independent statement of the rules, on one flat list of tokens with `[CLS]` = 1 and an end mark = 2 behind each
sentence. `adaptive` is the window of Zhang et al. 2021; `overflow` that of ModelScope's document segmentation, whose
windows are cut out of the flat list at the end mark that reaches the limit. The model is a hash of its whole input.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
CLS, END = 1, 2


def fnv(numbers: list[int]) -> int:
    value = 0x811C9DC5
    for number in numbers:
        for byte in number.to_bytes(4, "little"):
            value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def probabilities(ids: list[int]) -> list[float]:
    """At each end mark of the input."""
    return [fnv(ids + [at]) % 1000 / 1000 for at, token in enumerate(ids) if token == END]


def sentence(index: int, length: int) -> list[int]:
    return [10 + (index * 31 + k * 7) % 97 for k in range(length)]


def adaptive(sentences, limit, threshold, back):
    breaks, windows, start, n = [], [], 0, len(sentences)
    while start < n:
        ids, end = [CLS], start
        while end < n and len(ids) + len(sentences[end]) + 1 <= limit:
            ids += sentences[end] + [END]
            end += 1
        if end == start:
            ids, end = [CLS] + sentences[start][: limit - 2] + [END], start + 1
        windows.append(ids)
        found = [start + i for i, p in enumerate(probabilities(ids)) if p > threshold]
        if end == n:
            following = n
        else:
            recent = [i for i in found if i >= end - back]
            following = recent[-1] + 1 if recent else max(end - 1, start + 1)
        breaks += [i for i in found if i < following and i != n - 1]
        start = following
    return breaks, windows


def overflow(sentences, limit, threshold):
    flat = [token for s in sentences for token in s + [END]]
    ends = [at for at, token in enumerate(flat) if token == END]
    breaks, windows, left, first, i = [], [], 0, 0, 0
    while i < len(ends):
        right = ends[i] + 1
        finish = right == len(flat)
        if right - left < limit - 1 and not finish:
            i += 1
            continue
        ids = ([CLS] + flat[left:right])[:limit]
        if i == first and not finish:
            # Its only sentence fills the window.
            breaks.append(i)
            left, first, i = right, i + 1, i + 1
            continue
        if i == first:
            ids[-1] = END
        windows.append(ids)
        scores = probabilities(ids)
        breaks += [first + k for k, p in enumerate(scores) if first + k < i and p > threshold]
        if finish:
            break
        left, first = ends[i - 1] + 1, i
    return breaks, windows


def main() -> None:
    cases, state = [], 12345
    for count, longest, limit, threshold in [
        (1, 5, 20, 0.5), (2, 30, 20, 0.5), (30, 8, 32, 0.5), (30, 8, 32, 0.9), (60, 12, 48, 0.8), (60, 12, 48, 0.99),
        (40, 40, 24, 0.5), (40, 25, 24, 0.95), (100, 6, 64, 0.7), (100, 6, 9, 0.6), (50, 3, 10, 0.9), (25, 22, 24, 1.0),
    ]:
        lengths = []
        for _ in range(count):
            state = (state * 1103515245 + 12345) % (1 << 31)
            lengths.append((state >> 8) % (longest + 1))
        sentences = [sentence(i, length) for i, length in enumerate(lengths)]
        for back in (1 << 30, 3, 1):
            breaks, windows = adaptive(sentences, limit, threshold, back)
            cases.append({"advance": "adaptive", "back": back, "limit": limit, "threshold": threshold,
                          "lengths": lengths, "windows": [fnv(w) for w in windows], "breaks": breaks})
        breaks, windows = overflow(sentences, limit, threshold)
        cases.append({"advance": "overflow", "back": 0, "limit": limit, "threshold": threshold, "lengths": lengths,
                      "windows": [fnv(w) for w in windows], "breaks": breaks})
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (HERE / "windows.json").write_text(f"[\n{lines}\n]\n")
    print([(len(c["windows"]), len(c["breaks"])) for c in cases])


main()
