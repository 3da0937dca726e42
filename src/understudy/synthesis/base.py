"""What every synthesizer is: parameters, fit, sample, density, save and load."""

from __future__ import annotations

import inspect
import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_whole
from understudy.counting import LocalEngine, Source
from understudy.data import Codec, Coded, Schema
from understudy.data.bins import Decoding
from understudy.data.coded import Codes, code_dtype
from understudy.data.files import fitted, write_tables
from understudy.data.frames import MOST_COLUMNS, Frame, to_arrow
from understudy.data.panel_look import looks_like_panel, panel_losses
from understudy.data.source import FrameSource, TableSource, source_of
from understudy.data.typed_dialect import AnyDialect, dialect_from_plain
from understudy.errors import (
    DataError,
    ModelFileError,
    NoDensityError,
    NotFittedError,
    ParameterError,
)
from understudy.showing import told
from understudy.synthesis.blocks import Block, RandomState, plan_blocks, seed_of
from understudy.synthesis.model_file import read_model, write_model
from understudy.synthesis.sampler import SamplingTable
from understudy.synthesis.settings import Parametrized
from understudy.wording import counted

RARE_BELOW = 5
"""A count of fewer records than this may tell something of a single person."""


_CODEC = "codec_"
"""Begins the names of the codec's arrays in a model file."""

METHODS: dict[str, type[Synthesizer]] = {}
"""All synthesizers by the names that the command line and model files know them by."""


