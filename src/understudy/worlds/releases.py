"""Releases of which it is known what they give away of one record: the worlds for the measures.

The table is the simulated one of the paper on CART, with four variables. Its last record is the
only one of its kind, 1111. Two samplers with exact densities serve as worlds of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.counting import Source
from understudy.data import Coded, load, load_syntheses
from understudy.data.coded import code_dtype
from understudy.errors import DataError, ParameterError
from understudy.synthesis import Cart
from understudy.synthesis.base import Synthesizer
from understudy.synthesis.blocks import Block, RandomState
from understudy.synthesis.independent import Uniform

VARIABLES = ("var1", "var2", "var3", "var4")
CELLS = tuple("".join(values) for values in product("01", repeat=len(VARIABLES)))
"""The 16 combinations of the four variables, in the order of the paper."""
UNIQUE = "1111"
"""The combination of the one disclosive record."""


def cell_counts(table: pl.DataFrame) -> NDArray[np.int64]:
    """Return how many records of a table have each of the 16 combinations.

    Examples
    --------
    >>> from understudy.data import load
    >>> dict(zip(CELLS, cell_counts(load("buyer_beware")).tolist(), strict=True))["1111"]
    1
    """
    number = table.select(
        pl.fold(0, lambda so_far, value: 2 * so_far + value, [pl.col(name) for name in VARIABLES])
    ).to_series()
    return np.bincount(number.to_numpy(), minlength=len(CELLS))


class _Unsaved(Synthesizer):
    """A sampler for studies: it has no name on the command line, and no model file."""

    exact: ClassVar[bool] = True

    def save(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,  # noqa: ARG002  # of the base
        with_times: bool = False,  # noqa: ARG002
    ) -> Path:
        """Refuse to write a model that could not be read again."""
        raise ParameterError(
            f"{path} is not written: {type(self).__name__} is for studies, and has no model file."
        )

    def _state(self) -> dict[str, NDArray[Any]]:
        return {}

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        raise ValueError(f"{len(arrays)} arrays of a model that is never saved")


class Copy(_Unsaved):
    """Releases the original records themselves, in a random order: no protection at all.

    Parameters
    ----------
    random_state : int or numpy Generator, optional
        Decides the order.

    Notes
    -----
    Records are not drawn one by one, so the density is that of a whole release: 1 for any order of
    the original records, 0 for any other table. `log_likelihood` of single records is the log of
    their share in the original.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["f", "m", "m"]})
    >>> model = Copy(random_state=0).fit(table)
    >>> sorted(model.sample()["sex"])
    ['f', 'm', 'm']
    >>> [model.release_log_likelihood(model.codec_.encode(one)) for one in (table[::-1], table[1:])]
    [0.0, -inf]
    """

    records_: Coded

    def __init__(self, *, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def _fit(self, source: Source, rng: np.random.Generator) -> None:  # noqa: ARG002  # nothing is drawn
        self.records_ = _in_memory(source)

    def _blocks(self, n: int | None, seed: np.random.SeedSequence, copy: int) -> list[Block]:
        if n is not None and n != self.n_rows_:
            raise ParameterError(f"n: a copy has all {self.n_rows_:,} records; got {n!r}.")
        # One block, whatever the rows: an order of all records cannot be drawn in pieces.
        return [Block(0, self.n_rows_, np.random.SeedSequence(seed.entropy, spawn_key=(copy,)))]

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        return self.records_.take(rng.permutation(block.rows))

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            shares = np.log(_counts(self.records_) / self.n_rows_)
        return shares[_numbers(coded)]

    def release_log_likelihood(self, coded: Coded, times: NDArray[np.int64] | None = None) -> float:
        """Return 0 if a table holds the original records, in whatever order, and -inf if not."""
        self._check_codes(coded)
        same = np.array_equal(_counts(coded, times), _counts(self.records_))
        return 0.0 if same else -np.inf

    def _cells(self) -> list[NDArray[np.int64]]:
        return [_counts(self.records_)]


class Noisy(_Unsaved):
    """Draws from CART, and replaces each value by chance with any value of its column.

    Parameters
    ----------
    noise : float
        The probability that a value is replaced; all values of the column are then as likely, the
        replaced one among them. With 0 this is CART, with 1 nothing is left of the data.
    random_state : int or numpy Generator, optional
        Decides the draws. Samplers with different `noise` and the same seed draw the same records,
        and replace the same values, the noisier one some more of them.

    Attributes
    ----------
    cart_ : Cart
        What the records are drawn from, with the standard settings.
    shares_ : ndarray
        The probability of each combination of codes, an axis for each column: for small tables.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["f", "f", "f", "m"]})
    >>> Noisy(0.2, random_state=0).fit(table).shares_  # f: 4/5 of 3/4, and half of 1/5
    array([0.7, 0.3])
    """

    cart_: Cart
    shares_: NDArray[np.float64]

    def __init__(self, noise: float = 0.0, *, random_state: RandomState = None) -> None:
        self.noise = noise
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.noise, int | float | np.number) or not 0 <= self.noise <= 1:
            raise ParameterError(f"noise must be a probability from 0 to 1; got {self.noise!r}.")

    def _fit(self, source: Source, rng: np.random.Generator) -> None:  # noqa: ARG002  # trees draw nothing
        coded = _in_memory(source)
        cart = Cart(smoothing_leaves=0, random_state=0)
        cart.codec_, cart.schema_ = self.codec_, self.schema_
        self.cart_ = cart.refit(coded)
        sizes = coded.cardinalities
        every = Coded(
            coded.names,
            tuple(
                codes.ravel().astype(code_dtype(size))
                for codes, size in zip(np.indices(sizes), sizes, strict=True)
            ),
            sizes,
        )
        without = np.exp(self.cart_.log_likelihood(every)).reshape(sizes)
        self.shares_ = _replaced(without, self.noise)

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        drawn = self.cart_.sample_coded(block.rows, random_state=rng)
        columns = []
        for codes, size in zip(drawn.columns, drawn.cardinalities, strict=True):
            replaced = rng.random(block.rows) < self.noise
            values = rng.integers(0, size, size=block.rows, dtype=code_dtype(size))
            columns.append(np.where(replaced, values, codes))
        return Coded(drawn.names, tuple(columns), drawn.cardinalities)

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.shares_).ravel()[_numbers(coded)]

    def _cells(self) -> list[NDArray[np.int64]]:
        return self.cart_._cells()  # noqa: SLF001  # of the same base


def _replaced(shares: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Return the shares of combinations after values were replaced, column by column."""
    for axis in range(shares.ndim):
        # A replaced value is each value as often: what it was before is averaged out.
        shares = (1 - noise) * shares + noise * shares.mean(axis=axis, keepdims=True)
    return shares


