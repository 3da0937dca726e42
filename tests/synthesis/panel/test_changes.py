from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from understudy.data import Codec, Column, Schema
from understudy.synthesis.panel.changes import Change, places_of

ROWS = np.arange(1, 400)
PAIRS = (ROWS, ROWS - 1)


def walk(missing=False):
    """Return a number that goes on from row to row, with zeros and maybe gaps."""
    rng = np.random.default_rng(1)
    x = np.empty(400)
    x[0] = 0
    for row in ROWS:
        x[row] = 0.7 * x[row - 1] + rng.normal()
    values = np.round(x, 3)
    values[::10] = 0.0
    values[51] = values[50]
    return pl.Series("x", [None if missing and row % 7 == 0 else v for row, v in enumerate(values)])


def fitted(exact, missing=False):
    series = walk(missing)
    share = series.null_count() / len(series)
    schema = Schema([Column("x", "real", special=(0.0,), missing=share)])
    frame = pl.DataFrame({"x": series})
    codec = Codec.fit(frame, schema, exact=exact)
    codes = codec.encode(frame)["x"]
    places = places_of(codec, "x", series.to_arrow(), codes, "interpolate")
    when = np.zeros(400, np.uint32)
    change = Change.fit("x", codec, codes, places, when, PAIRS)
    return codec, codes, places, when, change, series


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_changes_lead_back_to_the_numbers(exact, missing):
    codec, codes, places, when, change, series = fitted(exact, missing)
    scores = change.scores(codec, codes, places, when)
    same = (series[1:].eq_missing(series[:-1])).to_numpy()
    drawn = change.values(codec, codes, scores, PAIRS, same)
    held = np.full(400, 0.5) if places is None else places
    before = (codes[:-1], scores[:-1], held[:-1])
    found, new, inside = change.follow(codec, drawn, before, when[1:])
    assert found.tolist() == codes[1:].tolist()
    np.testing.assert_allclose(new, scores[1:], atol=1e-6)
    if not exact:
        ordinary = np.isfinite(scores[1:])
        np.testing.assert_allclose(inside[ordinary], places[1:][ordinary], atol=1e-4)


def test_changes_are_not_correlated_with_what_was_before():
    codec, codes, places, when, change, _ = fitted(exact=True)
    scores = change.scores(codec, codes, places, when)
    both = np.isfinite(scores[1:]) & np.isfinite(scores[:-1])
    drawn = scores[1:] - change.factor * scores[:-1]
    assert abs((drawn[both] * scores[:-1][both]).sum()) < 1e-9
    assert 0.3 < change.factor < 0.9


def test_special_numbers_gaps_and_what_stays_have_places_of_their_own():
    codec, codes, places, when, change, _ = fitted(exact=False, missing=True)
    scores = change.scores(codec, codes, places, when)
    assert np.isnan(scores[codes == 0]).all()  # the special 0
    before = (codes[:3], np.array([np.nan, 0.5, 0.5]), np.full(3, 0.25))
    drawn = pa.array([1e6, 1e6 + 1, None])  # stays though there was none, is special, is missing
    found, new, _ = change.follow(codec, drawn, before, when[:3])
    assert found[1] == 0
    assert found[2] == codec.coders["x"].known
    assert np.isfinite(new[0])
    assert np.isnan(new[1:]).all()


def test_a_trend_in_time_is_taken_out_and_put_back():
    rng = np.random.default_rng(2)
    when = np.tile(np.arange(5, dtype=np.uint32), 80)
    values = (when * 2.0 + rng.normal(size=400)).round(3)
    frame = pl.DataFrame({"x": values})
    codec = Codec.fit(frame, Schema([Column("x", "real")]), exact=True)
    codes = codec.encode(frame)["x"]
    later = np.flatnonzero(when > 0)
    change = Change.fit("x", codec, codes, None, when, (later, later - 1))
    assert (np.diff(change.means) > 0.3).all()
    # Without the trend, nothing links a number with the one before.
    assert abs(change.factor) < 0.25


def test_what_was_learnt_is_saved_and_what_does_not_fit_refused():
    codec, *_, change, _ = fitted(exact=False)
    again = Change.from_arrays("x", codec, change.to_arrays())
    assert again.factor == change.factor
    assert (again.ranks == change.ranks).all()
    for key, wrong in (("factor", np.array([2.0])), ("ranks", change.ranks[1:])):
        with pytest.raises(ValueError, match="do not fit"):
            Change.from_arrays("x", codec, change.to_arrays() | {key: wrong})