class Synthesizer(Parametrized, ABC):
    """The base of all synthesizers, with the conventions of scikit-learn.

    A subclass stores its parameters in `__init__`, names itself in `method`, learns in `_fit`,
    draws codes in `_draw`, and gives and takes its learnt arrays in `_state` and `_restore`.

    Attributes
    ----------
    codec_ : Codec
        Turns the table into codes and back.
    schema_ : Schema
        What is known of each column.
    n_rows_ : int
        Records that the model was fitted to.
    dialect_ : Dialect, TypedDialect or None
        How the CSV file of the table is written, if that is known.
    description_seconds_, generation_seconds_ : float
        How long `fit` took, and the last synthetic table that was drawn; nan if that is not known.
    """

    method: ClassVar[str]
    """The name of the synthesizer on the command line and in model files."""

    exact: ClassVar[bool] = False
    """Whether it works on the numbers themselves, each with its own code, and not on bins."""

    most_columns: ClassVar[int] = MOST_COLUMNS
    """The columns that it can model, at most; identifiers are not modelled."""

    ends: int | None = 1
    """Records that the lowest and the highest number of a column rest on, at least."""

    why_not_private: ClassVar[str] = "It cannot learn with noise."
    """Why it has no parameter `epsilon`, if it has none."""

    former_params: ClassVar[Mapping[str, Any]] = {}
    """What a model file means that does not name some parameters, since it is older than these."""

    decode: Decoding | Literal["dependent"] | None = "interpolate"

    decodings: ClassVar[tuple[str, ...]] = get_args(Decoding)
    """What `decode` may be."""

    __signature__: ClassVar[inspect.Signature]
    codec_: Codec
    schema_: Schema
    n_rows_: int
    dialect_: AnyDialect | None = None
    description_seconds_: float = math.nan
    generation_seconds_: float = math.nan
    _fit_seed: np.random.SeedSequence | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401, ARG004, D102  # as __init__
        if kwargs.get("epsilon") is not None and "epsilon" not in cls.parameter_names():
            raise ParameterError(cls.no_parameter("epsilon"))
        return super().__new__(cls)

    @classmethod
    def no_parameter(cls, name: str) -> str:
        """Return the sentence that there is no such parameter, with those that there are."""
        if name == "epsilon":
            return (
                f"{cls.__name__} cannot be private, and takes no epsilon. {cls.why_not_private} "
                "Choose `DPMarginals`, `BayesNet` or `Independent`."
            )
        return super().no_parameter(name)

    def __init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401  # as Python passes them
        super().__init_subclass__(**kwargs)
        # Python would show the arguments of __new__, which takes any.
        _, *arguments = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature(arguments)
        if "method" in cls.__dict__:
            METHODS[cls.method] = cls

    def __init__(
        self, *, decode: Decoding = "interpolate", random_state: RandomState = None
    ) -> None:
        self.decode = decode
        self.random_state = random_state

    def fit(
        self,
        data: Frame | TableSource,
        schema: Schema | None = None,
        *,
        dialect: AnyDialect | None = None,
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        data : frame, FileStream or DataFrame of Spark
            The original table. What `scan` gives, or Spark, need not fit in memory.
        schema : Schema, optional
            What the columns are; inferred if not given.
        dialect : Dialect or TypedDialect, optional
            How the table's file is written, from `detect`; a stream knows it. `sample_to`
            writes in the same way, also after the model was saved and loaded.

        Returns
        -------
        self
        """
        before, start = dict(self.__dict__), time.perf_counter()
        try:
            self._check_params()
            source = source_of(data)
            self._learn(source, schema)
            self.description_seconds_ = time.perf_counter() - start
            self.generation_seconds_ = math.nan
            self.dialect_ = self._kept_dialect(source.dialect or dialect)
        except BaseException:
            # Half a fit would draw from old tables with new levels.
            self.__dict__ = before
            raise
        return self

    def _kept_dialect(self, written: AnyDialect | None) -> AnyDialect | None:
        """Return how synthetic files are written, by how the original's was."""
        return written

    def avoid_identifiers(self, data: Frame) -> Self:
        """Make up no identifier of a table that holds the original and records kept back from it.

        Parameters
        ----------
        data : frame
            The whole table.
        """
        self._require_fit()
        self.codec_ = self.codec_.with_identifiers_of(data)
        return self

    def _learn(self, source: TableSource, schema: Schema | None) -> None:
        codec = Codec.fit(
            source,
            schema,
            exact=self.exact,
            ends=self._least_at_ends,
            stay=self._named_columns(tuple(source.layout.types)),
            hidden=self.hidden_columns,
            positions=self._follows_numbers,
        )
        if not codec.names:
            raise DataError("There is no column to synthesize: all are identifiers.")
        if len(codec.names) > self.most_columns:
            raise DataError(
                f"{type(self).__name__} compares every two columns, and {self.most_columns:,} are "
                f"the most that it can work with; this table has {len(codec.names):,}. Choose the "
                "columns that matter, or take `Independent`, which models each "
                "column by itself."
            )
        if isinstance(source, FrameSource):
            whole = source.table()
            columns = {name: whole[name].combine_chunks() for name in whole.column_names}
            self._tell_of_panel(codec.schema, columns)
        self._learn_from(source, codec)

    def _tell_of_panel(self, schema: Schema, columns: Mapping[str, pa.Array]) -> None:
        """Say what is lost if records of units are drawn by themselves."""
        units, time = schema.units, schema.time
        advice = "`BayesNet` or `Cart` draws units as a whole."
        if not units:
            found = looks_like_panel(schema, columns)
            if found is None:
                return
            units, time = (found[0],), found[1]
            advice = (
                f"This looks like a panel: give {found[0]!r} the role `unit` and {found[1]!r} the "
                "role `time`, and `BayesNet` or `Cart` draws units as a whole."
            )
        losses = panel_losses(schema, columns, units, time)
        if losses:
            logging.getLogger("understudy").warning("%s %s", losses, advice)

    def _learn_from(self, source: TableSource, codec: Codec) -> None:
        """Learn from a table whose coding is known."""
        coded: Source = source.coded(codec)
        self._start(codec, source.rows)
        self._fit(coded, np.random.default_rng(self._fit_seed))
        if self._follows_numbers:
            self._learn_positions(source, coded)

    def _start(self, codec: Codec, rows: int) -> None:
        """Begin to learn from so many records."""
        if rows == 0:
            raise DataError("The table has no rows, so there is nothing to learn from.")
        self.codec_, self.schema_, self.n_rows_ = codec, codec.schema, rows
        self._fit_seed = seed_of(self.random_state)

    def sample(
        self, n: int | None = None, copies: int = 1, random_state: RandomState = None
    ) -> Frame:
        """Draw a synthetic table.

        Parameters
        ----------
        n : int, optional
            Rows; as many as the original has, if not given. A panel has whole units, and so as
            near to `n` rows as these allow.
        copies : int
            How many tables to draw.
        random_state : int or numpy Generator, optional
            Decides the draws; by default the synthesizer's own `random_state`. The same seed gives
            the same rows.

        Returns
        -------
        frame or list of frames
            Of the kind and types that were given to `fit`; a list if `copies` is more than one.
        """
        copies = check_whole("copies", copies, 1)
        seed = self._draw_seed(random_state)
        tables = []
        for copy in range(copies):
            pieces: list[dict[str, pa.Array]] = []
            start = time.perf_counter()
            engine = LocalEngine(self._threads)
            engine.write_over(self._blocks(n, seed, copy), self._draw_table, pieces.append)
            self.generation_seconds_ = time.perf_counter() - start
            columns = {
                name: pa.chunked_array([piece[name] for piece in pieces]).combine_chunks()
                for name in self.codec_.layout.types
            }
            tables.append(self.codec_.layout.restore(columns))
        return tables if copies > 1 else tables[0]

    def sample_coded(self, n: int | None = None, random_state: RandomState = None) -> Coded:
        """Draw synthetic records as codes: those that `sample` would turn into values."""
        blocks = self._blocks(n, self._draw_seed(random_state), 0)
        return Coded.concatenate([self._draw_codes(block, block.generator()) for block in blocks])

    def sample_to(
        self,
        path: str | Path,
        n: int | None = None,
        *,
        copy: int = 0,
        random_state: RandomState = None,
        overwrite: bool = False,
        dialect: AnyDialect | None = None,
        safe_cells: bool = False,
    ) -> Path:
        """Draw a synthetic table straight into a CSV or Parquet file, whatever its size.

        The file holds the same rows as `sample` gives for the same seed; `copy` counts the tables
        of ``sample(copies=...)`` from 0. Without a `dialect`, a file is written like that of
        the original, if `fit` knew how. With `safe_cells`, texts that a spreadsheet would run as
        formulas have an apostrophe before them.
        """
        blocks = self._blocks(n, self._draw_seed(random_state), copy)

        def produce(sink: Any) -> None:  # noqa: ANN401  # takes Arrow tables
            LocalEngine(self._threads).write_over(blocks, self._draw_frame, sink)

        if dialect is None and self.dialect_ is not None:
            dialect = fitted(self.dialect_, Path(path))
        start = time.perf_counter()
        written = write_tables(
            produce, path, overwrite=overwrite, dialect=dialect, safe_cells=safe_cells
        )
        self.generation_seconds_ = time.perf_counter() - start
        return written

    def sample_spark(
        self,
        spark: Any,  # noqa: ANN401  # PySpark need not be installed
        n: int | None = None,
        *,
        copy: int = 0,
        random_state: RandomState = None,
    ) -> Any:  # noqa: ANN401
        """Draw a synthetic table on a Spark cluster.

        The rows are those that `sample` gives for the same seed, in the same order; `copy` counts
        the tables of ``sample(copies=...)`` from 0. The machines of the cluster need `understudy`.

        Parameters
        ----------
        spark : SparkSession
            The session.
        n, copy, random_state
            As in `sample_to`.

        Returns
        -------
        pyspark.sql.DataFrame
            It is drawn when it is used, and each time anew: write it, or cache it.
        """
        from understudy.synthesis.spark import draw_on_spark

        blocks = self._blocks(n, self._draw_seed(random_state), copy)
        return draw_on_spark(self._draw_frame, blocks, spark)

    def _draw_seed(self, random_state: RandomState) -> np.random.SeedSequence:
        self._require_fit()
        return seed_of(self.random_state if random_state is None else random_state)

    @property
    def _threads(self) -> int:
        """How many threads draw and count; nothing else depends on it."""
        return int(getattr(self, "threads", 1))

    def _blocks(self, n: int | None, seed: np.random.SeedSequence, copy: int) -> list[Block]:
        return plan_blocks(self.n_rows_ if n is None else check_whole("n", n, 1), seed, copy)

    def rows_to_draw(
        self, n: int | None = None, *, copy: int = 0, random_state: RandomState = None
    ) -> int:
        """Return how many rows `sample` gives: `n`, or so many as whole units have."""
        return sum(block.rows for block in self._blocks(n, self._draw_seed(random_state), copy))

    def _draw_codes(self, block: Block, rng: np.random.Generator) -> Coded:
        return self._draw(block, rng)

    def _draw_table(self, block: Block) -> dict[str, pa.Array]:
        generator = block.generator()
        coded = self._draw(block, generator)
        positions = self._draw_positions(coded, generator) if self._follows_numbers else None
        return self.codec_.decode_arrow(
            coded, self._decoding, generator, block.first_row, positions, self._known_values(block)
        )

    def _known_values(self, block: Block) -> Mapping[str, pa.Array]:  # noqa: ARG002  # of a subclass
        """Return the columns of a block that are not drawn but kept, if codes do not tell them."""
        return {}

    def _draw_frame(self, block: Block) -> pa.Table:
        return to_arrow(self.codec_.layout.restore(self._draw_table(block)))

    def log_likelihood(self, data: Frame | Coded) -> NDArray[np.float64]:
        """Return the log probability of each record under the sampler, in nats.

        Parameters
        ----------
        data : frame or Coded
            Records of the same columns; a frame is coded first. Probabilities are those of the
            codes: the draw of a number inside its bin does not count.

        Returns
        -------
        ndarray
            One number per record; -inf for a record that the sampler cannot draw, such as one
            with a level that the original does not have.
        """
        self._require_fit()
        possible: NDArray[np.bool_] | None = None
        if isinstance(data, Coded):
            coded = data
        else:
            coded, possible = self.codec_.encode_seen(data)
        self._check_codes(coded)
        found = self._log_likelihood(coded)
        return found if possible is None else np.where(possible, found, -np.inf)

    def expected_copies(self, data: Frame | Coded, rows: int | None = None) -> NDArray[np.float64]:
        """Return how many copies of each record a release is expected to hold.

        It is a forecast, before anything is drawn or released.

        Parameters
        ----------
        data : frame or Coded
            Records of the same columns, such as the original.
        rows : int, optional
            Rows of the release; as many as the model was fitted to if not given.

        Returns
        -------
        ndarray
            Rows times the probability of the record. A copy is a record with the same codes: for
            a number in a bin, one of the same bin.

        Raises
        ------
        NoDensityError
            If the synthesizer has no probabilities.

        Examples
        --------
        >>> import polars as pl
        >>> from understudy import Independent
        >>> table = pl.DataFrame({"x": ["a", "a", "a", "b"], "y": ["p", "q", "p", "q"]})
        >>> Independent(random_state=1).fit(table).expected_copies(table, rows=16).round(9).tolist()
        [6.0, 6.0, 6.0, 2.0]
        """
        self._require_fit()
        size = self.n_rows_ if rows is None else check_whole("rows", rows, 0)
        with np.errstate(over="ignore"):
            return size * np.exp(self.log_likelihood(data))

    def refit(self, coded: Coded) -> Self:
        """Return a synthesizer with the same parameters and coding, fitted to other records.

        Parameters
        ----------
        coded : Coded
            Records in the codes of this model: levels and bins stay as they are.

        Notes
        -----
        Whatever the fit draws at random it draws as this model did. Of a model that was loaded from
        a file and has no number as `random_state`, this is not known: the seed is then 0.
        """
        self._check_codes(coded)
        if not len(coded):
            raise DataError("There are no records, so there is nothing to learn from.")
        model = self.clone()
        model.codec_, model.schema_, model.n_rows_ = self.codec_, self.schema_, len(coded)
        model._fit_seed = self._fit_seed or seed_of(self._known_seed)  # noqa: SLF001  # of this class
        model._fit(coded, np.random.default_rng(model._fit_seed))  # noqa: SLF001  # of this class
        return model

    def refit_changed(self, coded: Coded, changed: Collection[str]) -> Self:  # noqa: ARG002
        """Return a synthesizer that learns anew from other records what depends on some columns.

        All else may stay as it is, which is quicker. If the records differ from this model's in
        these columns alone, the result is that of `refit`.
        """
        return self.refit(coded)

    @property
    def structure_varies(self) -> bool:
        """Whether other records may give the model another structure, and not only other counts."""
        return True

    @property
    def fit_is_known(self) -> bool:
        """Whether `refit` draws at random what this model drew."""
        return self._fit_seed is not None or isinstance(self.random_state, int | np.integer)

    @property
    def random_fit(self) -> Literal["records", "search"] | None:
        """What a fit draws at random: the records that it uses, a search's steps, or nothing."""
        return None

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns that a release takes from the original as they are."""
        return ()

    @property
    def columns_set_by_rules(self) -> frozenset[str]:
        """The columns that rules set, for some records or for all."""
        return frozenset()

    @property
    def columns_of_rules(self) -> frozenset[str]:
        """The columns that rules set or look at."""
        return frozenset()

    def codes_set_by_rules(
        self,
        name: str,  # noqa: ARG002  # for those that have rules
        known: Mapping[str, Codes],  # noqa: ARG002
    ) -> NDArray[np.int64] | None:
        """Return the code that rules set in a column, -1 where none does, given other columns.

        None if no rule sets the column, or `known` lacks a column that decides it.
        """
        return None

    def broken_rules(self, known: Mapping[str, Codes]) -> dict[str, int]:  # noqa: ARG002
        """Return how many records break each rule, as far as these columns tell."""
        return {}

    @property
    def _known_seed(self) -> RandomState:
        return self.random_state if self.fit_is_known else 0

    def release_log_likelihood(self, coded: Coded, times: NDArray[np.int64] | None = None) -> float:
        """Return the log probability of a whole synthetic table, in nats.

        Parameters
        ----------
        coded : Coded
            Records in the codes of this model.
        times : ndarray of int64, optional
            How often the table holds each of them; once if not given.
        """
        self._check_codes(coded)
        found = self._log_likelihood(coded)
        # A record that is not there at all may be impossible: zero times minus infinity.
        counted = found if times is None else found[times > 0] * times[times > 0]
        return float(counted.sum())

    def sampling_tables(self) -> list[SamplingTable]:
        """Return the draws of a record as tables of counts, for synthesizers that work by counts.

        Raises
        ------
        NoDensityError
            If this one does not.
        """
        raise NoDensityError(
            f"{type(self).__name__} does not draw from tables of counts, so it cannot be said how "
            "its release changes with one record's counts."
        )

    def _check_codes(self, coded: Coded) -> None:
        self._require_fit()
        if (coded.names, coded.cardinalities) != (self.codec_.names, self.codec_.cardinalities):
            raise ParameterError(
                "These codes are not this model's: columns or cardinalities differ."
            )

    def save(self, path: str | Path, *, overwrite: bool = False, with_times: bool = False) -> Path:
        """Write the model to one file of an open format: JSON and NumPy arrays in a zip archive.

        The file is as confidential as what it holds; its header says how many cells rest on fewer
        than five records. The same model gives the same bytes, unless the file is to say how long
        it took to fit it and to draw (`with_times`).
        """
        return write_model(*self.contents(with_times=with_times), path, overwrite=overwrite)

    def contents(
        self, *, with_times: bool = False
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all that a model file holds: plain values, and arrays."""
        self._require_fit()
        cells, rare = self.cells()
        description = {
            "method": self.method,
            "params": self._plain_params(),
            "rows": self.n_rows_,
            "rare_cells": {"below": RARE_BELOW, "cells": rare, "of": cells},
            "codec": self.codec_.to_plain(),
            **self._description(),
        }
        taken = {
            "description": self.description_seconds_,
            "generation": self.generation_seconds_,
        }
        known = {name: round(own, 4) for name, own in taken.items() if not math.isnan(own)}
        if known and with_times:
            description["seconds"] = known
        if self.dialect_ is not None:
            description["dialect"] = self.dialect_.to_plain()
        coding = {f"{_CODEC}{name}": array for name, array in self.codec_.to_arrays().items()}
        return description, self._learnt() | coding

    def _description(self) -> dict[str, Any]:
        """Return what else a model file says, in values that JSON can hold."""
        return {}

    def _learnt(self) -> dict[str, NDArray[Any]]:
        """Return all arrays of a model file, but for those of the codec."""
        return self._state()

    def _take_back(
        self,
        header: Mapping[str, Any],  # noqa: ARG002  # for those that have a description
        arrays: Mapping[str, NDArray[Any]],
    ) -> None:
        """Take back what `_description` and `_learnt` gave."""
        self._restore(arrays)

    def cells(self) -> tuple[int, int]:
        """Return how many cells with records the model rests on, and how many hold fewer than 5."""
        self._require_fit()
        counts = self._cells()
        rare = sum(int(np.count_nonzero((c > 0) & (c < RARE_BELOW))) for c in counts)
        return sum(int(np.count_nonzero(c)) for c in counts), rare

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model file; nothing in it is executed.

        ``Synthesizer.load`` reads a model of any method; a subclass only its own.
        """
        header, arrays = read_model(path)
        method = header.get("method")
        found = METHODS.get(str(method))
        if found is None:
            raise ModelFileError(
                f"{path} holds a model of the method {method!r}, which is not known here."
            )
        if not issubclass(found, cls):
            raise ModelFileError(
                f"{path} holds a model of {found.__name__}, not of {cls.__name__}."
            )
        try:
            model = found(**{**found.former_params, **header["params"]})
            own = {k: a for k, a in arrays.items() if not k.startswith(_CODEC)}
            values = {k.removeprefix(_CODEC): a for k, a in arrays.items() if k not in own}
            model.codec_ = Codec.from_plain(header["codec"], values)
            model.schema_ = model.codec_.schema
            model.n_rows_ = int(header["rows"])
            taken = header.get("seconds", {})
            model.description_seconds_ = float(taken.get("description", math.nan))
            model.generation_seconds_ = float(taken.get("generation", math.nan))
            if "dialect" in header:
                model.dialect_ = dialect_from_plain(header["dialect"])
            model._take_back(header, own)  # noqa: SLF001  # a subclass of this class
            model._check_arrays(arrays)  # noqa: SLF001
            model._check_types()  # noqa: SLF001
        except MemoryError as error:
            raise ModelFileError(f"{path} needs more memory than there is.") from error
        except Exception as error:
            raise ModelFileError(f"{path} is damaged: {told(error).rstrip('.')}.") from error
        return model

    def _check_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise ValueError if a model file holds arrays that this model has no place for."""
        known = {*self._learnt(), *(f"{_CODEC}{name}" for name in self.codec_.to_arrays())}
        unknown = [name for name, array in arrays.items() if name not in known and array.size]
        if unknown:
            raise ValueError(f"{counted(len(unknown), 'array')} that no such model has")

    def _check_types(self) -> None:
        """Raise what drawing from the model would raise if its columns have types that are none."""
        codec = self.codec_
        none = tuple(np.empty(0, code_dtype(size)) for size in codec.cardinalities)
        with suppress(ModuleNotFoundError):  # pandas, which drawing alone needs
            codec.decode(Coded(codec.names, none, codec.cardinalities))

    def _counts_by_column(self, counts: NDArray[Any]) -> tuple[NDArray[np.int64], ...]:
        """Return counts of a model file column by column, or raise if they do not fit."""
        sizes = self.codec_.cardinalities
        if counts.shape != (sum(sizes),):
            raise ValueError(f"{len(counts)} counts for {sum(sizes)} codes")
        found = np.split(counts.astype(np.int64, casting="safe"), np.cumsum(sizes)[:-1])
        if any(own.min(initial=0) < 0 or not self._may_sum_to(int(own.sum())) for own in found):
            raise ValueError(f"counts that do not sum to {self.n_rows_} records")
        return tuple(found)

    def _may_sum_to(self, records: int) -> bool:
        """Whether counts of all codes of a column may sum to so many records."""
        return records == self.n_rows_

    def _plain_params(self) -> dict[str, Any]:
        """Return the parameters in values that JSON can hold."""
        params = self.get_params()
        if not isinstance(params["random_state"], int):
            params["random_state"] = None  # a generator's state is not part of the model
        return params

    def _named_columns(self, names: tuple[str, ...]) -> set[str]:  # noqa: ARG002  # of a subclass
        """Return the columns that the settings name: they are drawn as the settings say.

        Dependencies that would give their values otherwise are not kept.
        """
        return set()

    @property
    def hidden_columns(self) -> frozenset[str]:
        """The columns that no other may depend on."""
        protect = getattr(self, "protect", None)
        return frozenset(protect) if isinstance(protect, Mapping) else frozenset()

    @property
    def _least_at_ends(self) -> int:
        """How many records an end of a column rests on; a parameter may leave it open."""
        return self.ends or 1

    @property
    def _decoding(self) -> Decoding:
        """How a number is drawn inside its bin, unless a position says where it lies."""
        return "uniform" if self.decode == "uniform" else "interpolate"

    @property
    def _follows_numbers(self) -> bool:
        """Whether the position of a number in its bin follows the numbers of other columns."""
        return False

    def _learn_positions(self, source: TableSource, coded: Source) -> None:
        """Learn how positions follow numbers, after `_fit`."""

    def _draw_positions(
        self,
        coded: Coded,  # noqa: ARG002  # for those that follow numbers
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Mapping[str, NDArray[np.float64]]:
        """Return where in their bins the numbers of some columns lie, from 0 to 1."""
        return {}

    def _require_fit(self) -> None:
        if not hasattr(self, "codec_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit first.")

    def require_single(self) -> None:
        """Raise unless the model is fitted and draws each record by itself.

        Raises
        ------
        NoDensityError
            If it draws several records together, so that there is no probability of one.
        """
        self._require_fit()

    def _check_params(self) -> None:
        """Raise if a parameter has a value that cannot be used."""
        check_choice("decode", self.decode, self.decodings)
        seed_of(self.random_state)

    @abstractmethod
    def _fit(self, source: Source, rng: np.random.Generator) -> None:
        """Learn from codes, in memory or in batches."""

    @abstractmethod
    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        """Return the synthetic records of a block as codes."""

    @abstractmethod
    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        """Return the log probability of each record."""

    @abstractmethod
    def _state(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays."""

    @abstractmethod
    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `_state` gave; raise ValueError or KeyError if it does not fit."""

    @abstractmethod
    def _cells(self) -> list[NDArray[np.int64]]:
        """Return the counts of records that the model rests on."""
