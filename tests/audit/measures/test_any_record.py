"""A unit is disclosed if any of its records is: by hand."""

import numpy as np
import polars as pl
import pytest

import understudy
from understudy.audit.measures.any_record import any_of


def test_any_record_by_hand():
    original = pl.DataFrame(
        {
            "home": [1, 1, 2, 2, 3],
            "age": [30, 40, 30, 50, 60],
            "ill": ["no", "yes", "no", "no", "yes"],
        }
    )
    release = pl.DataFrame({"age": [40, 50, 50, 60], "ill": ["yes", "no", "yes", "no"]})
    found = understudy.audit(
        original,
        release,
        keys=["age"],
        sensitive="ill",
        unit_id="home",
        measures="quick",
        random_state=1,
    )
    figures = {one.measure: one for one in found.findings.releases[0].figures}
    # 40, 50 and 60 are ages of one home each; the release has one record of 40 and one of 60.
    assert figures["repu_any_record"].original == 1.0
    assert figures["repu_any_record"].synthetic == pytest.approx(2 / 3)
    # The release has yes alone at 40, which is right for the first home.
    assert figures["disco_any_record"].synthetic == pytest.approx(1 / 3)
    # At 30 nothing is known, so that all four records are equally near: two of them say no.
    # First home: 1 - (1 - 1/2)(1 - 1); second: 1 - (1 - 1/2)(1 - 1/2); third: 0.
    assert figures["gcap_any_record"].synthetic == pytest.approx((1 + 0.75 + 0) / 3)
    # Shares are 3/5 and 2/5: 1 - 2/5 * 3/5, 1 - 2/5 * 2/5, and 2/5.
    assert figures["gcap_any_record"].baseline == pytest.approx((0.76 + 0.84 + 0.4) / 3)


def test_any_of_certain_guesses():
    assert any_of(np.array([1.0, 0.0, 0.0]), np.array([0, 0, 1])).tolist() == [1.0, 0.0]
