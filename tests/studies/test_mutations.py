"""Broken files: own errors only, nothing written, no record shown."""

from __future__ import annotations

import numpy as np
import pytest

from studies import mutations
from understudy.errors import DataError


@pytest.mark.parametrize("number", range(7))
def test_each_kind_works_as_it_is(number, tmp_path):
    kind = mutations.kinds(tmp_path)[number]
    for content in kind.contents:
        assert mutations._outcome(kind, content, tmp_path) == ("worked", "")


def test_seventy_cases(tmp_path):
    found = mutations.run(70, tmp_path, seed=5)
    assert found.failures == []
    assert {kind: counts.total() for kind, counts in found.outcomes.items()} == dict.fromkeys(
        ("CSV", "Parquet", "Excel", "schema", "settings", "policy", "model"), 10
    )
    assert "Failures: 0" in found.to_markdown()


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_cases(tmp_path, seed):
    assert mutations.run(1000, tmp_path, seed).failures == []


def kind_that(act):
    def use(path, out):
        assert path.read_bytes() == b"x"
        act(out)

    return mutations.Kind("made up", "file", (b"x",), (), use)


def fail(error):
    raise error


def write_and_fail(out):
    (out / "half").write_text("x")
    raise DataError("Wrong.")


@pytest.mark.parametrize(
    ("act", "outcome"),
    [
        (lambda _: None, "worked"),
        (lambda _: fail(DataError("Wrong.")), "own error"),
        (lambda _: fail(DataError("'Zyxwvut-hermit' is wrong.")), "failed"),
        (lambda _: fail(KeyError("x")), "failed"),
        (lambda _: fail(MemoryError()), "failed"),
        (write_and_fail, "failed"),
    ],
)
def test_what_counts_as_a_failure(tmp_path, act, outcome):
    assert mutations._outcome(kind_that(act), b"x", tmp_path)[0] == outcome


def test_a_case_that_takes_too_long_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(mutations, "SECONDS", 0.05)

    def wait(_):
        while True:
            pass

    outcome, why = mutations._outcome(kind_that(wait), b"x", tmp_path)
    assert (outcome, why[:12]) == ("failed", "TimeoutError")


def test_the_planted_values_occur_once():
    text = mutations.original().write_csv()
    assert [text.count(planted) for planted in mutations.PLANTED] == [1] * 5


def test_the_same_case_is_the_same_file():
    content = b"a,b\n1,2\n3,4\n"
    one, two = (mutations._by_words(content, np.random.default_rng([1, 2])) for _ in range(2))
    assert one == two != content
