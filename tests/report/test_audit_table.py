"""The verdict and the figures of an audit in the terminal."""

from __future__ import annotations

import math

import pytest
from rich.console import Console

from understudy.audit import Audit
from understudy.audit.findings import (
    Figure,
    Findings,
    PredictionFindings,
    ReleaseFindings,
    UtilityFindings,
    WayFindings,
)
from understudy.audit.number_findings import CorrelationFindings, LostFindings
from understudy.report.audit_table import audit_table, next_steps
from understudy.wording import UNDEFINED


def figure(measure, synthetic, **more):
    return Figure(
        measure, measure.upper(), "", baseline=0.5, synthetic=synthetic, original=0.9,
        gain=synthetic - 0.5, **more,
    )  # fmt: skip


def audited(*releases):
    return Audit(
        Findings("1", "", 0, 0, "", "quick", 400, 4, ("age",), None, "ill", "job", releases)
    )


def lines(found):
    console = Console(width=200, file=None, record=True, quiet=False)
    with console.capture() as shown:
        console.print(audit_table(found))
    return shown.get().splitlines()


def cells(found, first):
    """Return the one row that begins so, as one text with single spaces."""
    (row,) = (
        " ".join(line.replace("│", " ").split())
        for line in lines(found)
        if line.strip(" │").startswith(first)
    )
    return row


def test_one_release_has_a_row_for_each_measure():
    found = audited(ReleaseFindings("r", "", 1, 400, figures=(figure("gcap", 0.75),)))
    assert cells(found, "GCAP") == "GCAP 50.00% 75.00% 90.00% +25.00"
    assert lines(found)[0].startswith("Raised risk")
    assert "Are original records in it? Not measured." in " ".join(lines(found))
    assert " control " not in " ".join(lines(found))


def test_control_has_a_column_if_there_is_one():
    found = audited(ReleaseFindings("r", "", 1, 400, figures=(figure("gcap", 0.75, control=0.6),)))
    assert cells(found, "GCAP") == "GCAP 50.00% 75.00% 90.00% 60.00% +25.00"


def test_several_releases_have_a_row_each_between_the_references():
    use = UtilityFindings(
        marginals=(WayFindings(2, 6, 0.1, 0.05, 2.0, ()),),
        prediction=PredictionFindings("job", (), "", "", 0.4, 0.7, 0.65, -0.05, ()),
    )
    found = audited(
        ReleaseFindings("a", "", 1, 400, (figure("gcap", 0.75), figure("vote", 0.8)), utility=use),
        ReleaseFindings("[b]", "", 1, 400, (figure("gcap", 0.45), figure("vote", math.nan))),
    )
    assert cells(found, "release") == "release risk GCAP Vote Predicted, % Pairs"
    assert cells(found, "no release") == "no release 50.0 50.0 40.0"
    assert cells(found, "a ") == "a raised 75.0 80.0 65.0 2.0"
    assert cells(found, "[b]") == f"[b] not measured 45.0 {UNDEFINED} {UNDEFINED} {UNDEFINED}"
    assert cells(found, "the original") == "the original 90.0 90.0 70.0"


@pytest.mark.parametrize("names", [("cart",), ("cart", "bayes")])
def test_a_lost_correlation_is_the_first_thing_said_of_the_use(names):
    lost = LostFindings(("out", "back"), "correlation", 0.915, 0.429)
    nan = math.nan
    found = CorrelationFindings(2, 1, 0.486, 0.004, nan, 0.486, nan, nan, nan, 1, 1, 0.486, (lost,))
    use = UtilityFindings(correlations=found)
    told = audited(*(ReleaseFindings(name, "", 1, 400, utility=use) for name in names))
    printed = lines(told)
    about = "" if len(names) == 1 else "cart: "
    first = f"Usefulness: {about}The correlation of 'out' and 'back' fell from 0.915 to 0.429."
    assert any(line.startswith(first) for line in printed[:4])
    assert sum("fell from 0.915" in line for line in printed) == len(names)


@pytest.mark.parametrize("names", [("cart",), ("cart", "bayes")])
def test_what_to_try_next(names):
    gained = (figure("gcap", 0.75),)
    found = audited(*(ReleaseFindings(name, "", 1, 400, figures=gained) for name in names))
    steps = list(
        next_steps(found, lambda advice: f"{advice.release} {advice.output or advice.action}")
    )
    typed = [line.strip() for line in steps if line.startswith("    ")]
    if len(names) == 1:
        assert typed == [f"cart {one.output}" for one in found.verdict.releases[0].advice]
    else:
        # One step for each of several, beside that to keep the first; in Python, it would be too
        # much.
        assert typed == ["cart keep", "cart protected", "bayes protected"]
        assert list(next_steps(found)) == []
