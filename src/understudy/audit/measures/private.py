"""Differential privacy: what is claimed, whether the ledger proves it, and what is demonstrated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.findings import ReleaseFindings
from understudy.audit.measures.declaration import (
    STRONGEST,
    Collected,
    Column,
    Explanation,
    Measure,
    Part,
)
from understudy.audit.privacy_findings import LedgerLine, PrivacyFindings
from understudy.audit.synthesis import Synthesis
from understudy.synthesis import BayesNet, Independent
from understudy.synthesis.private import PrivateSynthesizer
from understudy.wording import number

MOST_ROWS = 5_000
MOST_COLUMNS = 12
"""The exact audit fits the model anew; larger ones would take longer than all else."""

WORLDS = 6
"""Pairs of made-up tables of the audit of a release; the privacy audit by itself takes more."""

_TRY_IT = "the privacy audit of the model by itself computes it."


def privacy_of(model: PrivateSynthesizer, *, quick: bool) -> PrivacyFindings:
    """Return what a private model claims, and what is known of it.

    Parameters
    ----------
    model : PrivateSynthesizer
        A fitted model with epsilon.
    quick : bool
        Whether nothing is to be demonstrated, which fits the model to made-up tables.
    """
    ledger = model.ledger_
    if ledger is None:
        return PrivacyFindings(
            float(model.epsilon or math.nan),
            float(model.delta or 0),
            model.neighbours,
            ("the model has noise, but no ledger that says what was asked of the records.",),
            not_demonstrated=_TRY_IT,
        )
    found, why = (math.nan, _TRY_IT) if quick else _demonstrated(model)
    promise = ledger.guarantee
    return PrivacyFindings(
        float(promise.epsilon),
        float(promise.delta),
        promise.neighbours,
        tuple(ledger.problems()),
        ledger.currency,
        float(ledger.total),
        tuple(
            LedgerLine(
                row["what"],
                row["mechanism"],
                float(row["sensitivity"]),
                float(row["scale"]),
                row[ledger.currency],
                row["total"],
            )
            for row in ledger.rows()
        ),
        ledger.public,
        ledger.opendp,
        found,
        why,
    )


def _demonstrated(model: PrivateSynthesizer) -> tuple[float, str]:
    """Return the largest epsilon that exact ratios show, or why that is not known."""
    from understudy.risk.privacy_audit import Effort, audit_privacy

    if not isinstance(model, BayesNet | Independent):
        return math.nan, f"ratios of this method's rows are not known exactly; {_TRY_IT}"
    if model.n_rows_ > MOST_ROWS or len(model.codec_.names) > MOST_COLUMNS:
        return math.nan, (
            f"an audit does it for up to {MOST_ROWS:,} records and {MOST_COLUMNS} columns; "
            f"{_TRY_IT}"
        )
    effort = Effort(worlds=WORLDS, releases=2, runs=0)
    return audit_privacy(model, effort=effort).found, ""


def _run(synthesis: Synthesis) -> PrivacyFindings:
    model = synthesis.given.model
    assert isinstance(model, PrivateSynthesizer)  # noqa: S101  # it is not needed else
    return privacy_of(model, quick=synthesis.task.measures == "quick")


def _collect(_first: Synthesis, found: Sequence[PrivacyFindings]) -> Collected:
    return Collected(release={"privacy": found[0]})


def _values(release: ReleaseFindings) -> list[tuple[str, object]]:
    return [] if release.privacy is None else [("privacy", release.privacy)]


PRIVACY = Measure(
    "privacy",
    "checking the ledger",
    _run,
    _collect,
    needed=lambda _task, given: (
        isinstance(given.model, PrivateSynthesizer) and given.model.has_noise
    ),
    needs="a model that learnt with epsilon",
    first_only=True,
    keyless=True,
    numbers={"privacy": ("epsilon", "delta", "demonstrated")},
    values=_values,
    found=lambda release: release.privacy,
    explanation=Explanation(
        "Differential privacy",
        "Epsilon claimed is what the model promises. The ledger proves it if each question to the "
        "records cost no more than was paid, and all of them no more than the budget. Epsilon "
        "demonstrated is what the model is shown to tell at least: it is fitted to made-up tables "
        "that differ in one record, and the likelihood ratios of its releases are computed "
        "exactly. Neither says what attackers can do with this release: that is the empirical "
        "risk.",
        "Dwork, Roth (2014). The algorithmic foundations of differential privacy. Foundations and "
        "Trends in Theoretical Computer Science 9. doi:10.1561/0400000042",
    ),
    part=Part("privacy", "Differential privacy", 3),
    columns=(
        Column(
            STRONGEST,
            "Epsilon",
            "what the model claims, and its ledger is to prove",
            lambda release: math.nan if release.privacy is None else release.privacy.epsilon,
            lambda value: number(value, 2),
        ),
    ),
    of_units="all records",
    place=63,
)
