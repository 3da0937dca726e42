"""How each figure of the report was computed, in short, with its source."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.audit.findings import Findings, ReleaseFindings

_CODASPY = (
    "Hittmeir, Mayer, Ekelhart (2020). A baseline for attribute disclosure risk in synthetic data. "
    "CODASPY. doi:10.1145/3374664.3375722"
)
_BIG_DATA = (
    "Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased "
    "privacy on synthetic data. IEEE Big Data. doi:10.1109/BigData55660.2022.10020936"
)
_REITER = (
    "Reiter, Wang, Zhang (2014). Bayesian estimation of disclosure risks for multiply imputed, "
    "synthetic data. Journal of Privacy and Confidentiality 6(1). doi:10.29012/jpc.v6i1.635"
)


@dataclass(frozen=True)
class Explanation:
    """How a measure is computed: its name, a short text, and the source."""

    title: str
    text: str
    source: str = ""


_FIGURES: dict[tuple[str, ...], Explanation] = {
    ("gcap", "icap", "zero_cap"): Explanation(
        "Lookup of keys (GCAP, ICAP, 0CAP)",
        "For each person, the synthetic records with the same keys are looked up, and the most "
        "frequent sensitive value among them is the guess. Where no record agrees, GCAP takes "
        "those that differ in the fewest keys, ICAP leaves the person out, and 0CAP counts a wrong "
        "guess. The reference without the release is the guess that is right for most people.",
        _CODASPY,
    ),
    ("mean_attacker", "best_attacker", "vote"): Explanation(
        "Trained attackers",
        "Classifiers learn from the synthetic records to predict the sensitive column from the "
        "keys, and predict it for every person in the original. The mean over the classifiers, the "
        "best of them, and their majority vote are shown: an attacker cannot know which is best.",
        _BIG_DATA,
    ),
    ("papers_mean_attacker", "papers_best_attacker", "papers_vote"): Explanation(
        "Trained attackers, as in the papers",
        "The same with the six classifiers of the papers and their parameters: naive Bayes, a "
        "support vector machine, nearest neighbours, a random forest of ten trees, logistic "
        "regression and fixed radius. They make figures comparable with the published ones; the "
        "classifiers above are stronger.",
        _BIG_DATA,
    ),
    ("strong",): Explanation(
        "The strong attacker",
        "This attacker knows the synthesizer and every original record but for one value, and "
        "computes how probable each candidate value is, given the release. The gain is the "
        "base-2 logarithm of how much more probable the truth became. The value is certain where "
        "no other world could have given this release.",
        _REITER,
    ),
    ("strong_record",): Explanation(
        "The strong attacker, whole record",
        "The same attacker, who knows all original records but one and nothing of that one. Every "
        "record that could have been there is a candidate; counted are the people whose whole "
        "record is the most probable one. Where there are too many candidates, nothing is counted "
        "and the figure says so.",
        _REITER,
    ),
    ("repu", "disco"): Explanation(
        "repU and DiSCO",
        "repU: people whose keys are unique in the original and also in the release. DiSCO: people "
        "whose keys have one sensitive value in the release, and it is theirs. Beside DiSCO stands "
        "the same count for a constant guess, the release's most frequent value: what is counted "
        "there was never disclosed.",
        "Raab, Nowok, Dibben (2024). Practical privacy metrics for synthetic data. "
        "doi:10.48550/arXiv.2406.16826",
    ),
}

_PARTS: dict[str, Explanation] = {
    "anonymity": Explanation(
        "k, l and t",
        "People with the same keys are a class. k is the size of the smallest class, l the fewest "
        "sensitive values in a class, and t the largest distance between the sensitive values of "
        "a class and those of everybody.",
        "Sweeney (2002), doi:10.1142/S0218488502001648; Machanavajjhala and others (2007), "
        "doi:10.1145/1217299.1217302; Li, Li, Venkatasubramanian (2007), "
        "doi:10.1109/ICDE.2007.367856",
    ),
    "association": Explanation(
        "Association",
        "Pearson's correlation for two numbers, Cramér's V for two categories, the correlation "
        "ratio for one of each. What chance gives is the mean difference of samples drawn with "
        "replacement from the original.",
        _BIG_DATA,
    ),
    "marginals": Explanation(
        "Shares and distances",
        "The distance of two tables of shares is the share of records that would have to move to "
        "another cell (total variation distance). What chance gives is the mean distance of a "
        "sample drawn with replacement from the original.",
    ),
    "propensity": Explanation(
        "Propensity",
        "A model learns to tell synthetic from original records. pMSE is the mean squared "
        "difference between its predicted probability and the share of synthetic records, and is "
        "shown as a multiple of what it is when there is nothing to tell. AUC is the probability "
        "that it ranks a synthetic record above an original one.",
        "Snoke, Raab, Nowok, Dibben, Slavkovic (2018). General and specific utility measures for "
        "synthetic data. Journal of the Royal Statistical Society A 181. doi:10.1111/rssa.12358",
    ),
    "prediction": Explanation(
        "Prediction",
        "Classifiers are trained on the release, and again on real records, and both predict the "
        "target of real people who were held out. The interval is for the difference of the two "
        "accuracies. F2 is a mean of precision and recall in which recall weighs four times as "
        "much.",
        _BIG_DATA,
    ),
    "network": Explanation(
        "The network",
        "The model draws columns one after the other, each from those with an arrow to it. The "
        "bits at an arrow are the mutual information of its two columns.",
        _BIG_DATA,
    ),
}


def explanations(findings: Findings) -> tuple[Explanation, ...]:
    """Return how the measures that were run are computed, and none of the others."""
    measures = {found.measure for release in findings.releases for found in release.figures}
    if any(release.strong is not None for release in findings.releases):
        measures.add("strong")
    if any(release.disclosure is not None for release in findings.releases):
        measures.add("disco")
    parts = set().union(*map(_parts, findings.releases))
    return (
        *(text for names, text in _FIGURES.items() if measures & set(names)),
        *(text for part, text in _PARTS.items() if part in parts),
    )


def _parts(release: ReleaseFindings) -> set[str]:
    utility = release.utility
    there = {
        "anonymity": release.anonymity,
        "association": utility.association,
        "marginals": utility.marginals or utility.shares,
        "propensity": utility.propensity,
        "prediction": utility.prediction,
        "network": release.network,
    }
    return {part for part, found in there.items() if found}
