"""Dependencies of real tables: which are found, and which a synthesis keeps, with and without.

``python -m studies dependencies`` looks for what holds between the columns of tables that come with
Python packages, and synthesizes each with every method, once without keeping it and once with.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np
import polars as pl

from studies.packaged_tables import cached_file, chosen_tables
from understudy.data import Schema, find_dependencies, read
from understudy.data.panel_look import constant_within, looks_like_panel
from understudy.progress import quietly, track
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Independent, Synthesizer
from understudy.utility import dependencies
from understudy.wording import markdown_table, percent

NAMED: dict[str, tuple[str, ...]] = {
    "flights": (
        "'sched_dep_time' holds clock times as hhmm",
        "'sched_arr_time' holds clock times as hhmm",
        "'dep_time' = 'sched_dep_time' and 'dep_delay' minutes, on the clock",
        "'arr_time' = 'sched_arr_time' and 'arr_delay' minutes, on the clock",
        "'hour' = the hour of 'sched_dep_time'",
        "'minute' = the minute of 'sched_dep_time'",
        "'distance' follows from 'origin' and 'dest'",
    ),
    "wages": ("'expersq' = 'exper' squared",),
    "murders": (
        "'arrests' = 0.0001 * 'popul' * 'arrestrate'",
        "'murders' = 0.0001 * 'popul' * 'murdrate'",
    ),
    "happiness": (
        "'blackfemale' = 'black' * 'female'",
        "'vhappy' follows from 'happy'",
        "'occattend' follows from 'attend'",
        "'regattend' follows from 'attend'",
        *(f"'y{year}' follows from 'year'" for year in ("94", "96", "98", "00", "02", "04", "06")),
    ),
    "loans": (
        "'loanamt' = 'price' * 'loanprc'",
        "'approve' = -1 * 'reject' + 1",
        "'white' = 1 - 'black' - 'hispan'",
    ),
    "pizzas": ("'type' follows from 'name'", "'price' follows from 'name' and 'size'"),
    "prices": (
        "'low' <= 'open'",
        "'low' <= 'close'",
        "'open' <= 'high'",
        "'close' <= 'high'",
    ),
    "house-prices": (
        "'FireplaceQu' is missing exactly when 'Fireplaces' is 0",
        "'GarageType' is missing exactly when 'GarageCars' is 0",
        "'BsmtQual', 'BsmtCond' and 'BsmtFinType1' are missing together",
    ),
    "penguins": (),
}
"""What the tables' documentation says of their columns."""

WITHIN: dict[str, tuple[str, tuple[str, ...]]] = {
    "wages": ("nr", ("black", "hisp", "educ")),
    "murders": ("countyid", ("statefips", "countyfips")),
}
"""The unit that the documentation of a panel names, and what it says is the same in all its
records: of a unit's name, which is made up, nothing can follow."""

MODELS: dict[str, type[Synthesizer]] = {
    "bayes": BayesNet,
    "cart": Cart,
    "copula": GaussianCopula,
    "independent": Independent,
}
RANDOM_TABLES = 60


@dataclass(frozen=True)
class Kept:
    """What one method keeps of a table's dependencies."""

    table: str
    method: str
    keeping: bool
    found: int
    kept: int
    broken: float


def dependencies_markdown(
    tables: Sequence[str] | None = None, *, rows: int = 5000, seed: int = 1
) -> str:
    """Return what is found in each table, and what each method keeps, as Markdown."""
    wanted = [name for name in NAMED if not tables or name in tables]
    searched, runs = [], []
    for table in track(chosen_tables(wanted), "Looking for dependencies"):
        with quietly():
            path = cached_file(table)
            begun = time.process_time()
            frame = read(path)
            reading = time.process_time() - begun
            columns = Schema.infer(frame, dependencies=False)
            begun = time.process_time()
            found = find_dependencies(frame, columns)
            searching = time.process_time() - begun
            sentences = {one.sentence for one in found}
            named = NAMED[table.name]
            searched.append(
                [
                    table.name,
                    f"{len(frame):,}",
                    str(len(columns)),
                    str(len(found)),
                    f"{len(sentences & set(named))} of {len(named)}",
                    _within(table.name, frame, columns),
                    f"{reading:.2f}",
                    f"{searching:.2f}",
                ]
            )
            runs += _synthesized(table.name, frame, rows, seed)
    return "\n\n".join(
        [
            markdown_table(
                [
                    *("table", "rows", "columns", "found", "of those documented"),
                    *("the same within a unit", "reading, CPU s", "searching, CPU s"),
                ],
                searched,
            ),
            markdown_table(
                [
                    *("table", "method", "found", "kept before", "records that break one"),
                    *("kept after", "records that break one"),
                ],
                _beside(runs),
            ),
            _false_findings(),
        ]
    )


