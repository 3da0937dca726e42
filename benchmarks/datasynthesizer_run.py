"""One run of DataSynthesizer on a table of codes, timed; `peers.py` runs this in its environment.

``python datasynthesizer_run.py TABLE.csv K OUT.json`` describes the table in correlated-attribute
mode without noise, every column categorical, draws as many rows again, and writes what it took in
user CPU seconds, its worker processes included. It needs DataSynthesizer, and nothing of ours.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from DataSynthesizer import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator


def cpu() -> float:
    """Return the user CPU seconds of this process and of the workers that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime for usage in usages)


def main(table: str, k: int, output: str) -> None:
    frame = pd.read_csv(table)
    seconds = {}
    count_tables = DataDescriber.construct_noisy_conditional_distributions

    def counted(*args):
        started = cpu()
        found = count_tables(*args)
        seconds["tables"] = cpu() - started
        return found

    # The description is search and tables in one call; the tables are timed on their own as well.
    DataDescriber.construct_noisy_conditional_distributions = counted
    started = cpu()
    describer = DataDescriber.DataDescriber()
    describer.describe_dataset_in_correlated_attribute_mode(
        table,
        k=k,
        epsilon=0,
        attribute_to_is_categorical=dict.fromkeys(frame.columns, True),
        attribute_to_is_candidate_key=dict.fromkeys(frame.columns, False),
    )
    seconds["describe"] = cpu() - started
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder, "description.json")
        describer.save_dataset_description_to_file(description)
        started = cpu()
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(len(frame), str(description))
        seconds["generate"] = cpu() - started
    drawn = generator.synthetic_dataset.astype(int)
    report = {
        "seconds": seconds,
        "network": describer.bayesian_network,
        "shape": list(drawn.shape),
        # A broken run must not count as a quick one: shares of the codes should be the table's.
        "distance": max(
            float(
                np.abs(
                    frame[name]
                    .value_counts(normalize=True)
                    .sub(drawn[name].value_counts(normalize=True), fill_value=0)
                ).sum()
                / 2
            )
            for name in frame.columns
        ),
        "versions": {
            name: version(name) for name in ("DataSynthesizer", "pandas", "numpy", "scikit-learn")
        },
    }
    Path(output).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
