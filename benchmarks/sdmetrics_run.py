"""One run of SDMetrics' CategoricalGeneralizedCAP, timed; `attribution.py` runs this elsewhere.

``python sdmetrics_run.py ORIGINAL.csv SYNTHETIC.csv OUT.json`` takes all columns but the last one
as keys, and the last one as the sensitive attribute, every value as text. It writes the score and
what it took in user CPU seconds. It needs SDMetrics, and nothing of ours.
"""

from __future__ import annotations

import json
import resource
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from sdmetrics.single_table import CategoricalGeneralizedCAP


def cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main(original: str, synthetic: str, output: str) -> None:
    tables = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in (original, synthetic)]
    *keys, sensitive = tables[0].columns
    started = cpu()
    score = CategoricalGeneralizedCAP.compute(
        *tables, key_fields=keys, sensitive_fields=[sensitive]
    )
    report = {
        "seconds": cpu() - started,
        "score": float(score),
        "versions": {name: version(name) for name in ("sdmetrics", "pandas", "numpy")},
    }
    Path(output).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
