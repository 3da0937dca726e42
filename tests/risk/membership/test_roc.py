"""Areas, limits and their intervals: by hand, against scipy, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score, roc_curve

from understudy.risk.membership.roc import (
    area_interval,
    area_under_curve,
    chance_of_area,
    detection,
    separation,
)


@pytest.mark.parametrize("seed", range(5))
def test_area_and_test_agree_with_other_libraries(seed):
    rng = np.random.default_rng(seed)
    inside, outside = rng.integers(0, 8, 60) + 0.5 * seed, rng.integers(0, 8, 45).astype(float)
    truth = np.repeat([1, 0], [60, 45])
    scores = np.concatenate([inside, outside])
    assert area_under_curve(inside, outside) == pytest.approx(roc_auc_score(truth, scores))
    expected = mannwhitneyu(
        inside, outside, alternative="greater", use_continuity=False, method="asymptotic"
    )
    assert chance_of_area(inside, outside) == pytest.approx(expected.pvalue)


def test_no_score_tells_nothing():
    same = separation(np.zeros(30), np.zeros(200))
    assert (same.auc, same.p_value) == (0.5, 1.0)
    # All tie at the limit, so that 1% of the members are called such, by chance.
    assert same.detections[0].true_positive_rate == pytest.approx(0.01)
    assert same.low < 0.5 < same.high


@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_true_positives_lie_on_the_curve(rate):
    rng = np.random.default_rng(1)
    inside, outside = rng.integers(3, 12, 500).astype(float), rng.integers(0, 10, 400).astype(float)
    truth = np.repeat([1, 0], [500, 400])
    false, true, _ = roc_curve(truth, np.concatenate([inside, outside]), drop_intermediate=False)
    expected = np.interp(rate, false, true)
    assert detection(inside, outside, rate).true_positive_rate == pytest.approx(expected)


def test_too_few_others_say_nothing():
    found = separation(np.arange(2_000.0), np.arange(999.0))
    one, tenth = found.detections
    assert one.true_positive_rate > 0.5
    assert np.isnan([tenth.true_positive_rate, tenth.low, tenth.high]).all()
    assert "needs at least 1,000 control records, and there are 999" in tenth.reason


def test_intervals_hold_the_truth():
    rng = np.random.default_rng(7)
    shift, rate = 1.0, 0.05
    # For two normal distributions: Phi(shift / sqrt 2), and Phi(shift - z of 95%).
    area, share = 0.7602, 0.2595
    held = np.zeros(2)
    for seed in range(400):
        inside, outside = rng.normal(shift, 1, 120), rng.normal(0, 1, 120)
        low, high = area_interval(area_under_curve(inside, outside), 120, 120)
        found = detection(inside, outside, rate, seed)
        held += [low <= area <= high, found.low <= share <= found.high]
    # 95% of 400 is 380, with a standard deviation of 4.4.
    assert held[0] >= 366
    assert held[1] >= 362
