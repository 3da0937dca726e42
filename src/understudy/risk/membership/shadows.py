"""Membership in a release of any tool, learnt from releases that it makes with and without."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_choice, check_whole
from understudy.data.frames import Frame, Layout, to_arrow
from understudy.data.joint_coding import EncodedTable, encode
from understudy.errors import DataError, ParameterError, UnderstudyError
from understudy.learning.mixed_distance import nearest_records, place_together
from understudy.progress import track
from understudy.risk.membership.features import FeatureMaker
from understudy.risk.membership.shadow_result import Others, ShadowMembership
from understudy.risk.membership.telling_apart import ToldApart, tell_each_apart
from understudy.risk.strong.candidates import check_records, plain_values, read_columns
from understudy.risk.strong.command import Command
from understudy.risk.strong.simulator import Synthesize, run_in_threads
from understudy.showing import reason
from understudy.synthesis.blocks import RandomState, seed_of

FEWEST_SHADOWS = 20


def membership_by_shadows(  # noqa: PLR0913  # the tool, the attack, and its resources
    tool: Synthesize | Command | str,
    original: Frame,
    synthetic: Frame | None = None,
    *,
    records: Sequence[int] | ArrayLike | None = None,
    targets: int = 10,
    shadows: int = 200,
    others: Others = "sample",
    columns: Sequence[str] | None = None,
    queries: int = 100,
    random_state: RandomState = 0,
    processes: int = 1,
) -> ShadowMembership:
    """Learn from shadow releases of a tool whether a person was in the data.

    The tool is run many times with and without a person, and a classifier learns to tell the
    releases apart. So it works for any tool, and shows what an attacker can do in practice.

    Parameters
    ----------
    tool : callable, Command or str
        A function of a frame, like `original`, and a seed, that returns a synthetic frame; or a
        command line, such as ``"Rscript synth.R {original} {synthetic} {seed}"`` (see `Command`).
    original : frame
        The confidential table.
    synthetic : frame, optional
        A release: with ``others="all"``, each person gets the probability that it was made with
        them.
    records : sequence of int, optional
        Row numbers of the people to attack. If not given, the `targets` people who are farthest
        from anybody else.
    targets : int
        How many people are attacked, if `records` does not say; at most a quarter of all.
    shadows : int
        Shadow releases for each person, half of them with the person.
    others : {"sample", "all"}
        Whether a shadow release is made from a random half of the people, so that all targets
        share the same shadow releases, or from all but one: as the strongest attacker would, and
        with runs of its own for every target.
    columns : sequence of str, optional
        What is looked at; all columns of the original if not given.
    queries : int
        Random sets of columns: counted are the synthetic records that agree with the person on
        them.
    random_state : int, numpy Generator or None
        Decides the shadow releases and all else.
    processes : int
        Runs of the tool at the same time, in threads.

    Returns
    -------
    ShadowMembership

    Raises
    ------
    DataError
        If the tool fails, or returns what is no table like the original.

    Notes
    -----
    A release is described by the histogram of each column, the correlations of all pairs, and the
    shares of records that agree with the person on random sets of columns. A ridge regression tells
    them apart; scores are those of releases that it has not seen (ten parts). The p-value comes
    from 2,000 permutations of who was in which release, and is never below 0.0005.

    With ``others="all"``, a release with the person lacks somebody else, so that the number of
    records says nothing.

    References
    ----------
    .. [1] Stadler, Oprisanu, Troncoso (2022). Synthetic data: anonymisation groundhog day. USENIX
       Security Symposium, https://www.usenix.org/conference/usenixsecurity22/presentation/stadler
    .. [2] Houssiau, Jordon, Cohen, Daniel, Elliott, Geddes, Mole, Rangel-Smith, Szpruch (2022).
       TAPAS: a toolbox for adversarial privacy auditing of synthetic data. arXiv:2211.06550

    Examples
    --------
    >>> from understudy import load
    >>> people = load("buyer_beware")[-200:]
    >>> found = membership_by_shadows(lambda table, seed: table, people, records=[199], shadows=40)
    >>> bool(found.auc[0] > 0.9)  # the tool hands out what it is given
    True
    """
    attacker = _Attacker.checked(tool, others, shadows, processes)
    check_whole("queries", queries, 0)
    encoded = encode(original)
    names = encoded.names if columns is None else read_columns("columns", columns, encoded.names)
    rows, exposure = _chosen(encoded, names, records, targets)
    rng = np.random.default_rng(seed_of(random_state))
    maker = FeatureMaker(encoded, tuple(names), rows, queries, int(rng.integers(2**32)))
    plan = _plan(others, len(encoded), rows, shadows, rng)
    every = attacker.features(plan, original, maker, rng)
    reason = _no_probability(synthetic, others)
    given: list[NDArray[np.float64] | None] = [None] * len(rows)
    if synthetic is not None and not reason:
        given = list(maker.of(synthetic))
    found = tell_each_apart(
        (
            (every[own, place], inside, given[place])
            for place, (own, inside) in enumerate(plan.of_targets)
        ),
        rng,
    )
    told = [one.name for one in fields(ToldApart)]
    figures = {name: np.array([getattr(own, name) for own in found]) for name in told}
    return ShadowMembership(
        rows,
        exposure,
        **figures,
        shadows=shadows,
        runs=len(plan.tables),
        others=others,
        reasons={"probability": reason} if reason else {},
        _backend=encoded.backend,
    )


def _no_probability(synthetic: Frame | None, others: Others) -> str:
    """Return why there is no probability for a release; empty if there is one."""
    if synthetic is None:
        return "no release was given"
    if others == "sample":
        return (
            "shadow releases of half of the records do not compare with a release of all of them; "
            "use others='all'"
        )
    return ""


def _chosen(
    original: EncodedTable,
    names: Sequence[str],
    records: Sequence[int] | ArrayLike | None,
    targets: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the people to attack, the most exposed first, and how far the next person is."""
    if len(original) < 4:
        raise DataError(f"original must have at least 4 records; got {len(original)}.")
    most = min(check_whole("targets", targets, 1), len(original) // 4)
    placed = place_together({"original": original}, names)["original"]
    rows = np.arange(len(original)) if records is None else check_records(records, len(original))
    apart = nearest_records(placed.take(rows), placed, own=rows)[0][:, 0]
    if records is not None:
        if len(set(rows.tolist())) < len(rows) or len(rows) > len(original) // 4:
            raise ParameterError(
                "records must name each person once, and at most a quarter of all; got "
                f"{len(rows):,} rows."
            )
        return rows, apart
    exposed = np.lexsort((rows, -apart))[:most]
    return rows[exposed], apart[exposed]


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which rows each shadow release is made from, and which of them are about each target.

    `of_targets` holds for each target the numbers of its shadow releases, and whether it is in.
    """

    tables: list[NDArray[np.int64]]
    of_targets: list[tuple[NDArray[np.int64], NDArray[np.bool_]]]


def _plan(
    others: Others,
    people: int,
    targets: NDArray[np.int64],
    shadows: int,
    rng: np.random.Generator,
) -> _Plan:
    """Return the shadow releases; all of them are made from equally many records."""
    rest = np.setdiff1d(np.arange(people), targets)
    half = shadows // 2
    inside = np.arange(2 * half) < half
    if others == "all":
        # Releases with a person serve all targets, each of whom is in.
        left_out = [*rng.choice(rest, half, replace=half > len(rest)), *np.repeat(targets, half)]
        tables = [np.delete(np.arange(people), row) for row in left_out]
        own = np.arange(half)
        return _Plan(
            tables,
            [
                (np.concatenate([own, half * (1 + place) + own]), inside)
                for place in range(len(targets))
            ],
        )
    chosen = np.stack([rng.permutation(inside) for _ in targets])
    tables = []
    for shadow in range(2 * half):
        wanted = targets[chosen[:, shadow]]
        filling = rng.choice(rest, people // 2 - len(wanted), replace=False)
        tables.append(np.sort(np.concatenate([wanted, filling])))
    return _Plan(tables, [(np.arange(2 * half), own) for own in chosen])


@dataclass(frozen=True, eq=False)
class _Attacker:
    """Runs the tool."""

    tool: Synthesize
    threads: int

    @classmethod
    def checked(
        cls,
        tool: Any,  # noqa: ANN401  # whatever was given
        others: object,
        shadows: object,
        processes: int,
    ) -> _Attacker:
        """Return the attacker, or raise if an argument cannot be used."""
        ready = Command(tool) if isinstance(tool, str) else tool
        if not callable(ready):
            raise ParameterError(
                f"tool must be a function of a frame and a seed, or a command line; got {tool!r}."
            )
        check_choice("others", others, get_args(Others))
        check_whole("shadows", shadows, FEWEST_SHADOWS)
        return cls(ready, check_whole("processes", processes, 1))

    def features(
        self, plan: _Plan, original: Frame, maker: FeatureMaker, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the features of all shadow releases: shadows by targets by features."""
        table, layout = to_arrow(original), Layout.of(original)
        columns = {name: plain_values(table[name]) for name in table.column_names}
        seeds = rng.choice(2**31, len(plan.tables), replace=False).tolist()

        def run(shadow: int) -> tuple[int, NDArray[np.float64]]:
            rows = pa.array(plan.tables[shadow])
            made = layout.restore({name: array.take(rows) for name, array in columns.items()})
            try:
                return shadow, maker.of(self.tool(made, seeds[shadow]))
            except Exception as error:
                told = str(error) if isinstance(error, UnderstudyError) else f"{reason(error)}."
                raise DataError(
                    f"The tool failed in shadow release {shadow + 1} (seed {seeds[shadow]}): {told}"
                ) from error

        jobs = range(len(plan.tables))
        # Closed explicitly, so that an interruption ends what is running at once.
        with closing(run_in_threads(run, jobs, self.threads, self.tool)) as results:
            found = dict(track(results, "Making shadow releases", len(plan.tables)))
        return np.stack([found[shadow] for shadow in jobs])
