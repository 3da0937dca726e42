"""The figures of the paper on CART: what they show, and how they are written."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import vl_convert as vlc
from typer.testing import CliRunner

from studies import __main__ as command
from studies.buyer_beware import guess_last_record, synthesize
from studies.cell_charts import panel
from studies.figures import CPS, MINBUCKETS, draw_figure, figure
from understudy.data import load, load_syntheses
from understudy.errors import DataError, ParameterError
from understudy.worlds.releases import CELLS, cell_counts

ORIGINAL = cell_counts(load("buyer_beware"))


def layers(chart):
    """Return the rows of each layer of a chart; Altair lifts those of a single layer."""
    return [layer.get("data", chart.get("data"))["values"] for layer in chart["layer"]]


def test_figure_2_shows_the_papers_syntheses():
    chart = figure("2", published=True).to_dict()
    assert chart["title"]["text"] == "The one record 1111 comes back in 8 of 10 syntheses"
    bars, points, _ = layers(chart["vconcat"][0])
    assert [bar["y"] for bar in bars] == ORIGINAL.tolist()
    counts = np.array([cell_counts(table) for table in load_syntheses("buyer_beware")])
    assert [point["y"] for point in points] == counts.ravel().tolist()


def test_only_the_disclosive_record_is_marked():
    bars, points, note = layers(figure("2").to_dict()["vconcat"][0])
    assert [bar["what"] for bar in bars] == ["original"] * 15 + ["1111"]
    assert [point["what"] for point in points] == (["synthetic"] * 15 + ["1111"]) * 10
    # Every point stands on the bar of its combination.
    for point, bar in zip(points, bars * 10, strict=True):
        assert bar["x"] < point["x"] < bar["x2"]
    assert note[0]["x"] == 15


def test_one_synthesis_is_one_point_in_the_middle():
    _, points, _ = layers(panel(ORIGINAL, ORIGINAL[None]).to_dict())
    assert [point["x"] for point in points] == list(range(16))


def test_figure_1_shows_shares_and_counts():
    chart = figure("1", published=True).to_dict()
    within, across = chart["vconcat"]
    (shares,) = layers(within)
    synthesis = load("buyer_beware", synthesis=1)
    expected = [
        share
        for table in (load("buyer_beware"), synthesis)
        for name in table.columns
        for share in (1 - table[name].mean(), table[name].mean())
    ]
    assert [bar["y"] for bar in shares] == pytest.approx(expected)
    bars, _ = layers(across)
    assert [bar["y"] for bar in bars] == [*ORIGINAL, *cell_counts(synthesis)]
    assert "and once in the synthesis" in chart["title"]["subtitle"][0]


def guesses(drawing):
    """Return the panels of Figure 3 by their heading."""
    panels = [panel for row in drawing["vconcat"] for panel in row["hconcat"]]
    return {panel["title"]["text"]: panel for panel in panels}


def test_figure_3_has_a_panel_for_each_guess():
    drawing = figure("3", copies=3).to_dict()
    panels = guesses(drawing)
    assert list(panels) == [*CELLS[:-1], "1111, the truth"]
    assert drawing["title"]["text"].startswith("Only if the last record is 1111")
    expected = guess_last_record(copies=3)
    for number, one in enumerate(panels.values()):
        bars, points = layers(one)
        assert [bar["y"] for bar in bars] == cell_counts(load("buyer_beware", synthesis=1)).tolist()
        assert [point["y"] for point in points] == expected.syntheses[number].ravel().tolist()


@pytest.mark.slow
def test_figure_3_marks_the_truth_and_says_what_each_guess_is_worth():
    panels = guesses(figure("3", copies=20).to_dict())
    *others, truth = panels.values()
    assert {panel["title"]["subtitle"] for panel in others} == {"posterior 0; 1111 drawn 0 times"}
    assert re.fullmatch(r"posterior 1; 1111 drawn 0 to \d times", truth["title"]["subtitle"])
    assert truth["view"]["stroke"] == "#D55E00"
    assert all(panel["view"]["stroke"] != "#D55E00" for panel in others)


@pytest.mark.slow
def test_figure_3_of_a_release_without_the_record():
    drawing = figure("3", copies=2, synthesis=2).to_dict()
    assert drawing["title"]["text"] == (
        "A release without 1111 does not say what the last record is"
    )
    assert "synthesis 2 of the paper" in " ".join(drawing["title"]["subtitle"])
    subtitles = [panel["title"]["subtitle"] for panel in guesses(drawing).values()]
    assert subtitles[-1].startswith("posterior 0.024;")
    shares = [float(words.split(";")[0].removeprefix("posterior ")) for words in subtitles]
    assert sum(shares) == pytest.approx(1, abs=0.01)


def test_figure_4_shows_both_ways_to_hide_the_record():
    by_leaf, by_cp = figure("4", copies=3).to_dict()["vconcat"]
    assert by_leaf["title"]["text"] == "(a) minbucket = 75 (default 5)"
    assert [p["y"] for p in layers(by_leaf)[1]] == synthesize(3, minbucket=75).ravel().tolist()
    assert [p["y"] for p in layers(by_cp)[1]] == synthesize(3, cp=0.05).ravel().tolist()
    scales = [part["layer"][0]["encoding"]["y"]["scale"] for part in (by_leaf, by_cp)]
    assert scales[0] == scales[1]


@pytest.mark.slow
def test_figure_a1_has_a_panel_for_each_value():
    rows = figure("A.1", copies=2).to_dict()["vconcat"]
    titles = [part["title"]["text"] for row in rows for part in row["hconcat"]]
    assert len(titles) == len(MINBUCKETS) + len(CPS)
    assert re.fullmatch(r"minbucket = 5: \d+( to \d+)? times", titles[0])
    assert titles[-1].startswith("cp = 0.05: ")


def test_a_picture_has_its_words_and_names_no_address(tmp_path):
    svg = draw_figure("2", tmp_path / "figure.svg", published=True).read_text("utf-8")
    for words in ("The one record 1111", "number of records", "values of var1", "0 to 3"):
        assert words in svg
    assert 'fill="#D55E00"' in svg
    assert 'fill="white"' in svg
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # of the format itself
    assert set(re.findall(r"https?://[^\s\"<]+", svg)) <= names
    png = draw_figure("1", tmp_path / "figure.png").read_bytes()
    assert png.startswith(b"\x89PNG")


def words_of(svg):
    """Return the text elements of a picture, in their order."""
    texts = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314  # our own
    return ["".join(text.itertext()) for text in texts]


@pytest.mark.parametrize(
    "name", ["1", "2", "4", *(pytest.param(name, marks=pytest.mark.slow) for name in ("3", "A.1"))]
)
def test_the_words_of_a_picture_are_those_of_its_chart(name, tmp_path):
    drawn = draw_figure(name, tmp_path / "figure.svg", copies=2).read_text("utf-8")
    plain = vlc.vegalite_to_svg(figure(name, copies=2).to_dict())
    assert words_of(drawn) == words_of(plain)
    described = r'aria-label="([^"]*)"'
    assert re.findall(described, drawn) == re.findall(described, plain)
    assert len(drawn) < 0.9 * len(plain)


@pytest.mark.slow
def test_the_settings_are_printed_in_full(tmp_path):
    words = words_of(draw_figure("4", tmp_path / "4.svg", copies=2).read_text("utf-8"))
    assert "(a) minbucket = 75 (default 5)" in words
    assert "(b) cp = 0.05 (default 1e-08)" in words
    words = words_of(draw_figure("A.1", tmp_path / "a1.svg", copies=2).read_text("utf-8"))
    headings = [text.split(":")[0] for text in words if text.endswith(" times")]
    assert headings == [
        *("minbucket = 5", "minbucket = 10", "minbucket = 25"),
        *("minbucket = 50", "minbucket = 75", "minbucket = 100"),
        *("cp = 1e-08", "cp = 0.001", "cp = 0.01", "cp = 0.02", "cp = 0.03", "cp = 0.05"),
    ]


def test_the_same_seed_draws_the_same_picture(tmp_path):
    first, again = (draw_figure("2", tmp_path / name, copies=2) for name in ("a.svg", "b.svg"))
    other = draw_figure("2", tmp_path / "c.svg", copies=2, random_state=1)
    assert first.read_bytes() == again.read_bytes() != other.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "5"}, "name must be one of 1, 2, 3, 4, A.1; got '5'"),
        ({"name": "3", "published": True}, "does not print the syntheses of Figure 3"),
        ({"name": "2", "copies": 0}, "copies must be a whole number from 1; got 0"),
        ({"name": "4", "published": True}, "does not print the syntheses of Figure 4"),
    ],
)
def test_what_the_paper_does_not_have_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        figure(**arguments)


def test_the_ending_says_what_to_draw(tmp_path):
    with pytest.raises(DataError, match=r"should end in \.svg or \.png"):
        draw_figure("2", tmp_path / "figure.pdf")
    assert list(tmp_path.iterdir()) == []


def test_the_command_keeps_an_existing_file_unless_forced(tmp_path, monkeypatch, capsys):
    path = tmp_path / "figure.svg"
    path.write_text("mine")
    arguments = ["figure", "2", "--published", "-o", str(path)]
    monkeypatch.setattr("sys.argv", ["studies", *arguments])
    with pytest.raises(SystemExit) as stopped:
        command.main()
    assert stopped.value.code == 2
    assert "already exists" in capsys.readouterr().err
    assert path.read_text() == "mine"
    result = CliRunner().invoke(command.app, [*arguments, "--force"])
    assert result.exit_code == 0
    assert path.read_text().startswith("<svg")


@pytest.mark.slow
def test_the_command_takes_the_release_of_figure_3(tmp_path):
    path = tmp_path / "figure.svg"
    arguments = ["figure", "3", "--synthesis", "8", "--copies", "1", "-o", str(path)]
    assert CliRunner().invoke(command.app, arguments).exit_code == 0
    assert "the release, synthesis 8 of the paper" in path.read_text("utf-8")
