"""The study of the gallery: verdicts in a table, and what was judged wrongly."""

from __future__ import annotations

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
