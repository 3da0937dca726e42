"""Keeping quiet what polars prints by itself when a damaged file makes it panic."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_panics() -> Iterator[None]:
    """Keep polars from writing to the terminal where it panics, with what it was reading."""
    sys.stderr.flush()
    try:
        before = os.dup(2)
    except OSError:  # there is no such stream
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)
