"""The figures of a release as a flat list of named numbers, for the gate and for programs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from understudy.audit.findings import ReleaseFindings, UtilityFindings
from understudy.errors import ParameterError, did_you_mean

FIGURES = (
    "gcap",
    "icap",
    "zero_cap",
    "vote",
    "mean_attacker",
    "best_attacker",
    "papers_vote",
    "papers_mean_attacker",
    "papers_best_attacker",
    "repu",
    "disco",
    "strong",
    "strong_record",
)
"""The measures of risk that stand beside a baseline; see `Figure`."""

_REFERENCES = ("baseline", "synthetic", "original", "control", "gain", "spread")
_STRONG = (
    "certain",
    "certain_share",
    "accuracy_before",
    "accuracy_after",
    "gain",
    "mean_gain_bits",
    "gain_bits_99_percent",
    "max_gain_bits",
    "share_above_half",
    "share_above_90_percent",
)
_DISCLOSURE = ("uio", "uis", "repu", "dorig", "disco", "disco_baseline", "disco_gain")
_ANONYMITY = tuple(f"{of}_{table}" for of in "klt" for table in ("original", "synthetic"))
_WAYS = (1, 2, 3, 4)
_WAY = ("mean", "expected", "ratio")
_ASSOCIATION = ("mean_difference", "largest_difference", "expected_difference")
_MODELS = ("cart", "logistic", "logistic_with_interactions")
_PROPENSITY = ("pmse", "ratio", "standardised", "auc", "auc_by_chance")
_PREDICTION = {
    "baseline": "baseline",
    "real": "mean_real",
    "synthetic": "mean_synthetic",
    "difference": "mean_difference",
}

_RUN_AS = {
    **dict.fromkeys(("gcap", "icap", "zero_cap"), "attribution"),
    **dict.fromkeys(("vote", "mean_attacker", "best_attacker"), "classifiers"),
    **dict.fromkeys(
        ("papers_vote", "papers_mean_attacker", "papers_best_attacker"), "classifiers_papers"
    ),
    **dict.fromkeys(("repu", "disco"), "disclosure"),
}
"""What fails together, by the name of the failure."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(FIGURES, _REFERENCES),
    "strong": tuple(dict.fromkeys((*_STRONG, *_REFERENCES))),
    "disclosure": _DISCLOSURE,
    "anonymity": _ANONYMITY,
    **{f"marginals.{way}": _WAY for way in _WAYS},
    "association": _ASSOCIATION,
    **{f"propensity.{model}": _PROPENSITY for model in _MODELS},
    "prediction": tuple(_PREDICTION),
}
"""All measures that have a name, and the figures of each."""

METRICS = tuple(f"{group}.{figure}" for group, figures in GROUPS.items() for figure in figures)
"""All names."""


def check_name(name: str) -> None:
    """Raise unless there is a figure of this name."""
    if name in METRICS:
        return
    if name in GROUPS:
        raise ParameterError(
            f"{name!r} has several figures; name one: "
            f"{', '.join(f'{name}.{figure}' for figure in GROUPS[name])}."
        )
    group = name.rpartition(".")[0]
    if group in GROUPS:
        hint = did_you_mean(name, [f"{group}.{figure}" for figure in GROUPS[group]])
        figures = ", ".join(GROUPS[group])
        raise ParameterError(f"There is no figure {name!r}.{hint} {group} has {figures}.")
    raise ParameterError(
        f"There is no figure {name!r}.{did_you_mean(name, METRICS)} A name is a measure, a dot, "
        f"and a figure, such as gcap.gain. Measures: {', '.join(GROUPS)}."
    )


def metrics_of(release: ReleaseFindings) -> dict[str, float]:
    """Return all figures of a release that were measured, by name; nan if undefined.

    Parameters
    ----------
    release : ReleaseFindings
        What was found about the release.

    Returns
    -------
    dict
        Numbers by names such as gcap.gain, strong.certain and marginals.2.ratio; see `GROUPS`.

    Examples
    --------
    >>> from understudy.audit.findings import Figure
    >>> gcap = Figure("gcap", "GCAP", "", baseline=0.5, synthetic=0.75, gain=0.25)
    >>> metrics_of(ReleaseFindings("cart", "", 1, 8, figures=(gcap,)))["gcap.gain"]
    0.25
    """
    found = {
        f"{figure.measure}.{name}": float(getattr(figure, name))
        for figure in release.figures
        for name in _REFERENCES
    }
    strong = release.strong
    if strong is not None:
        derived = {
            "certain_share": strong.certain / strong.records if strong.records else math.nan,
            "gain": strong.accuracy_after - strong.accuracy_before,
        }
        values = asdict(strong) | derived
        found |= {f"strong.{name}": float(values[name]) for name in _STRONG}
    if release.disclosure is not None:
        found |= _fields("disclosure", release.disclosure, _DISCLOSURE)
    if release.anonymity is not None:
        found |= _fields("anonymity", release.anonymity, _ANONYMITY)
    return found | dict(_utility(release.utility))


def _fields(group: str, values: object, names: tuple[str, ...]) -> dict[str, float]:
    return {f"{group}.{name}": float(getattr(values, name)) for name in names}


def _utility(utility: UtilityFindings) -> Iterator[tuple[str, float]]:
    for way in utility.marginals:
        yield from _fields(f"marginals.{way.way}", way, _WAY).items()
    if utility.association is not None:
        yield from _fields("association", utility.association, _ASSOCIATION).items()
    for model in utility.propensity:
        name = re.sub(r"\W+", "_", model.model)
        yield from _fields(f"propensity.{name}", model, _PROPENSITY).items()
    if utility.prediction is not None:
        for name, field in _PREDICTION.items():
            yield f"prediction.{name}", float(getattr(utility.prediction, field))


def reason_for(release: ReleaseFindings, name: str) -> str:
    """Return why a figure of a release has no value, as far as is known; empty if it is not."""
    measure = name.partition(".")[0]
    figure = release.figure(measure)
    if figure is not None:
        return figure.note
    return release.errors.get(_RUN_AS.get(measure, measure), "")
