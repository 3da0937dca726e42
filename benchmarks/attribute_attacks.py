"""The attribute attacks of a quick audit: CPU seconds, and multiples of looking all keys up once.

Run with ``python benchmarks/attribute_attacks.py``; ``--quick`` takes a tenth of the rows. It needs
Adult in the folder that ``UNDERSTUDY_DATA`` names. The release is a synthesis by independent
columns, in which most keys have no match, and so takes longest. Times are CPU seconds with compiled
kernels. Exits with 1 if the new attacks of one audit take more than their limit together.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

from rows import note
from understudy import Independent
from understudy.audit.measures import MEASURES
from understudy.audit.synthesis import Synthesis, encoded, made_ready
from understudy.audit.task import RELEASE, Given, Task
from understudy.data import fetch
from understudy.errors import DataError
from understudy.learning.jobs import Remembered
from understudy.risk.attribution import attributions
from understudy.risk.scenario import Scenario
from understudy.wording import markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

KEYS = (
    *("age", "workclass", "education", "marital_status", "occupation", "relationship", "race"),
    *("sex", "native_country", "hours_per_week", "capital_gain", "capital_loss", "education_num"),
)
NEW = ("telling_keys", "nearest_neighbour", "rare_values", "carriers")
SECONDS = 2.0
"""What the new attacks of a quick audit may take together, for a sensitive category."""


def timed(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the second run: the first may compile."""
    work()
    started = time.process_time()
    work()
    return time.process_time() - started


def ready(table: pl.DataFrame, sensitive: str) -> Synthesis:
    """Return a release of a table, made ready as in a quick audit."""
    release = Independent(random_state=1).fit(table).sample()
    given = Given(RELEASE, (release,))
    task = Task(
        original=table,
        releases=(given,),
        scenario=Scenario(KEYS, sensitive),
        target=None,
        control=None,
        test=None,
        groups={},
        measures="quick",
        classifiers=None,
        seed=1,
        show_records=False,
    )
    (synthesis,) = made_ready(task, given, encoded(task), (), Remembered())
    return synthesis


def main() -> int:
    """Print the table, and return 1 if the limit is missed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="a tenth of the rows")
    quick = arguments.parse_args().quick
    try:
        table = fetch("adult_train")
    except DataError as error:
        print(error)
        return 0
    table = table[: len(table) // 10] if quick else table
    rows, missed = [], False
    for sensitive in ("income", "fnlwgt"):
        synthesis = ready(table, sensitive)
        once = timed(lambda held=synthesis: attributions(held.prepared, ["nearest"]))
        total = 0.0
        for measure in (one for one in MEASURES if one.name in NEW):
            seconds = timed(lambda run=measure.run, held=synthesis: run(held))
            rows.append([sensitive, measure.name, f"{seconds:.2f}", f"{seconds / once:.1f}"])
            total += seconds
        rows.append([sensitive, "together", f"{total:.2f}", f"{total / once:.1f}"])
        most = SECONDS if sensitive == "income" else None
        job = f"attribute attacks of a quick audit, {len(table):,} of Adult, {sensitive}"
        note(job, "CPU s", total, most)
        missed = missed or (sensitive == "income" and total > SECONDS)
    print(f"Adult, {len(table):,} records, {len(KEYS)} keys\n")
    print(markdown_table(["sensitive", "attack", "CPU seconds", "times GCAP"], rows))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
