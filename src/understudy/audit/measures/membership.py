"""Whether the release tells who was in the data."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.attack_findings import MembershipCurve
from understudy.audit.findings import NAN
from understudy.audit.measures.declaration import (
    Collected,
    Explanation,
    FigureKind,
    Measure,
    Trust,
)
from understudy.audit.synthesis import Synthesis
from understudy.data.frames import to_narwhals
from understudy.data.joint_coding import encode
from understudy.errors import NoDensityError, ParameterError
from understudy.risk.membership import (
    ControlMembership,
    ExactMembership,
    membership_by_control,
    membership_exact,
)
from understudy.risk.membership.control import FEWEST_CONTROL
from understudy.risk.membership.control_result import TITLES
from understudy.risk.membership.roc import roc_curve
from understudy.wording import people, sentence

MOST_REPLACED = 20_000
"""In larger tables, nobody is replaced by fresh people: that takes more than a pass."""
MOST_SCORED = 1_000
"""People of either group who are scored: enough to see one in a thousand."""
SURE = 0.9

EXACT = FigureKind(
    "membership",
    "Membership",
    "Share of people who were in the data with a probability above 90%, to an attacker who knows "
    "the model, everyone else's record and the person's own",
    guess=False,
)
CONTROL = FigureKind(
    "membership_control",
    "Membership by control records",
    "Share of pairs of a person in the data and one who is not that are told apart by the release "
    "(AUC)",
    guess=False,
    question="records",
    tested=True,
    told="Of two {units}, one in the data and one not, the release tells which is which in "
    "{synthetic} of the cases; chance does in 50%",
)


def _run_exact(synthesis: Synthesis) -> ExactMembership | str:
    task, given = synthesis.task, synthesis.given
    assert given.model is not None  # noqa: S101  # there is no such job without one
    few = len(to_narwhals(task.original)) <= MOST_REPLACED
    try:
        if task.units is not None:
            return membership_exact(
                given.model, task.original, given.tables, draws=0, unit_id=task.units.names
            )
        return membership_exact(
            given.model,
            task.original,
            given.tables,
            draws=500 if few else 0,
            random_state=task.seed,
        )
    except (NoDensityError, ParameterError) as error:
        return sentence(str(error))


def _collect_exact(_first: Synthesis, found: Sequence[ExactMembership | str]) -> Collected:
    (own,) = found
    if isinstance(own, str):
        return Collected([EXACT.figure(note=f"Not measured: {own}")])
    share = own.without.share_above(SURE)
    figure = EXACT.figure(
        baseline=0.0,
        synthetic=share,
        gain=share,
        note=f"{people(own.without.certain)} were in the data for certain.",
    )
    numbers = {
        f"membership.{name}": NAN if value is None else float(value)
        for name, value in own.without.to_dict().items()
    } | {
        f"membership.replaced_{name}": NAN if value is None else float(value)
        for name, value in own.replaced.to_dict().items()
    }
    return Collected([figure], numbers=numbers)


def _run_control(synthesis: Synthesis) -> ControlMembership | str:
    task = synthesis.task
    control = synthesis.tables.encoded["control"]
    if len(control) < FEWEST_CONTROL:
        return f"There are fewer than {FEWEST_CONTROL} control records."
    released = [synthesis.tables.encoded["synthetic"]]
    released += [encode(table) for table in synthesis.given.tables[1:]]
    held = [set(table.names) for table in (control, *released)]
    columns = [name for name in synthesis.columns if all(name in one for one in held)]
    return membership_by_control(
        synthesis.tables.encoded["original"],
        released,
        control,
        columns=columns,
        most=MOST_SCORED,
        random_state=task.seed,
    )


def _collect_control(_first: Synthesis, found: Sequence[ControlMembership | str]) -> Collected:
    (own,) = found
    if isinstance(own, str):
        return Collected([CONTROL.figure(note=f"Not measured: {own}")])
    reasons = " ".join(sentence(f"{name}: {why}") for name, why in own.reasons.items())
    figure = CONTROL.figure(
        baseline=0.5, synthetic=own.auc, gain=own.auc - 0.5, note=f"{own.summary()} {reasons}"
    )
    best = own.scores[own.best].separation
    numbers = {
        "auc": own.auc,
        "auc_low": best.low,
        "auc_high": best.high,
        "p_value": own.p_value,
        "tpr_at_1_percent": own.true_positive_rate(0.01),
        "tpr_at_01_percent": own.true_positive_rate(0.001),
    }
    scored = own.scores[own.best]
    curve = MembershipCurve(
        TITLES[own.best],
        len(scored.original),
        len(scored.control),
        round(own.auc, 4),
        tuple(
            (round(others, 5), round(members, 5))
            for others, members in roc_curve(scored.original, scored.control)
        ),
    )
    return Collected(
        [figure],
        numbers={f"membership_control.{n}": v for n, v in numbers.items()},
        release={"membership_curve": curve},
    )


_POSTERIORS = ("mean", "maximum", "share_above_half", "share_above_90_percent", "certain")

MEMBERSHIP_CONTROL = Measure(
    "membership_control",
    "looking for who was in the data",
    _run_control,
    _collect_control,
    needed=lambda task, _given: task.control is not None,
    needs="control records",
    first_only=True,
    keyless=True,
    figures=(CONTROL,),
    numbers={
        "membership_control": (
            "auc",
            "auc_low",
            "auc_high",
            "p_value",
            "tpr_at_1_percent",
            "tpr_at_01_percent",
        )
    },
    explanation=Explanation(
        "Membership by control records",
        "People in the data and control records are scored by how close the release comes to them, "
        "absolutely and relative to other people, and by how much more probable they are in the "
        "release than among other people. We show how often the best of these scores is higher for "
        "the person in the data: half of the time if the release does not tell.",
        "Carlini and others (2022). Membership inference attacks from first principles. IEEE "
        "Symposium on Security and Privacy. doi:10.1109/SP46214.2022.9833649",
    ),
    place=68,
)
MEMBERSHIP = Measure(
    "membership",
    "asking who was in the data",
    _run_exact,
    _collect_exact,
    needed=lambda _task, given: given.model is not None,
    needs="the model that made the release",
    first_only=True,
    keyless=True,
    figures=(EXACT,),
    numbers={"membership": (*_POSTERIORS, *(f"replaced_{name}" for name in _POSTERIORS))},
    explanation=Explanation(
        "Membership",
        "An attacker who knows the model, all other records and the person's own asks whether the "
        "release was made with that person or without, and gives both the same chance beforehand. "
        "The model's density tells how probable each is after the release.",
    ),
    trust=(Trust("membership", "record", ("D1", "D2", "D3", "D4", "D5")),),
    of_units="all records",
    place=69,
)