def _within(name: str, frame: pl.DataFrame, schema: Schema) -> str:
    """Say how much of what is the same in all records of a unit is found, with the unit itself."""
    if name not in WITHIN:
        return "-"
    unit, documented = WITHIN[name]
    columns = {column: frame[column].to_arrow() for column in frame.columns}
    look = looks_like_panel(schema, columns)
    found = constant_within(schema, columns, [unit]) if look and look[0] == unit else []
    return f"{len({*documented} & {*found})} of {len(documented)}"


def _synthesized(name: str, frame: pl.DataFrame, rows: int, seed: int) -> list[Kept]:
    """Synthesize some records of a table with every method, without and with keeping."""
    if len(frame) > rows:
        frame = frame.sample(rows, seed=seed)
    whole = Schema.infer(frame)
    unusable = [column.name for column in whole if column.kind == "text"]
    frame, schema = frame.drop(unusable), whole.drop(*unusable)
    runs = []
    for method, model in MODELS.items():
        for keeping in (False, True):
            used = schema if keeping else schema.with_dependencies(keep=False)
            release = model(random_state=seed).fit(frame, used).sample()
            found = dependencies(frame, release, found=schema.dependencies, schema=schema)
            shares = [one.synthetic for one in found if not np.isnan(one.synthetic)]
            runs.append(
                Kept(
                    name,
                    method,
                    keeping,
                    len(shares),
                    len(shares) - len(found.broken),
                    mean(shares) if shares else 0.0,
                )
            )
    return runs


def _beside(runs: Sequence[Kept]) -> list[list[str]]:
    """Return a line for each table and method: before and after."""
    return [
        [
            before.table,
            before.method,
            str(before.found),
            *(text for one in (before, after) for text in (str(one.kept), percent(one.broken, 2))),
        ]
        for before, after in zip(runs[::2], runs[1::2], strict=True)
        if before.found
    ]


def _false_findings() -> str:
    """Say how many columns of random tables seem to depend on others."""
    columns = false = 0
    for number in range(RANDOM_TABLES):
        rng = np.random.default_rng(number)
        rows = int(rng.choice([30, 100, 300, 1000, 3000]))
        frame = random_table(rows, rng)
        columns += frame.width
        false += len({name for one in find_dependencies(frame) for name in one.names[:1]})
    return (
        f"In {RANDOM_TABLES} random tables of 30 to 3,000 rows, {false:,} of {columns:,} columns "
        f"({percent(false / columns, 2)}) seem to depend on others."
    )


def random_table(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return a table of unrelated columns: even and skewed, few values and many, with gaps."""
    columns: dict[str, pl.Series] = {}
    for number in range(int(rng.integers(4, 20))):
        levels = int(rng.choice([2, 3, 5, 12, 40, 200]))
        weights = rng.random(levels) ** float(rng.choice([0, 1, 6]))
        values = rng.choice(levels, rows, p=weights / weights.sum())
        kind = rng.choice(["whole", "text", "real", "flag"])
        made = {
            "whole": pl.Series(values * int(rng.choice([1, 1, 5, 100]))),
            "text": pl.Series([f"v{value}" for value in values]),
            "real": pl.Series(np.round(rng.normal(size=rows) * 10, int(rng.integers(0, 4)))),
            "flag": pl.Series(values > levels // 2),
        }[str(kind)]
        gaps = pl.Series(rng.random(rows) < float(rng.choice([0, 0, 0.05, 0.4])))
        columns[f"c{number}"] = pl.select(pl.when(~gaps).then(made)).to_series()
    return pl.DataFrame(columns)
