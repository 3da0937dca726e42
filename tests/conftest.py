"""What tests of the whole package share: the same table in each of the three libraries."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import settings

# A deadline would make every test a timed one, and the first call of a kernel compiles it.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=LIBRARIES, scope="session")
def as_frame(request):
    """Make a frame of a mapping of columns; a test that takes this runs once for each library."""
    return LIBRARIES[request.param]


@pytest.fixture
def survey(as_frame):
    """Return a small table with a column of each plain kind, in each library."""
    return as_frame(
        {
            "sex": ["f", "m", None, "f", "m", "f"],
            "age": [31, 45, 31, 28, 60, 45],
            "income": [1500.5, 2300.25, 0.0, 1800.75, 0.0, None],
            "smoker": [True, False, False, True, False, True],
        }
    )
