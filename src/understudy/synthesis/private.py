"""Synthesizers that can learn under differential privacy: with `epsilon`, noise covers each record.

Everything that such a model knows of the records comes from an accountant's noisy answers. So
whatever is drawn, shown or computed from the model keeps the promise, too.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import is_number
from understudy.data import Coded, Schema
from understudy.data.bins import Decoding
from understudy.data.frames import Frame
from understudy.data.source import TableSource
from understudy.data.typed_dialect import AnyDialect
from understudy.errors import DataError, NoDensityError, ParameterError, SchemaError
from understudy.synthesis.base import Synthesizer
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.privacy import Accountant, Guarantee, Ledger, Neighbours

NOT_REPEATED = (
    "This model learnt with noise that nobody can draw again, so it cannot be fitted to other "
    "records and compared. What one record can change is bounded by its epsilon; the ledger says "
    "how that was paid for, and an audit of the noise can try to disprove it."
)
"""Why attacks that refit a model, or compute with its counts, are not run."""


def tell_of_hidden_links() -> None:
    """Say that columns are drawn independently, which is decided by what is public alone."""
    logging.getLogger("understudy").warning(
        "At this `epsilon`, and with so few records, noise would hide every link between columns. "
        "They are drawn independently of each other."
    )


class PrivateSynthesizer(Synthesizer):
    """The base of synthesizers that take `epsilon`.

    A subclass asks all that it learns of an accountant, in `_fit_private`. The codec is made from
    a public schema alone, or from noisy answers that are paid for.

    Attributes
    ----------
    ledger_ : Ledger or None
        What was asked of the records, and what it cost; None without epsilon.
    """

    adds_laplace: ClassVar[bool] = True
    """Whether the noise needs no delta. If not, it is Gaussian."""

    epsilon: float | None = None
    delta: float | None = None
    neighbours: Neighbours = "change-one"
    spend_on_domain: float = 0
    ledger_: Ledger | None = None

    before_noise: Callable[[Guarantee], None] | None = None
    """Is called with what is promised before anything is asked of the records.

    Whoever keeps account of several models may refuse by an error.
    """

    @property
    def has_noise(self) -> bool:
        """Whether it learns with noise."""
        return self.epsilon is not None

    @property
    def is_private(self) -> bool:
        """Whether it learns with noise that keeps its epsilon."""
        return self.has_noise

    def _set_privacy(
        self,
        epsilon: float | None,
        delta: float | None,
        neighbours: Neighbours,
        spend_on_domain: float,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.neighbours, self.spend_on_domain = neighbours, spend_on_domain

    def _check_params(self) -> None:
        super()._check_params()
        self._check_privacy()

    def _check_privacy(self) -> None:
        """Raise if epsilon and what belongs to it have values that cannot be used."""
        share = self.spend_on_domain
        if not is_number(share) or not 0 <= share < 1:
            raise ParameterError(
                f"spend_on_domain must be a share of the budget from 0 to below 1; got {share!r}."
            )
        if self.has_noise:
            from understudy.privacy.guarantee import check_epsilon

            check_epsilon(self.epsilon)
            return
        given = {
            "delta": self.delta is not None,
            "spend_on_domain": bool(share),
            "neighbours": self.neighbours != "change-one",
        }
        for name, is_given in given.items():
            if is_given:
                raise ParameterError(f"`{name}` has no effect without `epsilon`.")

    def _learn(self, source: TableSource, schema: Schema | None) -> None:
        if not self.is_private:
            self.ledger_ = None
            super()._learn(source, schema)
            return
        from understudy.privacy import Accountant, read_guarantee
        from understudy.privacy.domain import (
            check_public,
            clamping,
            count_outside,
            public_codec,
            public_inputs,
            records_inside,
            schema_of_types,
        )
        from understudy.privacy.guarantee import tell_of_weakness
        from understudy.privacy.noisy_domain import buy_domain, in_bought_levels, needs_delta

        schema = schema or schema_of_types(source)
        self._check_schema(schema, tuple(source.layout.types))
        share = Fraction(str(self.spend_on_domain))
        if not share:
            check_public(schema)
        opened = bool(share) and needs_delta(schema)
        rows = source.rows
        if rows == 0 and self.neighbours == "change-one":
            raise DataError("The table has no rows, so there is nothing to learn from.")
        pure = self.adds_laplace
        guarantee = read_guarantee(
            self.epsilon, self.delta, self.neighbours, rows, pure=pure and not opened
        )
        tell_of_weakness(guarantee)
        accountant = Accountant(guarantee, pure=pure, open_domain=opened)
        if self.before_noise is not None:
            self.before_noise(guarantee)
        bought: tuple[str, ...] = ()
        grouped = source
        if share:
            domain = buy_domain(source, schema, accountant, share)
            schema, bought = domain.schema, domain.names
            grouped = in_bought_levels(source, domain)
        codec = public_codec(source, schema)
        if not codec.names:
            raise DataError("There is no column to synthesize: all are identifiers.")
        accountant.take_for_public(*public_inputs(codec, bought, guarantee.neighbours))
        records = records_inside(grouped, codec)
        inside = count_outside(records, accountant)
        self._start(clamping(codec), rows if guarantee.neighbours == "change-one" else inside)
        self._fit_private(records.coded, accountant, np.random.default_rng(self._fit_seed))
        self.ledger_ = accountant.ledger

    def _kept_dialect(self, written: AnyDialect | None) -> AnyDialect | None:
        if not self.is_private or written is None:
            return written
        from understudy.privacy.public_dialect import public_dialect

        return public_dialect(written, self.schema_)

    def _check_schema(self, schema: Schema, names: tuple[str, ...]) -> None:  # noqa: ARG002
        if schema.units:
            raise SchemaError(
                "epsilon holds for one record, but the records belong to units:",
                [
                    f"{quoted(schema.units)} names the unit. Whoever has several records would be "
                    "covered less than epsilon says. Make a table with one record for each unit, "
                    "or give the column the role identifier if every unit has one record."
                ],
            )

    @abstractmethod
    def _fit_private(self, coded: Coded, accountant: Accountant, rng: np.random.Generator) -> None:
        """Learn from codes through an accountant alone.

        How many records `coded` holds is not public; `n_rows_` is what may be used instead.
        """

    def _tell_of_noise(self, cells: Mapping[str, int], scales: Sequence[float]) -> None:
        """Say of which columns noise hides the counts, by what is public alone.

        Parameters
        ----------
        cells : mapping
            How many counts there are of each column.
        scales : sequence of float
            The scales of their noise.
        """
        hidden = [
            name
            for (name, count), scale in zip(cells.items(), scales, strict=True)
            if self.n_rows_ < count * scale
        ]
        if hidden:
            logging.getLogger("understudy").warning(
                "At this `epsilon`, and with so few records, noise is larger than the average "
                "count of %s: what is drawn there is mostly noise. Give fewer levels or bins, drop "
                "columns, or spend more.",
                quoted(hidden),
            )

    def _take_rows(
        self,
        tables: Sequence[NDArray[np.int64]],
        scales: Sequence[float],
        accountant: Accountant,
    ) -> None:
        """Learn the number of records from noisy tables of all records, if it is not public.

        Their sums are weighted by what each is worth: noise adds up over cells.
        """
        if accountant.guarantee.neighbours == "change-one":
            return
        worth = np.array(
            [1 / (table.size * scale**2) for table, scale in zip(tables, scales, strict=True)]
        )
        sums = np.array([table.sum() for table in tables], np.float64)
        self.n_rows_ = max(1, round(float(worth @ sums / worth.sum())))

    def require_no_noise(self) -> None:
        """Raise unless the model can be fitted again and compared.

        Raises
        ------
        NoDensityError
            If it learnt with noise.
        """
        self._require_fit()
        if self.has_noise:
            raise NoDensityError(NOT_REPEATED)

    def refit(self, coded: Coded) -> Self:
        """Return a synthesizer with the same parameters and coding, fitted to other records.

        Raises
        ------
        NoDensityError
            If it learnt with noise, which nobody can draw again.
        """
        self.require_no_noise()
        return super().refit(coded)

    def avoid_identifiers(self, data: Frame) -> Self:
        """Make up no identifier of a table; with epsilon, they are made up without a look at it."""
        return self if self.is_private else super().avoid_identifiers(data)

    @property
    def _decoding(self) -> Decoding:
        # How numbers lie inside bins would have to be asked of the records.
        return "uniform" if self.has_noise else super()._decoding

    @property
    def _least_at_ends(self) -> int:
        return 1 if self.has_noise else super()._least_at_ends

    def cells(self) -> tuple[int, int]:
        """Return how many cells of records the model rests on, and how many hold fewer than 5.

        With epsilon there are none: its counts are noisy, and no record can be told from them.
        """
        self._require_fit()
        return (0, 0) if self.has_noise else super().cells()

    def _may_sum_to(self, records: int) -> bool:
        return records > 0 if self.has_noise else super()._may_sum_to(records)

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        # Models without privacy are written as they always were.
        for name in ("epsilon", "delta", "neighbours", "spend_on_domain"):
            if not self.has_noise:
                del params[name]
            elif isinstance(params[name], Fraction):
                params[name] = float(params[name])
        return params

    def contents(
        self, *, with_times: bool = False
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all that a model file holds: plain values, and arrays.

        How long a private fit took depends on the records, and no noise covers it.
        """
        return super().contents(with_times=with_times and not self.is_private)

    def _description(self) -> dict[str, Any]:
        plain = super()._description()
        return plain if self.ledger_ is None else plain | {"ledger": self.ledger_.to_plain()}

    def _take_back(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        if self.is_private:
            from understudy.privacy import Ledger

            self.ledger_ = Ledger.from_plain(header["ledger"])
        super()._take_back(header, arrays)
