"""The strong attacker's gains, counted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.synthesis.panel.test_model import in_units, people
from understudy import BayesNet, audit
from understudy.audit.measures.strong import gain_histogram
from understudy.risk import StrongAttack


def attack(prior, posterior, rows=None):
    count = len(prior)
    right = np.ones(count, bool)
    rows = np.arange(count) if rows is None else np.array(rows)
    return StrongAttack(
        ("s",), "fixed", "marginal", rows, np.array(prior), np.array(posterior), ("x",) * count,
        right, right, np.full(count, 2),
    )  # fmt: skip


@given(st.lists(st.tuples(st.floats(0.001, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_every_gain_is_counted(pairs):
    prior, posterior = zip(*pairs, strict=True)
    found = gain_histogram(attack(prior, posterior))
    finite = [value for value in posterior if value > 0]
    assert sum(found.synthetic) == (len(posterior) if finite else 0)
    assert len(found.edges) == len(found.synthetic) + 1
    assert list(found.edges) == sorted(set(found.edges))


def test_edges_of_gains_are_round():
    # From -1 to 2 bits: 3 / 20 of a bit, and the next round step is 0.2.
    found = gain_histogram(attack([0.5, 0.25], [0.25, 1.0]))
    assert found.edges[:2] == (-1.0, -0.8)
    assert found.edges[-1] == 2.0
    assert found.synthetic[0] == found.synthetic[-1] == 1


def test_of_a_panel_it_is_not_measured_and_the_report_says_why():
    table = people(40)
    model = BayesNet(random_state=1).fit(table, in_units(table, time="year"))
    found = audit(
        table.drop("id"),
        model.sample().drop("id"),
        keys=["sex", "born"],
        sensitive="job",
        model=model,
        measures="quick",
        random_state=1,
    )
    assert "draws the records of a unit together" in repr(found.findings)
    assert found.findings.releases[0].strong is None
    network = found.findings.releases[0].network
    assert any(name.endswith("(before)") for name in network.order)
    assert {name for edge in network.edges for name in edge[:2]} <= set(network.order)
