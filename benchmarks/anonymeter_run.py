"""Attacks of anonymeter, timed; `anonymeter.py` runs this in an environment of its own.

``python anonymeter_run.py FOLDER OUT.json`` reads ``original.csv``, ``synthetic.csv``,
``control.csv`` and ``attacks.json`` of a folder. It writes counts, rates, risks and user CPU
seconds of each attack, from frames to results; kernels are compiled before. It needs anonymeter,
and nothing of ours.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator


def cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def run(attack: dict, original, synthetic, control):
    kind, count = attack["kind"], attack["attacks"]
    common = {"ori": original, "syn": synthetic, "control": control, "n_attacks": count}
    if kind == "singling out":
        columns = attack["columns"]
        mode = "univariate" if columns == 1 else "multivariate"
        return SinglingOutEvaluator(**common, n_cols=columns, seed=1).evaluate(mode=mode)
    if kind == "linkability":
        sides = attack["columns_a"], attack["columns_b"]
        neighbours = attack["neighbours"]
        evaluator = LinkabilityEvaluator(**common, aux_cols=sides, n_neighbors=neighbours)
        return evaluator.evaluate(n_jobs=1)
    keys, secret = attack["keys"], attack["sensitive"]
    evaluator = InferenceEvaluator(**common, aux_cols=keys, secret=secret, regression=False)
    return evaluator.evaluate(n_jobs=1)


def report(attack: dict, tables) -> dict:
    run(attack | {"attacks": 2}, *(table.head(200) for table in tables))
    started = cpu()
    results = run(attack, *tables).results()
    seconds = cpu() - started
    risk = results.risk()
    rates = {"attack": results.attack_rate, "baseline": results.baseline_rate}
    rates["control"] = results.control_rate
    return {
        "seconds": seconds,
        "risk": [risk.value, *risk.ci],
        **{name: [rate.value, rate.error] for name, rate in rates.items()},
    }


def main(folder: str, output: str) -> None:
    warnings.simplefilter("ignore")
    names = ("original", "synthetic", "control")
    tables = [
        pd.read_csv(Path(folder, f"{name}.csv"), keep_default_na=False).astype(
            json.loads(Path(folder, "types.json").read_text(encoding="utf-8"))
        )
        for name in names
    ]
    attacks = json.loads(Path(folder, "attacks.json").read_text(encoding="utf-8"))
    found = {
        "attacks": [report(attack, tables) for attack in attacks],
        "versions": {name: version(name) for name in ("anonymeter", "pandas", "polars", "numpy")},
    }
    Path(output).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
