"""The picture of a network."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from understudy import BayesNet, Schema, load
from understudy.errors import DataError
from understudy.report.network import COLOURS, draw_network, network_chart

EDGES = [("method", "husband_education"), ("method", "age"), ("age", "children")]


@pytest.fixture
def model():
    survey = load("cmc").select("age", "children", "husband_education", "method", "religion")
    protect = {"husband_education": "method"}
    return BayesNet(structure=EDGES, protect=protect).fit(survey)


def rows(model):
    """The boxes by column, and the points of each edge's line, as the chart has them."""
    layers = [layer["data"]["values"] for layer in network_chart(model).to_dict()["layer"]]
    lines, _, boxes, _ = layers if len(layers) == 4 else ([], [], *layers)
    points = {}
    for point in lines:
        points.setdefault((point["parent"], point["child"]), []).append(point)
    return {box["column"]: box for box in boxes}, points


def test_every_column_and_every_edge_is_there(model):
    boxes, lines = rows(model)
    assert set(boxes) == set(model.network_.names)
    assert set(lines) == set(EDGES)
    for parent, child, bits in model.edge_information():
        assert all(point["bits"] == bits for point in lines[parent, child])
        first, last = lines[parent, child][0], lines[parent, child][-1]
        assert (first["x"], first["y"]) == (boxes[parent]["middle"], boxes[parent]["y2"])
        assert boxes[parent]["y2"] < last["y"] < boxes[child]["y"]  # parents stand above


def test_boxes_do_not_overlap(model):
    boxes, _ = rows(model)
    for one in boxes.values():
        for other in boxes.values():
            if one is not other and one["y"] == other["y"]:
                assert one["x2"] < other["x"] or other["x2"] < one["x"]


def test_no_line_runs_behind_a_box():
    model = BayesNet(3, "genetic", protect={"religion": "method"}, random_state=1).fit(load("cmc"))
    boxes, lines = rows(model)
    for line in lines.values():
        for start, end in itertools.pairwise(line):
            for share in np.linspace(0, 1, 50)[1:-1]:
                x = start["x"] + share * (end["x"] - start["x"])
                y = start["y"] + share * (end["y"] - start["y"])
                for box in boxes.values():
                    assert not (box["x"] < x < box["x2"] and box["y"] < y < box["y2"])


def test_sensitive_and_target_are_coloured(model):
    boxes, _ = rows(model)
    roles = {name: box["role"] for name, box in boxes.items()}
    assert roles["husband_education"] == "sensitive"
    assert roles["method"] == "target"
    assert roles["age"] == "ordinary"


def test_roles_of_the_schema_count_too():
    survey = load("cmc").select("age", "children", "method")
    schema = Schema.infer(survey).with_roles(
        sensitive=["children"], target=["method"], keys=["age"]
    )
    boxes, _ = rows(BayesNet(structure=[("age", "method")]).fit(survey, schema))
    assert [boxes[name]["role"] for name in survey.columns] == ["ordinary", "sensitive", "target"]


def test_a_network_without_edges():
    model = BayesNet(structure=[]).fit(load("cmc").select("age", "method"))
    assert len(network_chart(model).to_dict()["layer"]) == 2  # boxes and their names


def test_svg_and_png_are_written_whole_and_ask_for_nothing(model, tmp_path):
    svg = draw_network(model, tmp_path / "n.svg").read_text()
    for name in model.network_.names:
        assert f">{name}<" in svg
    assert COLOURS["sensitive"].lower() in svg.lower()
    assert set(re.findall(r"https?://[^\"' ]+", svg)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    png = draw_network(model, tmp_path / "n.png").read_bytes()
    assert png.startswith(b"\x89PNG")


def test_names_are_no_markup(tmp_path):
    survey = load("cmc").select("age", "method").rename({"age": "<script>alert(1)</script>"})
    model = BayesNet(structure=[]).fit(survey)
    assert "<script>" not in draw_network(model, tmp_path / "n.svg").read_text()


def test_other_endings_are_refused(model, tmp_path):
    with pytest.raises(DataError, match=r"should end in .svg or .png"):
        draw_network(model, tmp_path / "n.pdf")
