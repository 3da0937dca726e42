"""Membership in any file, by comparison with control records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable
from understudy.errors import DataError
from understudy.learning.mixed_distance import PlacedTable, nearest_records, place_together
from understudy.risk.compared_tables import drawn_rows, named_tables, shared_columns
from understudy.risk.membership.control_result import ControlMembership, Scored
from understudy.risk.membership.density import (
    code_placed,
    learn_network,
    log_density,
    log_density_of_others,
)
from understudy.risk.membership.roc import separation
from understudy.synthesis.blocks import RandomState, seed_of
from understudy.wording import counted

FEWEST_CONTROL = 10
"""With fewer control records, nothing could be seen."""

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The scores of the people in the data, and of the control records."""


def membership_by_control(
    original: Frame | EncodedTable,
    synthetic: Frame | EncodedTable | Sequence[Frame | EncodedTable],
    control: Frame | EncodedTable,
    *,
    columns: Sequence[str] | None = None,
    most: int = 10_000,
    random_state: RandomState = 0,
) -> ControlMembership:
    """Tell who was in the data from the release and control records, whatever made the release.

    Each person gets scores that would be alike for people in the data and others if the release
    told nothing of who was in. How well they separate the two groups is the risk.

    Parameters
    ----------
    original, synthetic : frame
        The confidential table, and the release; of a list of releases, all records are pooled.
    control : frame
        People of the same population who were not used for the release.
    columns : sequence of str, optional
        What is compared; all columns that the tables have in common if not given.
    most : int
        At most so many people of each group are scored, drawn at random.
    random_state : int, numpy Generator or None
        Decides the sample.

    Returns
    -------
    ControlMembership
        With AUC, p-value, and the true positives at 1% and 0.1% false positives, of each score.

    Notes
    -----
    Let a be the distance to the nearest synthetic record, and b that to the nearest other person of
    the original and the control records. `closeness` is -a, and `relative_closeness` b / (a + b).
    `density_ratio` is log p(x) - log q(x): both have the network that the release shows (two
    parents); p has the counts of the release, and q those of all other people of the original and
    the control records. A person is never among those whom they are compared with, and people in
    the data and control records are scored in the same way.

    If the release does not depend on who of all these people was in the data, members and control
    records are exchangeable, so the test needs no assumption about the population.

    Examples
    --------
    >>> from understudy import load
    >>> people = load("cmc")
    >>> found = membership_by_control(people[:700], people[:700], people[700:])  # a copy
    >>> found.auc > 0.95, found.p_value < 0.001
    (True, True)
    """
    check_whole("most", most, 1)
    tables = named_tables(original, synthetic, control)
    names = shared_columns(tables, columns)
    if len(tables["control"]) < FEWEST_CONTROL:
        raise DataError(
            f"control must have at least {FEWEST_CONTROL} records; got {len(tables['control'])}."
        )
    placed = place_together(tables, names)
    releases = [placed[name] for name in tables if name not in ("original", "control")]
    release = PlacedTable.stack(releases)
    rng = np.random.default_rng(seed_of(random_state))
    rows = [drawn_rows(placed[name].rows, most, rng) for name in ("original", "control")]
    people = [placed["original"], placed["control"]]
    found = _by_distance(people, release, rows) | {
        "density_ratio": _by_density(people, release, rows, rng)
    }
    seed = int(rng.integers(2**32))
    scores = {name: Scored(*both, separation(*both, seed)) for name, both in found.items()}
    return ControlMembership(
        rows[0],
        rows[1],
        scores,
        len(releases),
        reasons=_reasons(scores),
        notes=_notes(tables, rows),
        _backend=tables["original"].backend,
    )


def _by_distance(
    people: Sequence[PlacedTable], release: PlacedTable, rows: Sequence[NDArray[np.int64]]
) -> dict[str, Pair]:
    """Return the scores by distance, of both groups."""
    everybody = PlacedTable.stack(people)
    near, relative = [], []
    first = 0
    for table, chosen in zip(people, rows, strict=True):
        asked = table.take(chosen)
        to_release = nearest_records(asked, release)[0][:, 0]
        to_person = nearest_records(asked, everybody, own=first + chosen)[0][:, 0]
        near.append(-to_release)
        both = to_release + to_person
        # A double of two people is as close to the release as to a person.
        relative.append(np.divide(to_person, both, out=np.full_like(both, 0.5), where=both > 0))
        first += table.rows
    return {"closeness": (near[0], near[1]), "relative_closeness": (relative[0], relative[1])}


def _by_density(
    people: Sequence[PlacedTable],
    release: PlacedTable,
    rows: Sequence[NDArray[np.int64]],
    rng: np.random.Generator,
) -> Pair:
    """Return the log ratio of the densities of the release and of all other people."""
    *groups, drawn = code_placed([*people, release])
    if not drawn.names:
        return np.zeros(len(rows[0])), np.zeros(len(rows[1]))
    network = learn_network(drawn, int(rng.integers(2**32)))
    everybody = Coded.concatenate(groups)
    ratio = log_density(network, drawn, everybody) - log_density_of_others(network, everybody)
    return ratio[: len(groups[0])][rows[0]], ratio[len(groups[0]) :][rows[1]]


def _reasons(scores: dict[str, Scored]) -> dict[str, str]:
    first = next(iter(scores.values())).separation
    return {
        f"tpr_at_{one.false_positive_rate:g}": one.reason for one in first.detections if one.reason
    }


def _notes(tables: dict[str, EncodedTable], rows: Sequence[NDArray[np.int64]]) -> tuple[str, ...]:
    return tuple(
        f"{counted(len(chosen), 'record')} of the {len(tables[name]):,} of the {name} were scored, "
        "drawn at random."
        for name, chosen in zip(("original", "control"), rows, strict=True)
        if len(chosen) < len(tables[name])
    )
