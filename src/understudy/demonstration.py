"""The demonstration: the bundled survey, synthesized in seven ways, attacked, and compared.

It is the scenario of the paper on networks [1]_: an attacker knows four of five facts about a woman
and wants to learn her husband's education, while analysts want to predict her contraceptive
method. Networks that are cut loose take the attacker's gain away and keep the prediction.

.. [1] Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased
   privacy on synthetic data. IEEE Big Data, doi:10.1109/BigData55660.2022.10020936
"""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from understudy._version import __version__
from understudy.audit import Audit
from understudy.audit.assemble import release_findings
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.inputs import Given, Task
from understudy.audit.measures import Measure, Synthesis, measures_for
from understudy.data import load
from understudy.data.files import write, write_bytes
from understudy.folders import check_folder, replaced_folder
from understudy.progress import track
from understudy.risk.attackers import attackers_on
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Independent, Synthesizer

SENSITIVE = "husband_education"
TARGET = "method"
SCENARIO = Scenario(("age", "education", "children", "religion", "working"), SENSITIVE, known=4)
PARENTS = 4

REPORT, JSON = "report.html", "audit.json"
_CLASSIFIERS = "classifiers"
_NOTE = "The papers' classifiers: `understudy audit` trains stronger ones, which take longer."


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


def run_demo(folder: Path, *, seed: int, overwrite: bool) -> Demonstration:
    """Synthesize the bundled survey, attack all releases, and write report and tables.

    Parameters
    ----------
    folder : Path
        Where to write: whole or not at all.
    seed : int
        Decides the draws.
    overwrite : bool
        Whether an earlier demonstration in the folder may be replaced.

    Raises
    ------
    DataError
        If the folder cannot be written, or holds anything else.
    """
    models = methods(seed)
    names = {file_of(name): f"the release {name!r}" for name in models}
    names |= {REPORT: "the report, to open in a browser", JSON: "all findings, for programs"}
    check_folder(folder, names.__contains__, overwrite=overwrite)
    started = time.perf_counter()
    survey = load("cmc")
    tables = {}
    for name, model in track(models.items(), "Synthesizing", len(models)):
        tables[name] = model.fit(survey).sample()
    releases = _attack(survey, tables, models, seed)
    found = Audit(
        Findings(
            version=__version__,
            created=dt.datetime.now(dt.UTC).astimezone().isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - started, 3),
            seed=seed,
            command=f"understudy demo --seed {seed}",
            measures="standard, with the papers' classifiers",
            rows=survey.height,
            columns=survey.width,
            keys=SCENARIO.keys,
            known=SCENARIO.known,
            sensitive=SENSITIVE,
            target=TARGET,
            releases=releases,
        )
    )
    with replaced_folder(folder, names.__contains__, overwrite=overwrite) as made:
        for name, table in tables.items():
            write(table, made / file_of(name))
        found.to_json(made / JSON)
        write_bytes(found.to_html().encode(), made / REPORT)
    order = (REPORT, JSON, *map(file_of, tables))
    return Demonstration(found, {folder / name: names[name] for name in order})


def _attack(
    survey: Any,  # noqa: ANN401  # a frame
    tables: Mapping[str, Any],
    models: Mapping[str, Synthesizer],
    seed: int,
) -> tuple[ReleaseFindings, ...]:
    """Run the standard measures with quicker attackers: ours would take a minute."""
    given = tuple(Given(name, (table,), models[name]) for name, table in tables.items())
    task = Task(
        original=survey,
        releases=given,
        scenario=SCENARIO,
        target=TARGET,
        control=None,
        test=None,
        groups={},
        measures="standard",
        seed=seed,
        show_records=False,
    )
    columns = tuple(survey.columns)
    ready = {
        one.name: Synthesis(
            task, one, 1, one.tables[0], prepare(survey, one.tables, SCENARIO), columns
        )
        for one in given
    }
    jobs = [(one, measure) for one in given for measure in _measures(task, one)]
    results: dict[str, dict[str, list[Any]]] = {name: {} for name in ready}
    for one, measure in track(jobs, "Attacking and comparing"):
        results[one.name][measure.name] = [measure.run(ready[one.name])]
    return tuple(
        _noted(release_findings(synthesis, results[name], {})) for name, synthesis in ready.items()
    )


def _measures(task: Task, given: Given) -> Iterator[Measure]:
    for measure in measures_for(task, given):
        if measure.name == _CLASSIFIERS:
            yield replace(measure, run=_papers_classifiers)
        elif measure.name != "strong" or not isinstance(given.model, GaussianCopula):
            # The copula draws from no table of counts, so nobody can tell how one record counts.
            yield measure


def _papers_classifiers(synthesis: Synthesis) -> Any:  # noqa: ANN401  # as all measures
    return attackers_on(synthesis.prepared, "papers", random_state=synthesis.task.seed)


def _noted(release: ReleaseFindings) -> ReleaseFindings:
    """Say at the classifiers' figures which they are."""
    trained = ("vote", "mean_attacker", "best_attacker")
    figures = (
        replace(one, note=f"{one.note} {_NOTE}".strip()) if one.measure in trained else one
        for one in release.figures
    )
    return replace(release, figures=tuple(figures))
