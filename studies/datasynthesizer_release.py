"""Make releases with DataSynthesizer; run by the Python of an environment that has it.

``python datasynthesizer_release.py TABLE FOLDER EPSILON PARENTS ROWS RELEASES`` writes a
description and a table for each release. Nothing of understudy is needed.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path


def main(table: str, folder: str, epsilon: float, parents: int, rows: int, releases: int) -> None:
    """Describe a table and draw rows from the description, many times."""
    from DataSynthesizer.DataDescriber import DataDescriber  # type: ignore[import-not-found]
    from DataSynthesizer.DataGenerator import DataGenerator  # type: ignore[import-not-found]

    for number in range(releases):
        description = str(Path(folder) / f"{number}.json")
        with contextlib.redirect_stdout(io.StringIO()):
            describer = DataDescriber(category_threshold=20)
            # Without a seed, so that noise is drawn anew: with one, it is the same every time.
            describer.describe_dataset_in_correlated_attribute_mode(
                table,
                k=parents,
                epsilon=epsilon,
                attribute_to_is_categorical=dict.fromkeys("abc", True),
                attribute_to_is_candidate_key=dict.fromkeys("abc", False),
                attribute_to_datatype=dict.fromkeys("abc", "String"),
                seed=None,
            )
            describer.save_dataset_description_to_file(description)
            generator = DataGenerator()
            generator.generate_dataset_in_correlated_attribute_mode(rows, description, seed=None)
            generator.save_synthetic_data(str(Path(folder) / f"{number}.csv"))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(given[0], given[1], float(given[2]), *map(int, given[3:]))
