from __future__ import annotations

import numpy as np
import polars as pl

from understudy import Schema
from understudy.data.panel_look import looks_like_panel, panel_losses


def panel():
    return pl.DataFrame(
        {
            "id": np.repeat(np.arange(100, 130), 4),
            "year": np.tile(np.arange(2000, 2004), 30),
            "sex": np.repeat(["f", "m", "f"] * 10, 4),
            "x": np.random.default_rng(1).integers(0, 9, 120),
        }
    )


def described(table):
    schema = Schema.infer(table, kinds={"id": "identifier"})
    return schema, {name: table[name].to_arrow() for name in table.columns}


def test_a_panel_looks_like_one_and_other_tables_do_not():
    table = panel()
    assert looks_like_panel(*described(table)) == ("id", "year")
    # With a number of its own in each record, nothing is grouped.
    alone = table.with_columns(id=np.arange(120))
    assert looks_like_panel(*described(alone)) is None
    # Nothing tells the order of the records.
    unordered = table.drop("year")
    assert looks_like_panel(*described(unordered)) is None


def test_what_is_lost_is_said_in_a_sentence():
    schema, columns = described(panel())
    assert panel_losses(schema, columns, ["id"], "year") == (
        "30 units named by 'id' have several records. Each record is drawn by itself, so 'sex' no "
        "longer stays the same within a unit, and the link of a record with the one before it, the "
        "order in 'year' and the size of units are lost."
    )


def test_nothing_is_lost_of_units_with_one_record_each():
    schema, columns = described(panel().with_columns(id=np.arange(120)))
    assert panel_losses(schema, columns, ["id"]) == ""
