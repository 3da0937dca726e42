"""What a synthesizer needs to draw panels: it then draws units, and their records in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.arguments import check_flag
from understudy.data import Codec, Coded, Schema
from understudy.data.bins import Decoding
from understudy.data.coded import Codes
from understudy.data.frames import Frame, to_arrow
from understudy.data.source import TableSource
from understudy.errors import NoDensityError, SchemaError
from understudy.synthesis.base import Synthesizer
from understudy.synthesis.blocks import Block
from understudy.synthesis.panel.model import Panel
from understudy.synthesis.panel.outline import Outline
from understudy.synthesis.panel.parts import Part
from understudy.wording import quoted

Follow: TypeAlias = Callable[[str, Codes, NDArray[np.int64]], Codes]
"""Returns the codes of a column given its changes, of some of the records that are drawn."""

NOT_MEASURED = (
    "This model draws the records of a unit together, each given the one before. The attack knows "
    "only models that draw each record by itself, so what it would learn here is not known."
)
"""Why attacks that compute with a model's counts are not run."""


class PanelSynthesizer(Synthesizer):
    """The base of synthesizers that can draw panels.

    With a schema that names the unit of records, `fit` learns three models of the same method,
    held by `panel_`: of the first record of a unit and the number of its records, of the steps by
    which time goes on, and of each further record given the one before.

    Attributes
    ----------
    panel_ : Panel or None
        The models of a panel; None if records are drawn by themselves.
    """

    panel: bool = True
    panel_: Panel | None = None

    _given: tuple[str, ...] = ()
    """Columns that are known when the others are drawn, of a model that is part of a panel."""

    _changes: Mapping[str, str] = MappingProxyType({})
    """Columns that follow from others, their changes, once these are drawn."""

    def _check_params(self) -> None:
        super()._check_params()
        check_flag("panel", self.panel)

    @property
    def of_records(self) -> Self:
        """The model of a record: of a panel, that of a record given the one before."""
        if self.panel_ is None:
            return self
        found = self.panel_.following or self.panel_.start or self.panel_.unit
        assert isinstance(found, type(self))  # noqa: S101  # all parts are of the same method
        return found

    @property
    def is_part(self) -> bool:
        """Whether it is a part of a panel that draws some columns given others."""
        return bool(self._given)

    def _draws_panel(self, schema: Schema) -> bool:
        return bool(self.panel and schema.units)

    def _tell_of_panel(self, schema: Schema, columns: Mapping[str, pa.Array]) -> None:
        # Units that are named are drawn as a whole, or the user does not want that.
        if not schema.units and self.panel:
            super()._tell_of_panel(schema, columns)

    def _learn_from(self, source: TableSource, codec: Codec) -> None:
        if not self._draws_panel(codec.schema):
            self.panel_ = None
            super()._learn_from(source, codec)
            return
        codec = codec.without_positions()  # those of a record follow the one before
        coded = codec.encode(source)
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]  # of a model of single records, if it was one
        self._start(codec, len(coded))
        rng = np.random.default_rng(self._fit_seed)
        self._prepare_panel(coded)
        table, _ = codec.reduced(source.table())
        self.panel_ = Panel.fit(self, _columns_of(table), coded, rng)

    @property
    def decoding(self) -> Decoding:
        """How a number is drawn inside its bin."""
        return self._decoding

    @property
    def least_at_ends(self) -> int:
        """How many records an end of a column rests on."""
        return self._least_at_ends

    def check_panel(self, outline: Outline) -> None:
        """Raise if a parameter cannot be met by a panel of this outline."""

    def _prepare_panel(self, coded: Coded) -> None:
        """Check parameters on the columns of the table, and learn what all parts share."""

    def fit_part(self, part: Part, coded: Coded, rng: np.random.Generator) -> Self:
        """Return a model of a part of a panel, with the parameters that concern it."""
        model = self._for_part(part, len(coded))
        model._fit(coded, rng)  # noqa: SLF001  # of this class
        return model

    def restore_part(self, part: Part, rows: int, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model of a part that `own_state` took apart."""
        if rows < 1:
            raise ValueError("a part of a panel without records")
        model = self._for_part(part, rows)
        model._restore(arrays)  # noqa: SLF001  # of this class
        return model

    def _for_part(self, part: Part, rows: int) -> Self:
        model = self._with_params_for(part)
        model.codec_, model.schema_, model.n_rows_ = part.codec, part.codec.schema, rows
        model._given, model._changes = part.given, part.changes  # noqa: SLF001  # of this class
        model._fit_seed = self._fit_seed  # noqa: SLF001
        return model

    @abstractmethod
    def _with_params_for(self, part: Part) -> Self:
        """Return an unfitted synthesizer whose parameters name columns of a part alone."""

    @abstractmethod
    def draw_given(
        self,
        known: Mapping[str, Codes],
        rows: int,
        rng: np.random.Generator,
        copy: int = 0,
        follow: Follow | None = None,
    ) -> dict[str, Codes]:
        """Draw the other columns of so many records, of which some columns are known.

        Columns that are not drawn themselves follow from their changes.
        """

    def log_probability_given(self, coded: Coded) -> NDArray[np.float64]:
        """Return the log probability of the columns that are drawn, given the others."""
        return self._log_likelihood(coded)

    def own_state(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays."""
        return self._state()

    def _blocks(self, n: int | None, seed: np.random.SeedSequence, copy: int) -> list[Block]:
        blocks = super()._blocks(n, seed, copy)
        if self.panel_ is None:
            return blocks
        rows = blocks[-1].first_row + blocks[-1].rows
        return self.panel_.blocks(rows, seed, copy, self._decoding)

    def _draw_codes(self, block: Block, rng: np.random.Generator) -> Coded:
        if self.panel_ is None:
            return super()._draw_codes(block, rng)
        return self.panel_.coded(block, rng, self._decoding)

    def _draw_table(self, block: Block) -> dict[str, pa.Array]:
        if self.panel_ is None:
            return super()._draw_table(block)
        rng, codec = block.generator(), self.codec_
        drawn = self.panel_.table(block, rng, self._decoding, codec.made_up)
        return codec.plan.restored(drawn, self._decoding, rng)

    def log_likelihood(self, data: Frame | Coded) -> NDArray[np.float64]:
        """Return the log probability of each record under the sampler, in nats.

        Of a panel it is that of a record given those before it in its unit, and of the first
        record that of the number of records, too: the sum over a unit is that of the unit. It is
        not known for trees that draw numbers by changes.

        Parameters
        ----------
        data : frame or Coded
            Records of the same columns; a frame is coded first. A panel needs a frame, in which
            the units are named.

        Returns
        -------
        ndarray
            One number per record; -inf for a record that the sampler cannot draw.
        """
        self._require_fit()
        if self.panel_ is None:
            return super().log_likelihood(data)
        if isinstance(data, Coded):
            raise NoDensityError(
                "Codes do not tell which records belong to a unit: give a frame with "
                f"{quoted(self.schema_.units)}."
            )
        if self.exact and self.panel_.changes:
            raise NoDensityError(
                f"{type(self).__name__} draws {quoted(tuple(self.panel_.changes))} by changes, and "
                "many of these lead to the same number. So the probability of a record is not "
                "known."
            )
        coded, possible = self.codec_.encode_seen(data)
        table = to_arrow(data)
        absent = [name for name in self.schema_.units if name not in table.column_names]
        if absent:
            problems = [f"{name!r} is not there: it names the units." for name in absent]
            raise SchemaError("The table cannot be coded:", problems)
        reduced, _ = self.codec_.reduced(table)
        return self.panel_.log_likelihood(_columns_of(reduced), coded, possible)

    def expected_copies(self, data: Frame | Coded, rows: int | None = None) -> NDArray[np.float64]:
        """Return how many copies of each record a release is expected to hold; not of a panel."""
        self.require_single()
        return super().expected_copies(data, rows)

    def refit(self, coded: Coded) -> Self:
        """Return a synthesizer with the same parameters and coding, fitted to other records.

        Raises
        ------
        NoDensityError
            If it draws a panel: codes do not tell which records belong to a unit.
        """
        self.require_single()
        return super().refit(coded)

    def release_log_likelihood(self, coded: Coded, times: NDArray[np.int64] | None = None) -> float:
        """Return the log probability of a whole synthetic table, in nats; not of a panel."""
        self.require_single()
        return super().release_log_likelihood(coded, times)

    def require_single(self) -> None:
        """Raise unless the model is fitted and draws each record by itself."""
        super().require_single()
        if self.panel_ is not None:
            raise NoDensityError(NOT_MEASURED)

    def _description(self) -> dict[str, Any]:
        return {} if self.panel_ is None else {"panel": self.panel_.to_plain()}

    def _learnt(self) -> dict[str, NDArray[Any]]:
        if self.panel_ is None:
            return super()._learnt()
        return {f"panel_{name}": own for name, own in self.panel_.to_arrays().items()} | (
            self._panel_state()
        )

    def _panel_state(self) -> dict[str, NDArray[Any]]:
        """Return what all parts of a panel share, as arrays."""
        return {}

    def _restore_panel(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `_panel_state` gave."""

    def _take_back(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        if "panel" not in header:
            super()._take_back(header, arrays)
            return
        self._check_params()
        self._restore_panel(arrays)
        own = {
            name.removeprefix("panel_"): array
            for name, array in arrays.items()
            if name.startswith("panel_")
        }
        self.panel_ = Panel.restore(self, header["panel"], own)

    def cells(self) -> tuple[int, int]:
        """Return how many cells with records the model rests on, and how many hold fewer than 5."""
        self._require_fit()
        if self.panel_ is None:
            return super().cells()
        found = [model.cells() for model in self.panel_.models.values()]
        return sum(cells for cells, _ in found), sum(rare for _, rare in found)

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        if self.panel:
            del params["panel"]
        return params


def _columns_of(table: pa.Table) -> dict[str, pa.Array]:
    return {name: table[name].combine_chunks() for name in table.column_names}
