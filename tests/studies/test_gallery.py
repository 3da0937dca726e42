"""The study of the gallery: verdicts in a table, and what was judged wrongly."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from studies import __main__ as command
from studies import gallery as study
from understudy.audit.gallery import GalleryTest, Judged
from understudy.worlds.gallery import KINDS


def test_a_few_kinds_of_one_table():
    result = CliRunner().invoke(
        command.app,
        ["gallery", "--tables", "ballot", "--kinds", "copy in another order; fresh people"],
        catch_exceptions=False,
    )
    first, _, _, _, copy, fresh, *_ = result.output.splitlines()
    assert first.startswith("2 audits of leaks, of which 0 call a leak low, and 0 more")
    assert "2 of harmless releases, with 0 false alarms" in first
    assert copy.startswith("| copy in another order | leak | everybody is in it")
    assert fresh.startswith("| fresh people | harmless |")


def test_mistakes_are_listed(monkeypatch):
    low = dict.fromkeys(("records", "ordinary", "strongest"), "low")
    missed = Judged(KINDS[0], "cmc", 3, False, "low", low, {"gcap": 0.01, "disco": 0.2}, 0.125)
    monkeypatch.setattr(study, "run_gallery", lambda *_, **__: GalleryTest("quick", (missed,)))
    *_, last = study.gallery_markdown().splitlines()
    name = "copies of 1% among fresh people"
    assert last == f"| {name} | cmc | 3 | without | low | low | gcap | 12.5% |"


def test_a_run_that_was_interrupted_goes_on(monkeypatch, tmp_path):
    kinds, file = ["bootstrap"], tmp_path / "kept"
    asked = {"tables": ["ballot"], "kinds": kinds, "keep": file}
    whole = study.gallery_markdown(seeds=2, tables=["ballot"], kinds=kinds)
    real, runs = study.run_gallery, []

    def stopped_at_the_second(*given, **named):
        runs.append(named["random_state"])
        if len(runs) == 2:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr(study, "run_gallery", stopped_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        study.gallery_markdown(seeds=2, **asked)
    with file.open("a") as kept:
        kept.write('{"name": {"measures": "qui')
    for _ in range(2):
        assert study.gallery_markdown(seeds=2, **asked) == whole
    assert runs == [0, 1, 1]


@pytest.mark.parametrize("name", ["leaks", "harmless"])
def test_a_word_stands_for_all_that_leak_or_do_not(name, monkeypatch):
    asked = []

    def remembered(*_, kinds, **__):
        asked.extend(kinds)
        return GalleryTest("quick", ())

    monkeypatch.setattr(study, "run_gallery", remembered)
    study.gallery_markdown(kinds=[name])
    assert asked == [kind.name for kind in KINDS if kind.leaks == (name == "leaks")]
