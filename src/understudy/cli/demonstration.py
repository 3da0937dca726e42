"""The demonstration: the bundled survey, synthesized in seven ways, attacked, and compared.

It is the scenario of the paper on networks [1]_: an attacker knows four of five facts about a woman
and wants to learn her husband's education, while analysts want to predict her contraceptive
method. Networks that are cut loose take the attacker's gain away and keep the prediction.

.. [1] Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased
   privacy on synthetic data. IEEE Big Data, doi:10.1109/BigData55660.2022.10020936
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.audit import Audit, audit
from understudy.cli.advice_commands import AdviceCommands
from understudy.cli.options import Csv
from understudy.cli.session import check_folder, replaced_folder
from understudy.data import load
from understudy.data.files import write, write_bytes
from understudy.progress import track
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Independent, Synthesizer

if TYPE_CHECKING:
    import polars as pl

KEYS = ("age", "education", "children", "religion", "working")
KNOWN = 4
SENSITIVE = "husband_education"
TARGET = "method"
PARENTS = 4
HELD_OUT = 0.2
"""Share of the survey that no synthesis sees, to test the predictions on."""

REPORT, JSON = "report.html", "audit.json"


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration found, and the files that it wrote with what they are."""

    audit: Audit
    files: Mapping[Path, str]


def methods(seed: int) -> dict[str, Synthesizer]:
    """Return the seven synthesizers by the names of their releases."""
    protect = {SENSITIVE: TARGET}
    return {
        "independent": Independent(random_state=seed),
        "copula": GaussianCopula(random_state=seed),
        "cart": Cart(random_state=seed),
        "greedy": BayesNet(PARENTS, "greedy", random_state=seed),
        "greedy (protected)": BayesNet(PARENTS, "greedy", protect=protect, random_state=seed),
        "genetic": BayesNet(PARENTS, "genetic", random_state=seed),
        "genetic (protected)": BayesNet(PARENTS, "genetic", protect=protect, random_state=seed),
    }


def file_of(release: str) -> str:
    """Return the name of a release's table.

    Examples
    --------
    >>> file_of("greedy (protected)")
    'synthetic-greedy-protected.csv'
    """
    return f"synthetic-{'-'.join(re.findall('[a-z]+', release))}.csv"


def parted(survey: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the records to synthesize from, and those to test predictions on."""
    rows, tested = survey.height, round(HELD_OUT * survey.height)
    held_out = np.zeros(rows, bool)
    held_out[np.random.default_rng(seed).choice(rows, tested, replace=False)] = True
    return survey.filter(~held_out), survey.filter(held_out)


def run_demo(folder: Path, *, seed: int, overwrite: bool) -> Demonstration:
    """Synthesize most of the bundled survey, attack all releases, and write report and tables.

    The folder is written whole or not at all; an earlier demonstration is replaced if `overwrite`.
    """
    models = methods(seed)
    names = {file_of(name): f"the release {name!r}" for name in models}
    names |= {REPORT: "the report, to open in a browser", JSON: "all findings, for programs"}
    check_folder(folder, names.__contains__, overwrite=overwrite)
    survey, test = parted(load("cmc"), seed)
    tables = {}
    for name, model in track(models.items(), "Synthesizing", len(models)):
        tables[name] = model.fit(survey).sample()
    found = audit(
        survey,
        tables,
        keys=KEYS,
        sensitive=SENSITIVE,
        known=KNOWN,
        target=TARGET,
        model=models,
        test=test,
        classifiers="papers",
        random_state=seed,
        command=f"understudy demo --seed {seed}",
    )
    with replaced_folder(folder, names.__contains__, overwrite=overwrite) as made:
        for name, table in tables.items():
            write(table, made / file_of(name))
        found.to_json(made / JSON)
        files = {name: folder / file_of(name) for name in tables}
        commands = AdviceCommands(Path("data.csv"), Csv(), files)
        write_bytes(found.to_html(commands=commands).encode(), made / REPORT)
    order = (REPORT, JSON, *map(file_of, tables))
    return Demonstration(found, {folder / name: names[name] for name in order})
