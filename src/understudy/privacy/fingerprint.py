"""Which table it is: a keyed sum over its rows, the same in any order of them."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.frames import Frame
from understudy.data.source import TableSource, source_of

_BETWEEN = "\x1f"
_GAP = "\x1e"
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def fingerprint(data: Frame | TableSource, key: bytes) -> str:
    """Return a text that tells one table from others, and nothing of it without the key.

    Parameters
    ----------
    data : frame or TableSource
        The table. The order of rows does not matter, that of columns does.
    key : bytes
        Whoever has it can check whether a table is the one.

    Examples
    --------
    >>> one, other = pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [2, 1]})
    >>> fingerprint(one, b"key") == fingerprint(other, b"key")
    True
    """
    names: tuple[str, ...] = ()
    rows = 0
    total = np.zeros(2, np.uint64)
    for table in source_of(data).arrow_batches():
        names = tuple(table.column_names)
        rows += table.num_rows
        texts = _row_texts(table)
        total += [_sum(texts, _powers_key(key, half)) for half in (b"1", b"2")]
    said = _BETWEEN.join([*names, str(rows), *map(str, total.tolist())])
    return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()[:32]


def _powers_key(key: bytes, half: bytes) -> np.uint64:
    """Return an odd number that the key decides."""
    digest = hmac.new(key, b"row" + half, hashlib.sha256).digest()
    return np.uint64(int.from_bytes(digest[:8], "little") | 1)


def _row_texts(table: pa.Table) -> pa.LargeStringArray:
    """Return each row as one text."""
    frame = pl.DataFrame(pl.from_arrow(table))
    texts = [pl.col(name).cast(pl.String).fill_null(_GAP) for name in frame.columns]
    joined = frame.select(pl.concat_str(texts, separator=_BETWEEN).alias("row"))["row"]
    return joined.to_arrow().cast(pa.large_string())


def _sum(texts: pa.LargeStringArray, key: np.uint64) -> np.uint64:
    """Return the sum over rows of a keyed polynomial of their bytes, well mixed."""
    if not len(texts):
        return np.uint64(0)
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[
        texts.offset : texts.offset + len(texts) + 1
    ]
    text = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    starts = offsets[:-1] - offsets[0]
    lengths = np.diff(offsets)
    powers = _powers(key, int(lengths.max(initial=0)))
    with np.errstate(over="ignore"):
        places = np.arange(len(text)) - np.repeat(starts, lengths)
        terms = (text.astype(np.uint64) + np.uint64(1)) * powers[places]
        # A row of one empty text has no bytes, and reduceat knows no empty parts.
        sums = np.zeros(len(texts), np.uint64)
        held = lengths > 0
        if held.any():
            sums[held] = np.add.reduceat(terms, starts[held])
        return np.uint64(_mixed(sums + key).sum(dtype=np.uint64))


def _powers(key: np.uint64, count: int) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        return np.cumprod(np.full(max(count, 1), key, np.uint64), dtype=np.uint64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose bits depend on all bits of the values."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * _FIRST
        values = (values ^ (values >> np.uint64(27))) * _SECOND
        return values ^ (values >> np.uint64(31))
