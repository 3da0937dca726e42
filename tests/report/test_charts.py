"""The charts: valid drawings of the right numbers."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import altair as alt
import pytest

from understudy.audit.findings import (
    AssociationFindings,
    ColumnShares,
    Histogram,
    NetworkFindings,
    SubsetRisk,
    WayFindings,
)
from understudy.audit.verdict import give_verdict
from understudy.charts.chart import ROWS
from understudy.charts.palette import DARK, LIGHT, colour, in_light
from understudy.report.charts.columns import column_chart
from understudy.report.charts.edges import MOST_COLUMNS, network_drawing
from understudy.report.charts.heatmaps import MOST_COLUMNS as MOST_SQUARES
from understudy.report.charts.heatmaps import association_charts
from understudy.report.charts.histograms import attribution_chart, gains_chart
from understudy.report.charts.lines import (
    MOST_SUBSETS,
    distances_chart,
    figures_chart,
    rare_values_chart,
    strong_chart,
    subsets_chart,
    telling_keys_chart,
)
from understudy.report.charts.people import lookalikes_chart, membership_chart
from understudy.report.charts.tradeoff import HIGH, MARKED, OTHER, tradeoff_chart
from understudy.report.front import front_page
from understudy.report.sections import comparison, sections
from understudy.wording import Unit


def table(chart):
    return [dict(zip(chart.headings, row, strict=True)) for row in chart.rows]


@pytest.mark.parametrize("which", ["rich", pytest.param("hostile", marks=pytest.mark.slow)])
def test_every_drawing_fits_the_schema_and_its_table(which, request):
    findings = request.getfixturevalue(which)
    charts = [*comparison(findings)]
    for section in sections(findings, None):
        charts += section.all_charts()
    checked = set()
    for chart in charts:
        picture = chart.for_picture()
        # Charts with the same columns are drawn by the same function, and the check takes long.
        if chart.headings not in checked:
            alt.LayerChart.from_dict(picture)  # raises if it is not Vega-Lite
            checked.add(chart.headings)
        json.dumps(chart.for_page(), allow_nan=False)
        assert "var(--" not in json.dumps(picture)
        assert all(len(row) == len(chart.headings) for row in chart.rows)
        # Names from the data are never names of fields, where dots and brackets have a meaning.
        assert not any(set(heading) & set(".[]'\"") for heading in chart.headings)


def test_measures_are_lines_with_their_references(rich):
    chart = figures_chart(rich.releases[0], "husband_education")
    first = table(chart)[0]
    assert first["Measure"] == "GCAP"
    assert first["Without the release"] == 0.61
    assert first["With the release"] == pytest.approx(0.653)
    assert first["With the original data"] == 0.778
    assert first["People who are not in the data"] == 0.63
    assert "GCAP: without the release 61.0%, with the release 65.3%" in chart.alt


def test_disclosure_counts_are_not_mixed_with_guesses(rich):
    release = rich.releases[0]
    names = [row["Measure"] for row in table(figures_chart(release, ""))]
    assert not {"repU", "DiSCO"} & set(names)
    names = [row["Measure"] for row in table(figures_chart(replace(release, disclosure=None), ""))]
    assert {"repU", "DiSCO"} <= set(names)


def test_a_role_without_a_value_has_no_column():
    ways = [WayFindings(1, 3, 0.1, math.nan, math.nan, ())]
    assert distances_chart(ways).headings == ("Place", "Tables of", "About", "This release")
    assert distances_chart([WayFindings(1, 0, math.nan, math.nan, math.nan, ())]) is None
    assert distances_chart([]) is None


def test_sets_of_keys_are_in_order_of_their_gain_and_cut_for_the_eye():
    risks = [
        SubsetRisk((f"k{gain}",), 0.5, 0.5 + gain / 100, 1.0) for gain in range(MOST_SUBSETS + 5)
    ]
    risks.append(SubsetRisk(("undefined",), 0.5, math.nan, 1.0))
    chart = subsets_chart(risks)
    names = [row["Known columns"] for row in table(chart)]
    assert names == [f"k{gain}" for gain in range(MOST_SUBSETS + 4, -1, -1)] + ["undefined"]
    assert f"{MOST_SUBSETS} of {MOST_SUBSETS + 6}" in chart.sentence
    assert "k0:" not in chart.alt


def test_histograms_have_a_row_for_each_interval():
    chart = attribution_chart(Histogram((0.0, 0.5, 1.0), (3, 1), (1, 3)))
    assert table(chart) == [
        {"From": 0.0, "To": 0.5, "With the release": 3, "With the original data": 1},
        {"From": 0.5, "To": 1.0, "With the release": 1, "With the original data": 3},
    ]
    assert "most, 3, are between 0 and 0.5" in chart.alt
    assert gains_chart(Histogram((0.0, 1.0), (4,))).headings == ("From", "To", "With the release")
    assert gains_chart(Histogram((), ())) is None


def test_heat_maps_show_original_release_and_change():
    found = AssociationFindings(
        ("a", "b"), ((1.0, 0.5), (0.5, 1.0)), ((1.0, 0.2), (math.nan, 1.0)), 0.3, 0.3, 0.1
    )
    original, release, change = (table(chart) for chart in association_charts(found))
    assert [row["Value"] for row in original] == [1.0, 0.5, 0.5, 1.0]
    assert [row["Value"] for row in release] == [1.0, 0.2, None, 1.0]
    assert [row["Value"] for row in change] == [0.0, -0.3, None, 0.0]
    assert "-0.30 for a and b" in association_charts(found)[2].alt
    assert association_charts(replace(found, columns=("a",))) == ()


def test_the_columns_that_changed_most_are_shown_if_there_are_many():
    size = MOST_SQUARES + 10
    same = tuple(tuple(0.0 for _ in range(size)) for _ in range(size))
    changed = list(map(list, same))
    for other in range(5, MOST_SQUARES + 4):
        changed[size - 1][other] = changed[other][size - 1] = 0.5
    names = tuple(f"c{place}" for place in range(size))
    found = AssociationFindings(names, same, tuple(map(tuple, changed)), 0, 0.5, 0)
    shown = {row["Column"] for row in table(association_charts(found)[0])}
    assert shown == {*(f"c{place}" for place in range(5, MOST_SQUARES + 4)), f"c{size - 1}"}


def test_columns_keep_the_order_of_their_labels():
    column = ColumnShares(
        "age", ("9", "10", "not in the release"), (0.5, 0.4, 0.1), (0.7, 0.3, 0.0)
    )
    chart = column_chart(column, 1)
    assert [row["Label"] for row in table(chart)] == list(column.labels)
    # |0.5 - 0.7| + |0.4 - 0.3| + |0.1 - 0| = 0.4, of which half would have to change
    assert "20.0% of the records" in chart.sentence


def test_the_frontier_is_that_of_the_verdict(rich):
    better, worse = rich.releases  # the second has less risk
    lost = replace(worse.utility.prediction, mean_difference=-0.2)  # beyond any doubt
    worse = replace(worse, utility=replace(worse.utility, prediction=lost))
    rows = table(tradeoff_chart(replace(rich, releases=(better, worse))))
    assert [row["Choice"] for row in rows] == [MARKED, MARKED]
    worse = replace(worse, figures=better.figures)  # as much risk, and less use
    rows = table(tradeoff_chart(replace(rich, releases=(better, worse))))
    assert {row["Release"]: row["Choice"] for row in rows} == {
        "greedy.csv": MARKED,
        "protected.csv": OTHER,
    }
    assert tradeoff_chart(replace(rich, releases=(better,))) is None


def test_a_release_whose_risk_is_high_is_marked_so(rich):
    certain = replace(rich.releases[0].strong, certain=700)
    high = replace(rich.releases[0], strong=certain)
    rows = table(tradeoff_chart(replace(rich, releases=(high, rich.releases[1]))))
    assert [row["Choice"] for row in rows] == [MARKED, HIGH]


def test_releases_in_one_place_have_their_names_apart(rich):
    same = replace(rich.releases[0], name="same.csv")
    chart = tradeoff_chart(replace(rich, releases=(rich.releases[0], same)))
    written = list(chart.specification["datasets"].values())
    assert len(written) in {1, 2}  # of a wide and of a narrow drawing, once if they are the same
    for labels in written:
        assert {label["Release"] for label in labels} == {"greedy.csv", "same.csv"}
        assert len({(label["dx"], label["dy"], label["align"]) for label in labels}) == 2
    assert "without a name" not in chart.sentence
    many = [replace(same, name=f"release {place}.csv") for place in range(40)]
    assert "without a name" in tradeoff_chart(replace(rich, releases=tuple(many))).sentence


def test_equal_values_have_an_axis_around_them():
    line = strong_chart(0.61, 0.61)
    scale = line.specification["layer"][0]["encoding"]["x"]["scale"]
    assert scale["domain"] == [0.56, 0.66]
    scale = strong_chart(0.61, 0.71).specification["layer"][0]["encoding"]["x"]["scale"]
    assert "domain" not in scale


def axes(drawing):
    """Return every axis of a drawing."""
    if isinstance(drawing, dict):
        for name, part in drawing.items():
            if name == "axis" and isinstance(part, dict):
                yield part
            yield from axes(part)
    elif isinstance(drawing, list):
        for part in drawing:
            yield from axes(part)


def test_numbers_on_axes_are_written_out(rich):
    """Without a type, or with g, ticks are written as 1.4e+3; "~s" gives 0.1k for 100."""
    charts = [*comparison(rich), *front_page(rich, give_verdict(rich)).charts()]
    for section in sections(rich, None):
        charts += section.all_charts()
    forms = {
        axis["format"] for chart in charts for axis in axes(chart.specification) if "format" in axis
    }
    assert ",~f" in forms
    assert all(form[-1] in "f%" for form in forms)


@pytest.mark.slow
def test_a_thousand_people_are_1_400_on_the_axis():
    import vl_convert as vlc

    picture = attribution_chart(Histogram((0.0, 0.5, 1.0), (1400, 3))).for_picture()
    drawn = vlc.vegalite_to_svg(picture)
    assert ">1,400<" in drawn
    assert "e+3" not in drawn


def test_absurd_gains_are_in_one_bar():
    edges = tuple(float(edge) for edge in range(-60, 81, 10))
    chart = gains_chart(Histogram(edges, tuple(range(1, 15))))
    # 1 + 2 + 3 + 4 people are below -20 bits, and 9 + ... + 14 above 20.
    assert table(chart)[0] == {"From": -30.0, "To": -20.0, "With the release": 10}
    assert table(chart)[-1] == {"From": 20.0, "To": 30.0, "With the release": 69}
    assert sum(row["With the release"] for row in table(chart)) == sum(range(1, 15))
    assert "more than a million times" in chart.sentence
    assert "million" not in gains_chart(Histogram((0.0, 1.0), (4,))).sentence


def test_lookalikes_are_below_the_line(rich):
    chart = lookalikes_chart(rich.releases[0].lookalikes, Unit.of("flights"))
    # 0.1 is less than a quarter of 1; 0.9 is not, and nothing is less than a quarter of 0.
    assert "Scatter of 45 flights" in chart.alt
    assert "2 of them lie below the line" in chart.alt
    assert "Shown are 45 of 1,473 flights in the data and 9 of 300 flights" in chart.sentence
    assert {row["Series"] for row in table(chart)} == {"In the data", "Not in the data"}
    alone = replace(rich.releases[0].lookalikes, people=45, control=(), control_people=0)
    chart = lookalikes_chart(alone, Unit.of("flights"))
    assert "drawn at random" not in chart.sentence
    assert {row["Series"] for row in table(chart)} == {"In the data"}
    assert lookalikes_chart(replace(alone, points=()), Unit.of("flights")) is None


def test_the_curve_of_membership_enlarges_the_low_end(rich):
    chart = membership_chart(rich.releases[0].membership_curve, Unit.of("people"))
    assert table(chart)[0] == {"False alarms": 0.01, "Found": 0.05, "By chance": 0.01}
    assert "At 1.0% false alarms, 5.0% are found." in chart.sentence
    scale = chart.specification["layer"][1]["encoding"]["x"]["scale"]
    assert (scale["type"], scale["domain"]) == ("log", [0.001, 1])


def test_rare_values_are_beside_chance_and_named_only_if_asked_for(rich):
    values = rich.releases[0].rare_values
    unit = Unit.of("records")
    rare, common = table(rare_values_chart(values, "ill", unit))
    assert rare["Value"] == "A value that 7 records have"
    assert rare["In the data"] == pytest.approx(3 / 7, abs=1e-6)
    assert rare["Not in the data"] == 0.5
    assert rare["By chance"] == pytest.approx(0.1 / 7, abs=1e-6)
    assert common["Value"] == "common (700 records)"
    assert common["Not in the data"] is None
    shown = table(rare_values_chart(values, "", unit, show_records=True))
    assert shown[0]["Value"] == "a rare illness (7 records)"
    assert rare_values_chart((), "", unit) is None


def test_telling_keys_show_gains_of_both_groups_and_of_chance(rich):
    first, second = table(telling_keys_chart(rich.releases[0].telling_keys))
    assert (first["Chance alone, at most"], first["In the data"]) == (0.02, 0.05)
    assert first["Not in the data"] == 0.01
    assert second["In the data"] == -0.01


def test_people_and_patterns_are_apart(rich):
    chart = figures_chart(rich.releases[0], "")
    assert "it is a pattern" in chart.sentence
    colours = [layer["mark"].get("color") for layer in chart.specification["layer"]]
    assert {colour("synthetic"), colour("control")} <= set(colours)
    chart = figures_chart(rich.releases[1], "")  # has no control records
    assert "pattern" not in chart.sentence
    assert colour("control") not in [
        layer["mark"].get("color") for layer in chart.specification["layer"]
    ]


def test_networks_have_their_edges_and_roles():
    network = NetworkFindings(("a", "b", "c"), (("a", "b", 0.5), ("a", "c", 0.1)), ("b",))
    chart = network_drawing(network, "", "c")
    assert chart.rows == (("a", "b", 0.5), ("a", "c", 0.1))
    boxes = chart.specification["layer"][-1]["data"]["values"]
    roles = {box["column"]: box["role"] for box in boxes}
    assert roles == {"a": "ordinary", "b": "sensitive", "c": "target"}
    assert "a to b, 0.50 bits" in chart.alt
    assert "b is protected" in chart.sentence


def test_names_that_are_cut_stay_different():
    names = ("x" * 40 + "1", "x" * 40 + "2")
    chart = network_drawing(NetworkFindings(names, ((names[0], names[1], 1.0),)), "", "")
    boxes = chart.specification["layer"][-1]["data"]["values"]
    assert len({box["column"] for box in boxes}) == 2
    assert chart.rows[0][:2] == names


def test_networks_too_large_to_read_are_not_drawn():
    many = tuple(f"c{place}" for place in range(MOST_COLUMNS + 1))
    assert network_drawing(NetworkFindings(many, ()), "", "") is None
    assert network_drawing(NetworkFindings((), ()), "", "") is None


def test_pictures_have_the_light_colours_and_the_table(rich):
    chart = figures_chart(rich.releases[0], "")
    assert chart.specification["data"] == {"name": ROWS}
    picture = chart.for_picture()
    assert picture["data"]["values"] == table(chart)
    assert LIGHT["synthetic"] in json.dumps(picture)
    assert chart.specification["data"] == {"name": ROWS}  # and is left as it was
    assert in_light({"fill": colour("ink")}) == {"fill": LIGHT["ink"]}
    with pytest.raises(KeyError):
        colour("no such role")


def luminance(value):
    channels = [int(value[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    *((text, ground) for text in ("ink", "muted", "link") for ground in ("page", "card", "soft")),
    *((level, f"{level}-soft") for level in ("low", "raised", "high", "unknown")),
    *((level, ground) for level in ("low", "raised", "high") for ground in ("page", "card")),
    *(("node-text", ground) for ground in ("node", "node-sensitive", "node-target")),
    ("ink", "high-soft"),
    ("ink", "low-soft"),
]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks_stand_out(colours):
    """WCAG 2.2 asks for 4.5 to 1 for text, and 3 to 1 for what is drawn."""
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    for text, ground in TEXTS:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for mark in ("baseline", "synthetic", "original", "control"):
        assert contrast(colours[mark], colours["card"]) >= 3, mark


def test_light_and_dark_have_the_same_roles():
    assert set(LIGHT) == set(DARK)
