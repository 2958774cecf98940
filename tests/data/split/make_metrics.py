"""Writes metrics.json: Pk and WindowDiff of random segmentations, from nltk.metrics.segmentation.

    pip install nltk numpy
    python make_metrics.py [count]

A segmentation is a string with `1` for each sentence that ends a section. `auto` is Pk with NLTK's own window.
"""

import json
import random
import sys
from pathlib import Path

from nltk.metrics.segmentation import pk, windowdiff

random.seed(20240318)
cases = []
for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 24):
    length = random.choice([1, 2, 5, 10, 33, 80])
    density = random.choice([0.0, 0.1, 0.3, 0.7, 1.0])
    reference = "".join("1" if random.random() < density else "0" for _ in range(length))
    hypothesis = "".join(
        random.choice("01") if random.random() < 0.3 else mark for mark in reference)
    k = random.randint(0, length)
    auto = int(round(length / (max(reference.count("1"), 1) * 2.0)))
    cases.append({
        "reference": reference, "hypothesis": hypothesis, "k": k, "auto_k": auto, "pk": pk(reference, hypothesis, k),
        "auto": pk(reference, hypothesis) if auto <= length else None,
        "window_diff": windowdiff(reference, hypothesis, k),
        "weighted": windowdiff(reference, hypothesis, k, weighted=True),
    })
out = Path(__file__).parent / "metrics.json" if len(sys.argv) < 3 else Path(sys.argv[2])
out.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
print(len(cases))
