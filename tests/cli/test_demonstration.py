"""The demonstration shows what the paper on networks found."""

from __future__ import annotations

import html

import polars as pl
import pytest

from understudy import load
from understudy.audit import Audit
from understudy.cli.demonstration import SENSITIVE, file_of, methods, run_demo
from understudy.data import hold_out
from understudy.errors import DataError

NETWORKS = ("genetic",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "made"


@pytest.fixture(scope="module")
def shown(folder):
    """Run the whole demonstration once."""
    return run_demo(folder, seed=1, overwrite=False)


@pytest.fixture(scope="module")
def releases(shown):
    return {release.name: release for release in shown.audit.findings.releases}


@pytest.mark.slow
def test_report_findings_and_a_table_for_each_release(shown, folder):
    assert set(shown.files) == set(folder.iterdir())
    assert next(iter(shown.files)) == folder / "report.html"
    assert Audit.from_json(folder / "audit.json") == shown.audit
    # The badge says what to choose, and the sentence below it why.
    verdict = shown.audit.verdict
    chosen = next(one for one in verdict.releases if one.name == verdict.choice)
    assert chosen.headline in html.unescape((folder / "report.html").read_text())
    for name, model in methods(1).items():
        table = pl.read_csv(folder / file_of(name))
        assert table.shape == (1178, 10)  # four fifths of 1,473
        if name == "independent":
            assert table.equals(model.fit(_known()).sample())
    assert "295 of 1,473 records (20%) were kept back" in shown.audit.findings.notes[0]


def _known():
    return hold_out(load("cmc"), 0.2, by=SENSITIVE, random_state=1).kept


@pytest.mark.slow
def test_what_is_counted_and_not_drawn(releases):
    known = _known()[SENSITIVE]
    share = known.value_counts()["count"].max() / 1178
    for name, release in releases.items():
        # The copula draws from no table of counts, so nobody can tell how one record counts.
        assert list(release.errors) == (["strong"] if name == "copula" else [])
        assert (
            release.utility.prediction.held_out == "295 real records that the synthesis did not use"
        )
        for measure in ("gcap", "vote", "mean_attacker"):
            figure = release.figure(measure)
            assert 0.4 < figure.control < 0.8  # people who were kept back
            assert figure.baseline == share  # husbands with the highest education
        # The original looked up in itself: the paper of 2020 has 77.8 % in Table 9, for all of the
        # survey, and fewer records have fewer others with the same keys.
        assert release.figure("gcap").original == pytest.approx(0.785, abs=0.02)
        # Trained on the original: 69.6 % in Table IX of the paper of 2022; from 69.7 to 70.8 % for
        # four fifths of it.
        assert release.figure("mean_attacker").original == pytest.approx(0.70, abs=0.015)
        assert len(release.subsets) == 5  # four of five keys


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.slow
def test_protection_takes_the_gain_away_and_keeps_the_prediction(releases, network):
    plain, protected = releases[network], releases[f"{network} (protected)"]
    # The attackers' average: the paper has 64.6 % and 57.9 % (Table IX). Over the seeds from 0 to 7
    # ours is from 64.8 to 66.6 % for 13 of 16 networks, and from 59.3 to 60.6 % for the three in
    # which single classifiers fail; this seed has one of these. The vote does not hang on them.
    assert 0.58 < plain.figure("mean_attacker").synthetic < 0.68
    assert 0.55 < protected.figure("mean_attacker").synthetic < 0.59
    assert 0.64 < plain.figure("vote").synthetic < 0.70
    for measure in ("gcap", "vote"):
        assert plain.figure(measure).gain > 0.04
        assert protected.figure(measure).gain < 0.015
    assert plain.strong.certain > 100
    assert protected.strong.certain == 0
    assert protected.strong.max_gain_bits < 1
    # Protection costs 0.2 points for greedy and gains 0.2 for genetic over the seeds from 0 to 7,
    # with a standard deviation of 1.0 and 1.3 (the paper: within 1.5, over ten splits). Against
    # training on real records, protected releases lose 1.0 and 0.7 points, with 0.4 and 0.7. Three
    # deviations are allowed.
    kept = protected.utility.prediction.mean_synthetic - plain.utility.prediction.mean_synthetic
    assert kept > -0.04
    assert protected.utility.prediction.mean_difference > -0.03


@pytest.mark.slow
def test_predictions_without_relations_are_poor(releases):
    # 11 points over the seeds from 0 to 7, with a standard deviation of 2.7.
    assert releases["independent"].utility.prediction.mean_difference < -0.03


@pytest.mark.slow
def test_what_memorises_people_is_not_worth_a_choice(shown):
    (told,) = (text for text in shown.audit.verdict.sentences if "worth choosing" in text)
    chosen = told.partition("worth choosing")[0]
    # Protection cuts the secret loose, and the rest of the records comes back.
    for network in NETWORKS:
        assert network not in chosen
    assert "Differences of up to" in told
    # Which of the others is chosen hangs on chance: one comparison in twenty alarms by itself.
    assert shown.audit.verdict.choice in (
        "independent",
        "copula",
        "predictive",
        "predictive (protected)",
    )


@pytest.mark.slow
def test_smoothed_networks_memorise_nobody_and_keep_the_prediction(releases):
    smoothed, plain = releases["predictive"], releases["genetic"]
    assert (smoothed.strong.certain, plain.strong.certain > 300) == (0, True)
    assert smoothed.numbers["lookalikes.p_value"] > 0.05 > plain.numbers["lookalikes.p_value"]
    # Both within the noise of 295 test records: a standard error of 2.9 points.
    lost = plain.utility.prediction.mean_difference - smoothed.utility.prediction.mean_difference
    assert abs(lost) < 0.06


@pytest.mark.slow
def test_the_verdict_tells_them_apart(shown):
    answers = {one.name: one.answers for one in shown.audit.verdict.releases}
    levels = {name: {q: one.level for q, one in held.items()} for name, held in answers.items()}
    for name in ("cart", *NETWORKS):
        assert set(levels[name].values()) == {"high"}
    for network in NETWORKS:
        protected = levels[f"{network} (protected)"]
        assert protected["ordinary"] != "high"
        assert protected["records"] == "high"
    # In a narrow table, a few copies could hide, and this is said.
    assert levels["independent"] == {
        "records": "not measured", "ordinary": "low", "strongest": "low",
    }  # fmt: skip


@pytest.mark.slow
def test_the_copula_has_no_strong_attacker(releases):
    assert [name for name, one in releases.items() if one.strong is None] == ["copula"]


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("understudy.cli.demonstration.load", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path / "demo", seed=1, overwrite=False)
    assert not list(tmp_path.iterdir())


def test_a_folder_with_other_things_is_not_replaced(tmp_path):
    (tmp_path / "letter.txt").write_text("precious")
    with pytest.raises(DataError, match=r"holds 'letter\.txt'"):
        run_demo(tmp_path, seed=1, overwrite=True)
