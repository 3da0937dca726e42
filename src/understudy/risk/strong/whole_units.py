"""The strong attacker on a whole unit: everyone else's records are known, but not the unit's.

A person of a panel, or a household, is in the data with several records. An attacker who knows all
of them but one knows nearly everything. So here all records of a unit are unknown at once: either
whether they were in the data at all, or which value they share in one column. The structure of the
model stays as published, and only counts change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import as_names
from understudy.data.coded import Coded, Codes
from understudy.data.frames import Frame, Layout
from understudy.data.units import units_of
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.progress import track
from understudy.risk.strong.beliefs import (
    Beliefs,
    Question,
    attribute_logs,
    popularity,
    read_weights,
)
from understudy.risk.strong.candidates import Candidates, read_unknown
from understudy.risk.strong.fixed import FixedLikelihood, TableCounts, columns_of
from understudy.risk.strong.release import Release, read_releases, withheld_notes
from understudy.risk.strong.result import StrongAttack
from understudy.synthesis import Synthesizer
from understudy.wording import counted

if TYPE_CHECKING:
    from understudy.risk.strong.unit_kernels import Draws

Rows = NDArray[np.int64]

_UNITS_AT_ONCE = 2_000
"""Units whose worlds are held in memory at the same time."""


@dataclass(frozen=True, eq=False)
class UnitLikelihood:
    """How the likelihood of releases depends on all records of a unit.

    Parameters
    ----------
    likelihood : FixedLikelihood
        The tables that matter, and the original.
    releases : sequence of Release
        The releases.
    order, starts : ndarray of int64
        The rows of the original, unit by unit, and where each unit begins, with the end.
    """

    likelihood: FixedLikelihood
    releases: Sequence[Release]
    order: Rows
    starts: Rows

    @classmethod
    def of(
        cls, model: Synthesizer, releases: Sequence[Release], units: Rows, names: Sequence[str]
    ) -> UnitLikelihood:
        """Count the tables of a model that depend on some columns."""
        likelihood = FixedLikelihood.of(model.sampling_tables(), releases, names)
        order = np.argsort(units, kind="stable")
        starts = np.searchsorted(units[order], np.arange(int(units.max()) + 2))
        return cls(likelihood, releases, order, starts)

    @property
    def original(self) -> Coded:
        """The original records."""
        return self.likelihood.original

    def rows(self, unit: int) -> Rows:
        """Return the rows of a unit."""
        return self.order[self.starts[unit] : self.starts[unit + 1]]

    def without(self, chosen: Rows) -> NDArray[np.float64]:
        """Return how the log likelihood moves if all records of each of some units are gone."""
        total = np.zeros(len(chosen))
        nobody = self.original.take(slice(0))
        for counts in track(self.likelihood.tables, "Attacking units", len(self.likelihood.tables)):
            self._add(counts, chosen, 1, columns_of(nobody), total)
        return total

    def with_value(self, chosen: Rows, name: str, values: int) -> NDArray[np.float64]:
        """Return the same if all records of a unit have another value, units by values."""
        parts = []
        starts = range(0, len(chosen), _UNITS_AT_ONCE)
        for start in track(starts, "Attacking units", len(starts)):
            units = chosen[start : start + _UNITS_AT_ONCE]
            own = self.original.take(self._rows_of(units))
            worlds = {column: np.repeat(codes, values) for column, codes in columns_of(own).items()}
            worlds[name] = np.tile(np.arange(values), len(own)).astype(own[name].dtype)
            total = np.zeros(len(units) * values)
            for counts in self.likelihood.tables:
                self._add(counts, units, values, worlds, total)
            parts.append(total.reshape(len(units), values))
        return np.concatenate(parts) if parts else np.zeros((0, values))

    def _rows_of(self, chosen: Rows) -> Rows:
        return np.concatenate([np.empty(0, np.int64), *(self.rows(int(unit)) for unit in chosen)])

    def _add(
        self,
        counts: TableCounts,
        chosen: Rows,
        values: int,
        joining: dict[str, Codes],
        total: NDArray[np.float64],
    ) -> None:
        """Add what a table says; the joining records are those of each unit once for each value."""
        from understudy.risk.strong.kernels import RECORDS, Standing
        from understudy.risk.strong.unit_kernels import add_world_logs, shares_of

        rows = self._rows_of(chosen)
        old = counts.locate(columns_of(self.original.take(rows)), len(rows))
        size = len(next(iter(joining.values())))
        new = counts.locate(joining, size)
        # Records of a unit and value must stand together, and they come record by record.
        sizes = np.diff(self.starts)[chosen]
        ends = np.cumsum(sizes)
        begins = ends - sizes
        if size:
            unit_of = np.repeat(np.arange(len(chosen)), sizes * values)
            place = np.lexsort((np.tile(np.arange(values), len(rows)), unit_of))
            new = Standing(new.values[place], new.nodes[:, place], new.cells[:, place])
            new_ends = np.cumsum(np.repeat(sizes, values))
            new_begins = new_ends - np.repeat(sizes, values)
        else:
            new_begins = new_ends = np.zeros(len(chosen), np.int64)
        draws = self._draws(counts)
        nodes = np.ascontiguousarray(counts.tally.node_counts[:, RECORDS])
        cells = np.ascontiguousarray(counts.tally.cell_counts[:, RECORDS])
        shares = np.empty(len(draws.times))
        shares_of(draws, nodes, cells, shares)
        add_world_logs(
            draws,
            (nodes, cells),
            shares,
            (old, np.repeat(begins, values), np.repeat(ends, values)),
            (new, new_begins, new_ends),
            total,
        )

    def _draws(self, counts: TableCounts) -> Draws:
        from understudy.risk.strong.kernels import Standing
        from understudy.risk.strong.unit_kernels import Draws

        drawn = [
            release.synthetic
            for release in self.releases
            if not counts.table.columns & set(release.withheld)
        ]
        every = Coded.concatenate(drawn)
        there = counts.locate(columns_of(every), len(every))
        part = np.flatnonzero(there.values >= 0)
        last = there.nodes[:, part].max(axis=0).astype(np.int64)
        keys = last * counts.tally.cardinality + there.values[part]
        _, first, times = np.unique(keys, return_index=True, return_counts=True)
        chosen = part[first]
        shrinkage = counts.table.shrinkage
        nothing = np.empty(0)
        return Draws(
            Standing(there.values[chosen], there.nodes[:, chosen], there.cells[:, chosen]),
            times,
            nothing if shrinkage is None else np.asarray(shrinkage.strengths, np.float64),
            nothing if shrinkage is None else np.asarray(shrinkage.base, np.float64),
            1 if shrinkage is None else max(shrinkage.min_count, 1),
        )


def check_model(model: object) -> None:
    """Raise unless a model is fitted, and its releases have a known probability."""
    if not isinstance(model, Synthesizer):
        raise ParameterError(f"model must be a fitted synthesizer; got {type(model).__name__}.")
    if not hasattr(model, "codec_"):
        raise ParameterError(f"model: this {type(model).__name__} is not fitted yet.")
    if model.random_fit == "records":
        raise NoDensityError(
            "This model was fitted to a random sample of the records (proper=True), and nobody "
            "knows which. So the probability of a release cannot be computed."
        )


def strong_attacker_on_units(
    model: Synthesizer,
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    unknown: str,
    unit_id: str | Sequence[str],
    prior: ArrayLike | None = None,
) -> StrongAttack:
    """Return what an attacker who knows everyone else's records learns of a unit's common value.

    All records of a unit share the value of a column, such as a person's sex in each year. The
    attacker knows the synthesizer, all records of other units, and the other columns of the unit's
    records. The structure of the model stays as published.

    Parameters
    ----------
    model : Independent, BayesNet or Cart
        The fitted model that made the release.
    original : frame
        The table that it was fitted to, with its rows in the same order.
    synthetic : frame or list of frames
        The release, or several.
    unknown : str
        The column that the attacker does not know.
    unit_id : str or sequence of str
        The columns of the original that name the unit of a record together.
    prior : array, optional
        What is believed before the release: a weight for each value, in the order of the column's
        levels. By default the share of each value among the other units.

    Returns
    -------
    StrongAttack
        With a row for each unit whose records agree; `record` is the first of its rows.

    Raises
    ------
    DataError
        If no unit has records that agree on the column, or the tables do not fit the model.
    NoDensityError
        If the model does not work by counts.

    Notes
    -----
    The posterior of value y is in proportion to p(Z | D without the unit, with its records of value
    y) p(y), for the release Z: exactly as `strong_attacker` with ``mode="fixed"`` where each unit
    has one record.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy import Independent, Schema
    >>> table = pl.DataFrame({"who": [1, 1, 2, 2, 3], "ill": ["no", "no", "no", "no", "yes"]})
    >>> model = Independent(random_state=1).fit(table, Schema.infer(table).with_roles(unit="who"))
    >>> release = pl.DataFrame({"who": [7], "ill": ["yes"]})
    >>> found = strong_attacker_on_units(model, table, release, unknown="ill", unit_id="who")
    >>> found.certain, len(found)  # without the third, nobody could have given the yes
    (1, 3)
    """
    check_model(model)
    codec = model.codec_
    (name,) = read_unknown(unknown, codec.names, codec.schema.identifiers)
    units = units_of(original, as_names(unit_id))
    concerned = {name}.union(
        *(table.columns for table in model.sampling_tables() if name in table.columns),
        model.columns_of_rules,
    )
    releases = read_releases(model, original, synthetic, concerned)
    likelihood = UnitLikelihood.of(model, releases, units, [name])
    codes = likelihood.original[name].astype(np.int64)
    values = likelihood.original.cardinality(name)
    first = likelihood.order[likelihood.starts[:-1]]
    agree = np.bincount(units, codes == codes[first][units]) == np.diff(likelihood.starts)
    if not agree.any():
        raise DataError(
            f"The records of no unit have the same value of {name!r} throughout. A unit's records "
            "are attacked together only where they share the value."
        )
    chosen = np.flatnonzero(agree)
    truth = codes[first[chosen]]
    logs = likelihood.with_value(chosen, name, values)
    counts = np.bincount(truth, minlength=values)
    question = Question(
        (name,),
        {name: tuple(codec.labels(name))},
        first[chosen],
        "marginal" if prior is None else prior,
        "marginal" if prior is None else "given",
        Layout.of(original).backend,
    )
    if prior is None:
        log_prior = attribute_logs(counts, truth)
    else:
        log_prior = read_weights(prior, values, len(chosen))
    grid = Candidates.grid((name,), (values,))
    beliefs = Beliefs.of(log_prior, logs, truth, popularity(counts, truth), grid)
    notes = withheld_notes(releases)
    if not agree.all():
        notes = (
            *notes,
            f"{counted(int(np.count_nonzero(~agree)), 'unit')} whose records do not agree on "
            f"{name!r} were left out.",
        )
    guesses = grid.labels(question.labels, beliefs.guess)
    notes = (*notes, *likelihood.likelihood.notes())
    return question.answer("fixed", beliefs, guesses, values, notes=notes)


def unit_membership_logs(
    model: Synthesizer,
    original: Frame,
    synthetic: Frame | Coded | Sequence[Frame | Coded],
    unit_id: str | Sequence[str],
) -> tuple[Rows, NDArray[np.float64]]:
    """Return the first row of each unit, and how the log likelihood moves if the unit were gone.

    With the structure as published.
    """
    check_model(model)
    units = units_of(original, as_names(unit_id))
    releases = read_releases(model, original, synthetic)
    likelihood = UnitLikelihood.of(model, releases, units, model.codec_.names)
    every = np.arange(len(likelihood.starts) - 1)
    first = likelihood.order[likelihood.starts[:-1]]
    if len(every) == 1:
        return first, np.full(1, -np.inf)
    return first, likelihood.without(every)
