from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.synthesis.blocks import BLOCK_ROWS
from understudy.synthesis.panel.drawing import Units, blocks_of, whole_units


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.data())
def test_whole_units_come_as_near_as_they_can(counts, data):
    counts = np.array(counts)
    rows = data.draw(st.integers(1, int(counts.sum())))
    taken = whole_units(counts, rows)
    assert len(taken) > 0
    assert (np.diff(taken) > 0).all()
    # Never further off than half a unit, but for one that is alone.
    assert abs(int(counts[taken].sum()) - rows) <= (3 if len(taken) > 1 else 5)


def test_units_of_one_size_and_a_multiple_of_it_fit():
    assert len(whole_units(np.full(20, 8), 96)) == 12
    assert len(whole_units(np.full(20, 8), 100)) == 13
    assert len(whole_units(np.full(20, 8), 99)) == 12


def test_a_block_holds_whole_units():
    counts = np.full(5, BLOCK_ROWS // 2 + 1)
    units = Units({"x": np.zeros(5, np.uint8)}, counts, {"t": np.arange(5)})
    found = blocks_of(units, np.random.SeedSequence(1), 0)
    assert [len(block.units) for block in found] == [2, 2, 1]
    assert [block.first_unit for block in found] == [0, 2, 4]
    assert [block.first_row for block in found] == (np.array([0, 2, 4]) * counts[0]).tolist()
    assert found[1].units.starts["t"].tolist() == [2, 3]
    assert len({tuple(block.generator().random(2)) for block in found}) == 3
