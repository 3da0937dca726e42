"""The utility tables of the paper on genetic networks: figures, and what they are made of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from studies import __main__ as command
from studies import networks
from studies.networks import (
    CLASSIFIERS,
    ORIGINAL,
    Published,
    UtilityTable,
    utility_adult,
    utility_cmc,
)
from understudy.data import load
from understudy.errors import DataError, ParameterError

PAPER_AVERAGES = {  # the last column of Tables V and VI, printed to one decimal
    "V": {
        ("original", 0): 49.8,
        ("greedy", 1): 43.0,
        ("genetic", 1): 43.2,
        ("greedy", 2): 48.0,
        ("genetic", 2): 49.3,
        ("greedy", 3): 50.7,
        ("genetic", 3): 49.7,
        ("greedy", 4): 49.3,
        ("genetic", 4): 49.9,
    },
    "VI": {
        ("original", 0): 81.8,
        ("greedy", 1): 79.7,
        ("genetic", 1): 79.9,
        ("greedy", 2): 81.1,
        ("genetic", 2): 79.7,
        ("greedy", 3): 79.5,
        ("genetic", 3): 81.4,
        ("greedy", 4): 79.9,
        ("genetic", 4): 81.4,
    },
}


@pytest.fixture(scope="module")
def table():
    """Return the original and genetic k = 3 rows of Table V with three splits."""
    return utility_cmc([3], ["genetic"], seeds=3)


@pytest.mark.parametrize(
    ("name", "text"),
    [("V", "2022-5"), ("VI", "2022-6")],
    ids=["V", "VI"],
)
def test_the_papers_figures_have_the_papers_averages(name, text):
    cells = networks.published(text)
    for row, average in PAPER_AVERAGES[name].items():
        mean = np.mean([cells[row, classifier].mean for classifier in CLASSIFIERS])
        assert mean == pytest.approx(average, abs=0.1)  # both were rounded


def test_the_original_gives_the_papers_figures(table):
    # Accuracies vary by about 2.5 points between splits, so the means of three and of ten splits
    # differ by 2.5 * sqrt(1/3 + 1/10) = 1.6 as a standard error; three of them are 5 points.
    original = table.to_frame().filter(training="original")
    assert original["difference"].abs().max() < 5


def test_genetic_networks_of_degree_3_are_as_useful_as_the_papers(table):
    # The average over the classifiers varies by about 2 points between splits: a standard error of
    # 2 * sqrt(1/3 + 1/10) = 1.3. Twice that is far less than the 6.5 points that k = 1 loses.
    average = table.averages().filter(training="genetic")["difference"].item()
    assert abs(average) < 2.6


@pytest.mark.slow
def test_one_parent_loses_what_the_paper_says_it_loses(table):
    one = utility_cmc([1], ["greedy"], seeds=3).averages().filter(training="greedy")
    three = table.averages().filter(training="genetic")
    # The paper: 43.0 against 49.7. The splits are the same, so their noise cancels.
    assert three["mean"].item() - one["mean"].item() == pytest.approx(6.7, abs=3)


def test_a_table_has_a_line_for_each_row_and_classifier(table):
    frame = table.to_frame()
    assert frame["classifier"].to_list() == [*CLASSIFIERS, *CLASSIFIERS]
    assert frame["parents"].to_list() == [0] * 5 + [3] * 5
    assert frame["runs"].unique().to_list() == [3]
    assert table.averages().height == 2
    assert len(table.to_markdown().split("\n")) == 4


@pytest.mark.slow
def test_the_same_seeds_give_the_same_table_in_one_process_or_two(table):
    again = utility_cmc([3], ["genetic"], seeds=1, processes=2)
    assert again.scores == {cell: found[:1] for cell, found in table.scores.items()}


def test_our_own_coding_gives_other_data(table):
    other = utility_cmc([3], ["genetic"], seeds=1, coding="understudy")
    row = ("genetic", 3)
    assert other.scores[ORIGINAL, "NB"] == table.scores[ORIGINAL, "NB"][:1]
    assert [other.scores[row, name][0] for name in CLASSIFIERS] != [
        table.scores[row, name][0] for name in CLASSIFIERS
    ]


def test_the_difference_is_measured_in_its_standard_error():
    row = ("genetic", 3)
    cells = {(row, "NB"): Published(50.0, 3.0), (row, "SV"): Published(50.0, float("nan"))}
    table = UtilityTable({(row, "NB"): (50.0, 54.0), (row, "SV"): (50.0, 54.0)}, cells, 9)
    with_std, single = table.to_frame().iter_rows(named=True)
    assert (with_std["mean"], with_std["std"], with_std["difference"]) == (52.0, 2.0, 2.0)
    assert with_std["z"] == pytest.approx(2 / np.sqrt(4 / 2 + 9 / 9))
    assert single["z"] == pytest.approx(2 / np.sqrt(4 / 2 + 4 / 9))


def test_a_single_run_has_no_spread_and_no_z():
    row = ("original", 0)
    scores = {(row, name): (50.0,) for name in CLASSIFIERS}
    paper = {(row, name): Published(49.0, 1.0) for name in CLASSIFIERS}
    table = UtilityTable(scores, paper, 1)
    assert table.to_frame()["z"].null_count() == 5
    last = table.to_markdown().split("\n")[-1]
    assert last == f"| original |{' 50.0 (49.0) |' * 6}"


def test_labels_are_placed_in_order_over_both_tables_with_missing_first():
    train = pl.DataFrame({"job": ["b", None, "d"], "age": [1, 2, 3], "y": [0, 1, 0]})
    test = pl.DataFrame({"job": ["c", "d"], "age": [2, 5], "y": [1, 1]})
    features, test_features = networks.features_of(train, test, "y")
    # missing 0, b 1, c 2, d 3: the training records are 1, 0, 3, with mean 4/3 and variance 14/9.
    scale = np.sqrt(14 / 9)
    assert features[:, 0] == pytest.approx((np.array([1, 0, 3]) - 4 / 3) / scale)
    assert test_features[:, 0] == pytest.approx((np.array([2, 3]) - 4 / 3) / scale)
    assert test_features[:, 1] == pytest.approx((np.array([2, 5]) - 2) / np.sqrt(2 / 3))


def test_a_predefined_split_needs_the_original_once_and_few_slow_runs():
    survey = load("cmc")
    original = networks._Run(ORIGINAL, 0, survey[::5], survey[1::10], "method", "paper", 10)
    rows = networks._rows([1], ["genetic"])
    scores = networks._collect(networks._on_one_split(original, rows, 3, 2, 4), 1)
    runs = {cell: len(found) for cell, found in scores.items()}
    synthetic = ("genetic", 1)
    # On the original, only the forest leaves anything to chance.
    assert [runs[ORIGINAL, name] for name in CLASSIFIERS] == [1, 1, 1, 4, 1]
    assert [runs[synthetic, name] for name in CLASSIFIERS] == [3, 2, 3, 3, 3]


def test_adult_needs_its_files(tmp_path, monkeypatch):
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match="no file for 'adult_train'"):
        utility_adult()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parents": [5]}, "no row for structure 'genetic' with k = 5"),
        ({"structures": ["optimal"]}, "no row for structure 'optimal'"),
        ({"seeds": 0}, "seeds must be a whole number from 1; got 0"),
        ({"processes": 0}, "processes must be a whole number from 1; got 0"),
    ],
)
def test_what_the_paper_does_not_have_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        utility_cmc(**{"seeds": 1} | arguments)


def test_the_command_prints_the_table():
    result = CliRunner().invoke(command.app, ["utility-cmc", "--seeds", "1", "--parents", ""])
    assert result.exit_code == 0
    heading, _, original = result.stdout.strip().split("\n")
    assert heading == "|  | NB | SV | KN | RF | LR | Avg |"
    assert original.startswith("| original | ")


def test_the_command_refuses_what_is_no_number():
    result = CliRunner().invoke(command.app, ["utility-cmc", "--parents", "three"])
    assert result.exit_code == 2
    assert "not a list of whole numbers" in result.output


def test_a_users_mistake_is_one_message(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["studies", "utility-adult", "--parents", "9"])
    with pytest.raises(SystemExit) as stopped:
        command.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("Error: The paper has no row")
