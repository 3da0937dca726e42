"""How well a model tells synthetic from original records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.audit.findings import PropensityFindings, ReleaseFindings
from understudy.audit.measures.declaration import Collected, Explanation, Measure, Part, Use, mean
from understudy.audit.synthesis import Synthesis
from understudy.audit.task import MeasureSet
from understudy.utility.propensity import Propensity, propensity

PERMUTATIONS: dict[MeasureSet, int] = {"standard": 25, "full": 100}
TOLD_APART = 20_000
"""Records of both tables together that models learn to tell apart, at most."""
INTERACTIONS = "logistic with interactions"


def _run(synthesis: Synthesis, permutations: int | None = None, **more: Any) -> Propensity:  # noqa: ANN401
    return propensity(
        synthesis.tables,
        columns=synthesis.columns,
        permutations=permutations or PERMUTATIONS[synthesis.task.measures],
        most_records=TOLD_APART,
        random_state=synthesis.task.seed,
        **more,
    )


def _run_interactions(synthesis: Synthesis) -> Propensity:
    few = PERMUTATIONS["standard"]
    return _run(synthesis, few, models="logistic", interactions=True)


def findings_of(
    found: Sequence[Propensity], names: Mapping[str, str] | None = None
) -> tuple[PropensityFindings, ...]:
    """Return how well each model tells the tables apart, over the syntheses."""
    return tuple(
        PropensityFindings(
            model=(names or {}).get(name, name),
            pmse=mean(result.models[name].pmse for result in found),
            ratio=mean(result.models[name].permutation.ratio for result in found),
            standardised=mean(result.models[name].permutation.standardised for result in found),
            auc=mean(result.models[name].auc for result in found),
            auc_by_chance=mean(result.models[name].permuted_auc for result in found),
        )
        for name in found[0].models
    )


def _collect(_first: Synthesis, found: Sequence[Propensity]) -> Collected:
    sampled = found[0].reasons.get("records")
    notes = [f"Only a part of the tables was told apart. {sampled}"] if sampled else []
    return Collected(utility={"propensity": findings_of(found)}, notes=notes)


def _use(release: ReleaseFindings) -> Use:
    for model in release.utility.propensity:
        name = model.model.replace(" ", "_")
        yield f"propensity_{name}_ratio", model.ratio, 1.0
        yield f"propensity_{name}_auc", model.auc, model.auc_by_chance


PROPENSITY = Measure(
    "propensity",
    "telling the tables apart",
    _run,
    _collect,
    level="standard",
    numbers={
        f"propensity.{model}": ("pmse", "ratio", "standardised", "auc", "auc_by_chance")
        for model in ("cart", "logistic", "logistic_with_interactions")
    },
    values=lambda release: [
        (f"propensity.{model.model.replace(' ', '_')}", model)
        for model in release.utility.propensity
    ],
    use=_use,
    found=lambda release: release.utility.propensity,
    explanation=Explanation(
        "Propensity",
        "A model learns to tell synthetic from original records. pMSE is the mean squared "
        "difference between its predicted probability and the share of synthetic records. We show "
        "it as a multiple of what it is when the tables cannot be told apart. AUC is the "
        "probability that the model ranks a synthetic record above an original one.",
        "Snoke, Raab, Nowok, Dibben, Slavkovic (2018). General and specific utility measures for "
        "synthetic data. Journal of the Royal Statistical Society A 181. doi:10.1111/rssa.12358",
    ),
    part=Part("propensity", "Telling apart", 8),
    of_units="all records",
    place=130,
)
PROPENSITY_INTERACTIONS = Measure(
    "propensity_interactions",
    "telling the tables apart",
    _run_interactions,
    lambda _first, found: Collected(
        utility={"propensity": findings_of(found, {"logistic": INTERACTIONS})}
    ),
    level="full",
    of_units="all records",
    place=140,
)
