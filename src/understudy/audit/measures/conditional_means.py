"""Means of numbers by the levels of other columns, against the original's."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import ReleaseFindings
from understudy.audit.measures.correlations import NUMBERS, sampling_notes
from understudy.audit.measures.declaration import Collected, Explanation, Measure, Use, mean
from understudy.audit.number_findings import ConditionalMeanFindings, MeanFindings
from understudy.audit.synthesis import Synthesis
from understudy.utility.conditional_means import ConditionalMeans, conditional_means


def _run(synthesis: Synthesis) -> ConditionalMeans:
    return conditional_means(
        synthesis.tables, columns=synthesis.columns, random_state=synthesis.task.seed
    )


def _collect(_first: Synthesis, found: Sequence[ConditionalMeans]) -> Collected:
    first = found[0]
    if not first.means:
        return Collected()
    worst = tuple(
        MeanFindings(
            one.number, one.by, one.level, one.original, one.synthetic, one.difference, one.limit
        )
        for one in first.worst
    )
    findings = ConditionalMeanFindings(
        means=first.means,
        beyond=max(one.beyond for one in found),
        mean_difference=mean(one.mean for one in found),
        expected_difference=mean(one.expected for one in found),
        control_difference=mean(one.control for one in found),
        largest_difference=mean(one.largest for one in found),
        worst=worst,
    )
    return Collected(utility={"conditional_means": findings}, notes=sampling_notes(first.reasons))


def _use(release: ReleaseFindings) -> Use:
    found = release.utility.conditional_means
    if found is not None:
        yield "conditional_means", found.mean_difference, found.expected_difference


CONDITIONAL_MEANS = Measure(
    "conditional_means",
    "comparing means by level",
    _run,
    _collect,
    numbers={
        "conditional_means": (
            "means",
            "beyond",
            "mean_difference",
            "expected_difference",
            "control_difference",
            "largest_difference",
        )
    },
    values=lambda release: [("conditional_means", release.utility.conditional_means)],
    use=_use,
    found=lambda release: release.utility.conditional_means,
    explanation=Explanation(
        "Means by level",
        "The mean of each number among the records of each level of another column, if at least 30 "
        "records of both tables have it. Differences are in standard deviations of the column. The "
        "limit of chance is that of a fresh sample, for all means together.",
    ),
    part=NUMBERS,
    place=96,
)
