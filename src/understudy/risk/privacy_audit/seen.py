"""What is counted in the releases of any tool: values, combinations, and what nobody expected."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.errors import DataError
from understudy.risk.privacy_audit.domain import Domain
from understudy.wording import quoted

_MOST_CELLS = 256


class Seen:
    """Counts the rows of a release by values, and by whole records if these are few.

    Parameters
    ----------
    domain : Domain
        What the columns can hold. Rows with other values count as such.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._names = domain.names
        self._joint = math.prod(domain.sizes) <= _MOST_CELLS

    def features(self, release: Frame) -> NDArray[np.float64]:
        """Return the counts, and the number of rows."""
        frame = to_narwhals(release)
        missing = [name for name in self._names if name not in frame.columns]
        if missing:
            raise DataError(f"The release lacks the columns {quoted(missing)}.")
        codec = self.domain.codec
        table = to_arrow(release).select(list(codec.layout.types))
        coded, known = codec.encode_seen(table)
        inside = coded.take(np.flatnonzero(known))
        parts = [
            np.bincount(codes, minlength=size)
            for codes, size in zip(inside.columns, self.domain.sizes, strict=True)
        ]
        if self._joint:
            places = np.ravel_multi_index(
                [codes.astype(np.int64) for codes in inside.columns], self.domain.sizes
            )
            parts.append(np.bincount(places, minlength=math.prod(self.domain.sizes)))
        parts.append(np.array([len(known), np.count_nonzero(~known)]))
        return np.concatenate(parts).astype(np.float64)

    def describe(self, place: int) -> str:
        """Return what a number in `features` counts."""
        for name, size in zip(self._names, self.domain.sizes, strict=True):
            if place < size:
                label = self.domain.codec.labels(name)[place]
                return f"the number of rows with {label!r} in {name!r}"
            place -= size
        if self._joint:
            cells = math.prod(self.domain.sizes)
            if place < cells:
                cell = np.unravel_index(place, self.domain.sizes)
                return f"the number of rows with the codes {tuple(map(int, cell))}"
            place -= cells
        return ("the number of rows", "the number of rows outside the domain")[place]
