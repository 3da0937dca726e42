"""Several releases of one table: likelihoods multiply, exactly and by simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, Independent
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.risk import black_box_attacker, strong_attacker
from understudy.worlds.releases import Copy


def letters(seed, rows, names="abcd"):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 3, rows) for name in names}
    columns[names[-1]] = (columns[names[0]] + (rng.random(rows) < 0.3)) % 3
    return pl.DataFrame(
        {name: [f"{name}{code}" for code in codes] for name, codes in columns.items()}
    )


FRAME = letters(2, 40)
MODELS = [
    Independent(random_state=1),
    BayesNet(1, [("a", "d"), ("d", "b")], smoothing=0, random_state=1),
    BayesNet(2, random_state=1),
    BayesNet(2, {"a": (), "d": ("a",), "b": ("d", "a"), "c": ("b",)}, smoothing=2, random_state=1),
    Cart(minbucket=3, random_state=1),
]
IDS = ["independent", "given", "searched", "smoothed", "trees"]


def odds(model, synthetic, first, second, **how):
    """The odds of two values of d, which no prior changes, for the records that have the first."""
    rows = np.flatnonzero((FRAME["d"] == f"d{first}").to_numpy())
    weights = np.isin(np.arange(3), [first, second]).astype(float)
    found = strong_attacker(
        model, FRAME, synthetic, unknown="d", prior=weights, records=rows, **how
    ).posterior
    return found / (1 - found)


@pytest.mark.parametrize(
    "model", MODELS, ids=["independent", "given", "searched", "smoothed", "trees"]
)
@pytest.mark.parametrize("mode", ["fixed", "refit"])
def test_odds_multiply(model, mode):
    fitted = model.fit(FRAME)
    # More records than the table has, and fewer.
    releases = [fitted.sample(n, random_state=n) for n in (55, 20, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        together = odds(fitted, releases, 0, 1, mode=mode)
        alone = np.prod([odds(fitted, one, 0, 1, mode=mode) for one in releases], axis=0)
    possible = np.isfinite(alone)
    np.testing.assert_allclose(together[possible], alone[possible], rtol=1e-9)
    assert np.isinf(together[~possible]).all()
    assert possible.any()


@pytest.mark.parametrize("unknown", ["d", "*"])
@pytest.mark.parametrize(
    "model", MODELS, ids=["independent", "given", "searched", "smoothed", "trees"]
)
def test_releases_of_one_model_are_one_longer_release(model, unknown):
    fitted = model.fit(FRAME)
    releases = fitted.sample(copies=3, random_state=4)
    apart, joined, one = (
        strong_attacker(fitted, FRAME, tables, unknown=unknown, mode="fixed").to_frame()
        for tables in (releases, pl.concat(releases), releases[0])
    )
    assert apart.equals(joined)
    assert not apart.equals(one)
    assert (
        strong_attacker(fitted, FRAME, tuple(releases[:1]), unknown=unknown, mode="fixed")
        .to_frame()
        .equals(one)
    )


def test_by_elimination(monkeypatch):
    model = MODELS[1].fit(FRAME)
    releases = model.sample(30, copies=2, random_state=4)
    releases[1] = releases[1].drop("b")
    listed = strong_attacker(model, FRAME, releases)
    monkeypatch.setattr("understudy.risk.strong.attack.MOST_LISTED", 1)
    found = strong_attacker(model, FRAME, releases)
    np.testing.assert_allclose(found.posterior, listed.posterior, rtol=1e-9)
    np.testing.assert_allclose(found.prior, listed.prior, rtol=1e-9)


@pytest.mark.parametrize("mode", ["fixed", "refit"])
def test_each_release_counts_by_what_it_shows(mode):
    # a -> d -> b: the second release does not show d, but what it was drawn from and for.
    model = MODELS[1].fit(FRAME)
    first, second, third = model.sample(30, copies=3, random_state=4)
    releases = [first, second.drop("d"), third.drop("c")]
    together = odds(model, releases, 0, 1, mode=mode)
    alone = [odds(model, one, 0, 1, mode=mode) for one in releases]
    np.testing.assert_allclose(together, np.prod(alone, axis=0), rtol=1e-9)
    # With the structure fixed, b does not count where d is not shown; new fits sum over it.
    assert np.allclose(alone[1], 1) == (mode == "fixed")
    found = strong_attacker(model, FRAME, releases, unknown="d", mode=mode)
    assert found.notes[0].startswith("Release 2 does not show 'd'")
    assert any("The draws of 'b' do not count" in note for note in found.notes) == (mode == "fixed")


def test_a_column_that_no_release_shows():
    model = MODELS[1].fit(FRAME)
    releases = [one.drop("d") for one in model.sample(30, copies=2, random_state=4)]
    found = strong_attacker(model, FRAME, releases, unknown="d", mode="fixed")
    assert (found.gain_bits == 0).all()


@pytest.mark.slow
def test_codes_and_frames():
    model = MODELS[2].fit(FRAME)
    frames = [model.sample(random_state=seed) for seed in (1, 2)]
    codes = [model.sample_coded(random_state=seed) for seed in (1, 2)]
    found = [
        strong_attacker(model, FRAME, tables, unknown="d").posterior.tolist()
        for tables in (frames, codes, [frames[0], codes[1]])
    ]
    assert found[0] == found[1] == found[2]


def test_densities_of_whole_tables_multiply():
    # Two copies, one after the other, are none: the density is that of each release.
    original = pl.DataFrame({"var1": [0, 1, 1, 0], "var2": [0, 1, 0, 1]})
    model = Copy(random_state=1).fit(original)
    found = strong_attacker(
        model, original, [original, original[::-1]], unknown="var2", prior="uniform", mode="refit"
    )
    assert found.certain == 4


def test_which_release_is_wrong():
    model = MODELS[1].fit(FRAME)
    good = model.sample(random_state=1)
    for wrong, message in (
        (good[:0], "Release 2 of 2: The synthetic table has no rows"),
        (good.with_columns(d=pl.Series(["d9", *good["d"][1:]])), r"Release 2 of 2: .* in 'd' that"),
        (good.rename(str.upper), r"Release 2 of 2: The release shows none"),
    ):
        with pytest.raises(DataError, match=message):
            strong_attacker(model, FRAME, [good, wrong], unknown="d")
    with pytest.raises(ParameterError, match="got an empty list"):
        strong_attacker(model, FRAME, [], unknown="d")
    with pytest.raises(ParameterError, match="got an empty list"):
        black_box_attacker(lambda frame, _: frame, FRAME, [], unknown="d")


def test_copies_of_fits_of_their_own_have_no_exact_answer():
    model = Cart(proper=True, random_state=1).fit(FRAME)
    releases = model.sample(copies=2)
    for mode in ("auto", "fixed", "refit"):
        with pytest.raises(NoDensityError, match=r"proper=True.*black_box_attacker"):
            strong_attacker(model, FRAME, releases, unknown="d", mode=mode)


def rows(frame, seed):
    """Draw rows of a table."""
    return frame.sample(60, with_replacement=True, seed=seed)


def proper(frame, seed):
    return Cart(minbucket=5, proper=True, random_state=seed).fit(frame).sample(40)


class TestBlackBox:
    ASKED = {"unknown": "d", "records": [0, 1, 5], "runs": 12, "random_state": 3}  # noqa: RUF012

    @pytest.fixture(autouse=True)
    def quiet(self, caplog):
        caplog.set_level("ERROR")

    @pytest.mark.parametrize("tool", [rows, pytest.param(proper, marks=pytest.mark.slow)])
    def test_log_likelihoods_add_up(self, tool):
        frame = FRAME.select("a", "d")
        releases = [tool(frame, seed) for seed in (7, 8)]

        def odds(synthetic):
            found = []
            for record, truth in zip([0, 5], frame["d"][[0, 5]], strict=True):
                other = next(value for value in ("d0", "d1", "d2") if value != truth)
                found.append(
                    black_box_attacker(
                        tool, frame, synthetic,
                        **self.ASKED | {"records": [record], "candidates": [truth, other]},
                    ).posterior[0]
                )  # fmt: skip
            return np.array(found) / (1 - np.array(found))

        np.testing.assert_allclose(odds(releases), odds(releases[0]) * odds(releases[1]), rtol=1e-9)

    def test_one_in_a_list_is_one(self):
        frame = FRAME.select("a", "d")
        alone, listed = (
            black_box_attacker(rows, frame, synthetic, **self.ASKED)
            for synthetic in (rows(frame, 7), [rows(frame, 7)])
        )
        assert alone.to_frame().equals(listed.to_frame())
        assert alone.notes == listed.notes

    @pytest.mark.slow
    def test_columns_that_some_release_lacks(self):
        frame = FRAME.select("a", "b", "d")
        releases = [rows(frame, 7).drop("d"), rows(frame, 8), rows(frame, 9)[:20]]
        found = black_box_attacker(rows, frame, releases, **self.ASKED)
        assert "Not in the synthetic table: 'd'." in found.notes
        assert any("of 3 releases rests on" in note for note in found.notes)
        with pytest.raises(DataError, match=r"Release 2 of 2: .*no column in common"):
            black_box_attacker(
                rows, frame, [releases[1], releases[1].rename(str.upper)], **self.ASKED
            )

    def test_finished_runs_are_used_again(self, tmp_path):
        frame = FRAME.select("a", "d")
        releases = [rows(frame, 7), rows(frame, 8)]
        asked = self.ASKED | {"resume": tmp_path / "runs.jsonl"}
        first = black_box_attacker(rows, frame, releases, **asked)

        def refuse(frame, seed):
            raise AssertionError

        again = black_box_attacker(refuse, frame, releases, **asked)
        assert first.to_frame().equals(again.to_frame())
        with pytest.raises(DataError, match="simulations of another attack"):
            black_box_attacker(refuse, frame, releases[:1], **asked)

    def test_combinations_of_all_releases_are_candidates(self):
        frame = pl.DataFrame({"a": ["0", "0", "1"], "b": ["0", "1", "0"]})
        one, two = (pl.DataFrame({"a": [a], "b": [b]}) for a, b in (("1", "1"), ("2", "0")))
        found = black_box_attacker(lambda *_: two, frame, [one, two, two.select("a")], runs=1)
        # 00, 01 and 10 of the original, 11 and 20 of the releases.
        assert found.candidates.tolist() == [5] * 3
