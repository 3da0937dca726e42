"""The simulated data of the paper on CART: how often its unique record comes back, and attacks."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2
from typer.testing import CliRunner

from studies import __main__ as command
from studies.__main__ import app
from studies.buyer_beware import (
    FOOTNOTE,
    RECORD,
    UniqueCopies,
    attacked_markdown,
    guess_last_record,
    protections,
    protections_markdown,
    published_syntheses,
    synthesize,
    unique_copies,
)
from understudy.data import load, load_syntheses
from understudy.errors import ParameterError
from understudy.risk.strong.attack import strong_attacker
from understudy.synthesis import Cart
from understudy.worlds.releases import CELLS, cell_counts


def test_cells_are_counted_in_the_papers_order():
    counts = [69, 60, 79, 62, 68, 64, 60, 75, 74, 63, 54, 69, 77, 59, 66, 1]  # Table A.1
    assert cell_counts(load("buyer_beware")).tolist() == counts
    assert CELLS[0] == "0000"
    assert CELLS[1] == "0001"
    assert CELLS[-1] == "1111"


def test_cells_are_what_counting_in_python_gives():
    table = load("buyer_beware", synthesis=8)[::3]
    found = Counter("".join(map(str, record)) for record in table.iter_rows())
    assert cell_counts(table).tolist() == [found[cell] for cell in CELLS]


def test_numbers_of_copies_are_put_together_from_three_on():
    found = UniqueCopies(np.array([0, 0, 1, 2, 3, 7]), 0.5, 2)
    assert found.observed.tolist() == [2, 1, 1, 2]
    # Of two records, with probability 1/2 each: none 1/4, one 1/2, both 1/4.
    assert found.expected == pytest.approx([0.25, 0.5, 0.25, 0])


def test_a_p_value_by_hand():
    # Of one record, none or one copy with probability 1/2: of 100 syntheses, 50 each are expected.
    # 60 and 40 give (10^2 / 50) * 2 = 4 with one degree of freedom.
    found = UniqueCopies(np.repeat([0, 1], [60, 40]), 0.5, 1)
    assert found.p_value() == pytest.approx(chi2.sf(4, 1))
    assert found.p_value([50, 50, 0, 0]) == pytest.approx(1)


def test_rare_kinds_join_their_neighbours():
    # About one copy is expected: of 40 syntheses 14.7, 14.7, 7.4, 3.2. The last two are one kind.
    found = UniqueCopies(np.repeat([0, 1, 2, 3], [20, 12, 5, 3]), 0.001, 1000)
    first, second, *others = 40 * found.expected
    third = sum(others)
    statistic = (20 - first) ** 2 / first + (12 - second) ** 2 / second + (8 - third) ** 2 / third
    assert found.p_value() == pytest.approx(chi2.sf(statistic, 2))


def test_one_kind_is_no_test():
    found = UniqueCopies(np.array([40, 45]), 0.04, 1000)
    assert np.isnan(found.p_value())
    assert found.to_markdown().split("\n")[-1] == "| p-value |  |  |  |"


def test_the_paper_s_footnote_follows_the_law():
    assert sum(FOOTNOTE) == 100
    found = UniqueCopies(np.array([1]), 0.001, 1000)
    assert found.p_value(FOOTNOTE) > 0.05
    assert found.p_value(FOOTNOTE[::-1]) < 1e-6


def test_copies_of_the_unique_record_follow_the_law_of_the_model():
    found = unique_copies(300)
    assert found.probability == pytest.approx(0.001, rel=0.05)
    # A right sampler fails this for one seed in a thousand; the seed is fixed.
    assert found.p_value() > 0.001
    # The mean of 300 counts of variance 1 has a standard error of 0.058.
    assert found.copies.mean() == pytest.approx(1000 * found.probability, abs=4 * 0.058)


def test_large_leaves_hide_the_unique_record():
    for setting in ({"minbucket": 75}, {"cp": 0.05}):
        found = unique_copies(20, **setting)
        assert found.copies.min() > 3
        assert synthesize(3, **setting)[:, -1].min() > 3


def test_syntheses_have_as_many_records_and_follow_the_seed():
    counts = synthesize(3, random_state=5)
    assert counts.shape == (3, 16)
    assert counts.sum(axis=1).tolist() == [1000] * 3
    assert np.array_equal(counts, synthesize(3, random_state=5))
    assert np.array_equal(counts[:1], synthesize(1, random_state=5))
    assert not np.array_equal(counts[0], counts[1])


def test_syntheses_are_as_far_from_the_original_as_the_papers():
    # Half the sum of absolute differences of 1,000 records: about 13 cells' noise of 8 records,
    # 50 in all, and 5 between syntheses; the means of ten differ by 5 * sqrt(2 / 10) = 2.2.
    original = cell_counts(load("buyer_beware"))
    paper = np.array([cell_counts(table) for table in load_syntheses("buyer_beware")])
    far, paper_far = (
        np.abs(counts - original).sum(axis=1).mean() / 2 for counts in (synthesize(10), paper)
    )
    assert far == pytest.approx(paper_far, abs=4 * 2.2)


def test_no_synthesis_is_refused():
    with pytest.raises(ParameterError, match="syntheses must be a whole number from 1; got 0"):
        unique_copies(0)


def test_the_command_prints_the_table():
    result = CliRunner().invoke(command.app, ["unique-record", "--syntheses", "30"])
    assert result.exit_code == 0
    lines = result.stdout.strip().split("\n")
    assert lines[0] == "| copies of 1111 | 30 syntheses | model | paper, 100 |"
    assert lines[2].endswith("% | 36.8% | 41% |")
    assert len(lines) == 8


@pytest.mark.slow
def test_a_release_that_holds_the_record_leaves_no_other_guess():
    holding = [bool(cell_counts(table)[-1]) for table in load_syntheses("buyer_beware")]
    for number, holds in enumerate(holding, start=1):
        found = guess_last_record(number, copies=1)
        assert found.posterior.sum() == pytest.approx(1, abs=1e-12)
        if holds:
            assert found.posterior[-1] == 1
        else:
            assert 0.02 < found.posterior[-1] < 0.03


def test_syntheses_are_those_of_the_guess():
    found = guess_last_record(copies=30, random_state=3)
    assert found.released.tolist() == cell_counts(load("buyer_beware", synthesis=1)).tolist()
    assert found.syntheses.shape == (16, 30, 16)
    assert np.all(found.syntheses.sum(axis=2) == 1000)
    # Only with the true guess can 1111 be drawn, about once in each: 0 of 30 with e^-30.
    assert found.syntheses[:-1, :, -1].max() == 0
    assert found.syntheses[-1, :, -1].max() > 0


def test_the_posterior_is_that_of_the_strong_attacker():
    original = load("buyer_beware")
    model = Cart(smoothing_leaves=0).fit(original)
    for number in (1, 2):
        attack = strong_attacker(
            model,
            original,
            load("buyer_beware", synthesis=number),
            unknown="*",
            prior="uniform",
            mode="refit",
            records=[999],
        )
        expected = guess_last_record(number, copies=1).posterior[-1]
        assert attack.posterior == pytest.approx([expected], abs=1e-12)


def test_the_seed_decides_the_syntheses_and_not_the_posterior():
    first, again, other = (guess_last_record(2, copies=2, random_state=n) for n in (0, 0, 1))
    assert np.array_equal(first.syntheses, again.syntheses)
    assert not np.array_equal(first.syntheses, other.syntheses)
    assert np.array_equal(first.posterior, other.posterior)


@pytest.fixture(scope="module")
def published():
    return published_syntheses()


def test_the_record_is_the_unique_one():
    assert load("buyer_beware").row(RECORD) == (1, 1, 1, 1)


def test_certain_in_the_eight_that_hold_it_and_unlikely_in_the_two_that_do_not(published):
    assert [one.copies for one in published] == [1, 0, 1, 3, 2, 1, 3, 0, 1, 1]
    for one in published:
        (posterior,) = one.refit.posterior
        if one.copies:
            assert math.isclose(posterior, 1, abs_tol=1e-12)
        else:
            assert 0.02 < posterior < 0.03
        assert one.refit.prior[0] == pytest.approx(1 / 16)


def test_all_records_with_the_trees_as_published(published):
    for one in published:
        assert len(one.fixed) == 1000
        assert one.fixed.posterior[RECORD] == pytest.approx(one.refit.posterior[0], abs=1e-9)
        assert one.fixed.certain == (one.copies > 0)


def test_replicated_uniques_and_disco_say_the_opposite(published):
    assert all(one.repu == 0 for one in published)
    assert [one.disco for one in published] == pytest.approx(
        [0.066 if one.copies == 0 else 0 for one in published]
    )


def test_table(published):
    lines = attacked_markdown(published).splitlines()
    assert len(lines) == 12
    assert lines[2].startswith("| synthesis 1 | 1 | 0.00% | 0.00% | 1.0000 | 1.0000 | 1 |")
    assert lines[3].startswith("| synthesis 2 | 0 | 0.00% | 6.60% | 0.0240 | 0.0240 | 0 |")


@pytest.mark.slow
def test_larger_leaves_and_dearer_splits_protect():
    default, leaves, splits = protections(10)
    assert default.certain > 0
    assert leaves.certain == splits.certain == 0
    assert 0.05 < sum(leaves.posteriors) / 10 < 0.08
    assert 0.055 < sum(splits.posteriors) / 10 < 0.07
    assert protections_markdown([leaves]).splitlines()[2].endswith("| 0 of 10 |")


def test_command():
    done = CliRunner().invoke(app, ["sixteen-worlds", "--releases", "2"])
    assert done.exit_code == 0
    assert done.output.count("| synthesis ") == 10
    assert "| 75 | 1e-08 |" in done.output
