"""The domain of made-up tables: what columns can hold, and how codes become values."""

from __future__ import annotations

import string
from dataclasses import dataclass

import polars as pl

from understudy.arguments import check_whole
from understudy.data.codec import Codec
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.data.schema import Schema
from understudy.synthesis import Synthesizer


@dataclass(frozen=True, eq=False)
class Domain:
    """What the columns of made-up tables can hold, all of it public.

    Parameters
    ----------
    codec : Codec
        Turns codes into values, and back.
    schema : Schema
        The columns, declared public.
    """

    codec: Codec
    schema: Schema

    @classmethod
    def of(cls, model: Synthesizer) -> Domain:
        """Return the domain of a fitted model."""
        return cls(model.codec_, model.codec_.schema.as_public())

    @classmethod
    def small(cls, columns: int = 3, levels: int = 2) -> Domain:
        """Return a domain of a few columns of text, each with the same number of levels."""
        check_whole("columns", columns, 1)
        check_whole("levels", levels, 2)
        letters = string.ascii_lowercase
        many = columns > len(letters)
        names = [f"c{place}" if many else letters[place] for place in range(columns)]
        # Each twice, so that none looks like a name.
        values = [f"v{place:0{len(str(levels - 1))}d}" for place in range(levels)] * 2
        frame = pl.DataFrame(dict.fromkeys(names, values), schema=dict.fromkeys(names, pl.String))
        schema = Schema.infer(frame, kinds=dict.fromkeys(names, "categorical")).as_public()
        return cls(Codec.fit(frame, schema), schema)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.codec.names

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each can have."""
        return self.codec.cardinalities

    def frame(self, coded: Coded, seed: int) -> Frame:
        """Return a table of values; numbers lie anywhere in their bins."""
        return self.codec.decode(coded, "uniform", seed)

    def codes(self, frame: Frame) -> Coded:
        """Return the codes of a table."""
        return self.codec.encode(frame)