def _in_memory(source: Source) -> Coded:
    if isinstance(source, Coded):
        return source
    raise DataError("Worlds are small tables: give a frame, not a stream.")


def _numbers(coded: Coded) -> NDArray[np.int64]:
    """Return the number of each record's combination of codes."""
    found: NDArray[np.int64] = np.ravel_multi_index(coded.columns, coded.cardinalities).astype(
        np.int64
    )
    return found


def _counts(coded: Coded, times: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return how many records have each combination of codes."""
    cells = int(np.prod(coded.cardinalities))
    counts = np.zeros(cells, np.int64)
    np.add.at(counts, _numbers(coded), 1 if times is None else times)
    return counts


KEYS, TARGET = VARIABLES[:3], VARIABLES[3]
RECORD = 999
"""The row of the record in the simulated data, from 0."""
NOISE = (0.0, 0.05, 0.2, 0.5, 1.0)
"""How likely it is that a value is replaced, step by step."""

NOISE_STEPS = tuple(f"noise {noise:g}" for noise in NOISE)
WORLDS = {
    "present": f"syntheses of the paper that hold {UNIQUE}",
    "absent": f"syntheses of the paper that do not hold {UNIQUE}",
    "copy": "the original itself",
    "constant": f"syntheses by CART in which {TARGET} is 0 everywhere",
    "unrelated": "values drawn evenly, without a look at the data",
    **{
        step: f"syntheses by CART, each value replaced with probability {noise:g}"
        for step, noise in zip(NOISE_STEPS, NOISE, strict=True)
    },
}
"""The worlds, and in words which releases they hold."""
CERTAIN = ("present", "copy")
"""Worlds in which no other record can have been there, by the way in which they are made."""
UNINFORMATIVE = ("constant", "unrelated", NOISE_STEPS[-1])
"""Worlds whose releases tell nothing of the record, or next to nothing."""


@dataclass(frozen=True, eq=False)
class Release:
    """A table that is given out, and how it was made.

    Parameters
    ----------
    world : str
        One of `WORLDS`.
    number : int
        Its number in the world, from 0. Releases of the noise steps with the same number are the
        same draw, with more and more values replaced.
    table : polars.DataFrame
        The records.
    model : Synthesizer
        What it was drawn from: the strong attacker knows it.
    """

    world: str
    number: int
    table: pl.DataFrame
    model: Synthesizer


def draw_releases(count: int, random_state: int = 0) -> Iterator[Release]:
    """Yield the releases of all worlds.

    Parameters
    ----------
    count : int
        Releases of each world that is drawn by chance. There are 8 of the paper's syntheses with
        the record, 2 without it, and one copy.
    random_state : int
        Decides the draws.
    """
    original = load("buyer_beware")
    cart = Cart(smoothing_leaves=0, random_state=0).fit(original)
    numbers = {"present": 0, "absent": 0}
    for table in load_syntheses("buyer_beware"):
        world = "present" if cell_counts(table)[-1] else "absent"
        yield Release(world, numbers[world], table, cart)
        numbers[world] += 1
    copy = Copy(random_state=random_state).fit(original)
    yield Release("copy", 0, cast("pl.DataFrame", copy.sample()), copy)
    seeds = np.random.default_rng(random_state).integers(2**32, size=count).tolist()
    for number, seed in enumerate(seeds):
        table = cast("pl.DataFrame", cart.sample(random_state=seed))
        yield Release("constant", number, _constant(table), cart)
    samplers: dict[str, Synthesizer] = {"unrelated": Uniform().fit(original)}
    for step, noise in zip(NOISE_STEPS, NOISE, strict=True):
        samplers[step] = Noisy(noise).fit(original)
    for world, sampler in samplers.items():
        for number, seed in enumerate(seeds):
            table = cast("pl.DataFrame", sampler.sample(random_state=seed))
            yield Release(world, number, table, sampler)


def _constant(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.lit(0, table.schema[TARGET]).alias(TARGET))
