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
from typing import Literal

from understudy.audit import Audit, audit
from understudy.cli.advice_commands import AdviceCommands
from understudy.cli.holdout import SHARE, KeptBack, Rerun
from understudy.cli.option_groups import repeated
from understudy.cli.options import Csv, joined_names
from understudy.cli.session import check_folder, replaced_folder
from understudy.cli.synthesis import Source
from understudy.data import hold_out, load
from understudy.data.files import write, write_bytes
from understudy.progress import track
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Independent, Synthesizer
from understudy.synthesis.bayes.model import Search

KEYS = ("age", "education", "children", "religion", "working")
KNOWN = 4
SENSITIVE = "husband_education"
TARGET = "method"
PARENTS = 4

REPORT, JSON, ORIGINAL = "report.html", "audit.json", "original.csv"


@dataclass(frozen=True)
class Demonstration:
    """What the demonstration found, and the files that it wrote with what they are."""

    audit: Audit
    files: Mapping[Path, str]


SMOOTHING: dict[Search, Literal["auto"] | int] = {"genetic": 0, "predictive": "auto"}
"""The networks by the way they are found, and how far each is smoothed."""


def methods(seed: int) -> dict[str, Synthesizer]:
    """Return the synthesizers by the names of their releases.

    Trees and the networks of the papers draw from the records as they are; the predictive ones are
    smoothed, as by default.
    """
    protect = {SENSITIVE: TARGET}
    return {
        "independent": Independent(random_state=seed),
        "copula": GaussianCopula(random_state=seed),
        "cart": Cart(smoothing_leaves=0, random_state=seed),
        **{
            f"{structure}{suffix}": BayesNet(
                PARENTS,
                structure,
                smoothing=smoothing,
                protect=protected,
                random_state=seed,
            )
            for structure, smoothing in SMOOTHING.items()
            for suffix, protected in (("", None), (" (protected)", protect))
        },
    }


def file_of(release: str) -> str:
    """Return the name of a release's table.

    Examples
    --------
    >>> file_of("greedy (protected)")
    'synthetic-greedy-protected.csv'
    """
    return f"synthetic-{'-'.join(re.findall('[a-z]+', release))}.csv"


def run_demo(folder: Path, *, seed: int, overwrite: bool, unit: str = "people") -> Demonstration:
    """Synthesize most of the bundled survey, attack all releases, and write report and tables.

    The folder is written whole or not at all; an earlier demonstration is replaced if `overwrite`.
    """
    models = methods(seed)
    names = {file_of(name): f"the release {name!r}" for name in models}
    names |= {
        REPORT: "the report, to open in a browser",
        JSON: "all findings, for programs",
        ORIGINAL: "the part of the survey that was synthesized",
    }
    check_folder(folder, names.__contains__, overwrite=overwrite)
    parts = hold_out(load("cmc"), SHARE, by=SENSITIVE, random_state=seed)
    tables = {}
    for name, model in track(models.items(), "Synthesizing", len(models)):
        tables[name] = model.fit(parts.kept).sample()
    found = audit(
        parts.kept,
        tables,
        keys=KEYS,
        sensitive=SENSITIVE,
        known=KNOWN,
        target=TARGET,
        model=models,
        control=parts.held_out,
        classifiers="papers",
        random_state=seed,
        unit=unit,
        drawn=True,
        command=f"understudy demo --seed {seed}",
    )
    found = KeptBack(parts, SENSITIVE, predicted=True).tell(found)
    with replaced_folder(folder, names.__contains__, overwrite=overwrite) as made:
        write(parts.kept, made / ORIGINAL)
        for name, table in tables.items():
            write(table, made / file_of(name))
        found.to_json(made / JSON)
        sources = {name: Source(folder / file_of(name)) for name in tables}
        commands = AdviceCommands(
            folder / ORIGINAL,
            Csv(),
            sources,
            synthesis=repeated({"seed": seed}),
            audit=repeated(
                {
                    "keys": joined_names(KEYS),
                    "sensitive": SENSITIVE,
                    "known": KNOWN,
                    "target": TARGET,
                    "classifiers": "papers",
                    "unit_name": unit,
                }
            ),
            rerun=Rerun(SHARE),
        )
        write_bytes(found.to_html(commands=commands).encode(), made / REPORT)
    order = (REPORT, JSON, ORIGINAL, *map(file_of, tables))
    return Demonstration(found, {folder / name: names[name] for name in order})
