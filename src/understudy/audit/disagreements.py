"""Where measures disagree, and why: in words, for whoever must decide which to believe."""

from __future__ import annotations

import math
from collections.abc import Iterator

from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.levels import Gain, gain_of, strong_size, uniform_prior
from understudy.wording import listed, percent, points, quoted, sentence, times_by_bits

NOTICEABLE = 0.01
"""A DiSCO below one person in a hundred draws nobody's attention, so it needs no explanation."""
FEW_MATCH = 0.75
"""0CAP over ICAP is about the share of people with a match: one in four without is worth a word."""
CLEARLY = 0.05
"""The best of some five classifiers is above their vote by luck alone; five points are more."""
DOMINANT = 0.5
"""A value that more than half of the release has."""
CONSTANT = 0.9995
"""A share that reads as 100.0%."""


def find_disagreements(findings: Findings, release: ReleaseFindings) -> tuple[str, ...]:
    """Return a sentence or two for each pair of measures that disagree, and for what is undefined.

    Parameters
    ----------
    findings : Findings
        The audit.
    release : ReleaseFindings
        The release of which to tell.
    """
    return (
        *_constant_target(findings, release),
        *_unseen_by_uniqueness(findings, release),
        *_few_matches(findings, release),
        *_best_and_vote(findings, release),
        *_look_up_and_vote(findings, release),
        *_not_about_members(findings, release),
        *_uniform_guesses(findings, release),
        *_undefined(release),
    )


def _defined(figure: Figure | None) -> Figure | None:
    return figure if figure is not None and not math.isnan(figure.synthetic) else None


def _gains(findings: Findings, release: ReleaseFindings) -> dict[str, Gain]:
    found = ((measure, _defined(release.figure(measure))) for measure in ("gcap", "vote"))
    gains = {
        name: gain_of(figure, findings.counted, findings.limits)
        for name, figure in found
        if figure is not None
    }
    return {name: gain for name, gain in gains.items() if gain.size != "unknown"}


def _constant_target(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    """Explain a DiSCO that counts people whose value is no news, as most have the same one."""
    told = release.disclosure
    if told is None or not told.disco >= NOTICEABLE:
        return
    noise = findings.limits.noise(told.disco_baseline, findings.counted)
    if not told.disco_gain <= noise:
        return
    column = findings.sensitive
    sensitive = quoted([column]) if column else "the sensitive column"
    shares = next((o.synthetic for o in release.utility.shares if o.column == column), ())
    top = max(shares, default=math.nan)
    if top >= CONSTANT and told.disco_gain == 0:
        why = (
            f"{sensitive} has a single value in the release, so every key that occurs there seems "
            "to give it away, and is right about everyone who has the value"
        )
    elif top > DOMINANT:
        why = (
            f"one value (or group of values) of {sensitive} makes up {percent(top)} of the "
            "release, so many keys have no other value, and are right about most "
            f"{findings.units.many}"
        )
    else:
        why = "it mostly reveals the most common value, which anyone would guess"
    gain = "no gain" if told.disco_gain <= 0 else f"a gain of {points(told.disco_gain)}"
    yield (
        f"DiSCO is {percent(told.disco, 2)}, yet the release reveals these values no better "
        "than a constant guess. Always saying the release's most common value is correct "
        f"for {percent(told.disco_baseline, 2)}, which leaves {gain} where chance explains "
        f"{points(noise)}. The reason: {why}. A DiSCO that is high or rises for this reason is not "
        "a sign of disclosure by itself; look at its gain."
    )


def _unseen_by_uniqueness(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    """Explain that counts of keys cannot see a record that stands among others with its keys."""
    told, strong = release.disclosure, release.strong
    if told is None or strong is None or not strong.certain:
        return
    blind = [
        name
        for name, share in (("repU", told.repu), ("DiSCO", told.disco))
        if share * findings.counted < 0.5
    ]
    if blind:
        are = "is" if len(blind) == 1 else "are"
        yield (
            f"{listed(blind)} {are} 0, though the strong attacker is certain about "
            f"{findings.units.count(strong.certain)}. repU and DiSCO look at keys that are unique "
            f"or have a single value. They cannot see {findings.units.any} that stands among "
            "others with the same keys. An attacker who knows those others can leave them out, and "
            "sees the one that is left. So the 0 is not reassuring."
        )


def _few_matches(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    zero, ignore = _defined(release.figure("zero_cap")), _defined(release.figure("icap"))
    if zero is None or ignore is None or not zero.synthetic < FEW_MATCH * ignore.synthetic:
        return
    matched = percent(zero.synthetic / ignore.synthetic)
    yield (
        f"0CAP is {percent(zero.synthetic)} and ICAP {percent(ignore.synthetic)}: only about "
        f"{matched} of the {findings.units.many} have a record with their keys in the release. "
        "0CAP counts all others as wrong guesses, so it is low even if the release reveals the "
        "values of those that match. ICAP leaves the others out. GCAP takes the most similar "
        "records, and is about all."
    )


def _best_and_vote(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    best, vote = _defined(release.figure("best_attacker")), _defined(release.figure("vote"))
    if best is None or vote is None:
        return
    gap = best.synthetic - vote.synthetic
    if gap > max(CLEARLY, findings.limits.noise(vote.synthetic, findings.counted)):
        yield (
            f"The best single classifier is correct for {percent(best.synthetic)}, the vote of all "
            f"for {percent(vote.synthetic)}. An attacker cannot know which one is best without the "
            "true values, so the vote counts here. But an attacker who happens to use that "
            f"classifier guesses {points(gap)} better."
        )


def _look_up_and_vote(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    gains = _gains(findings, release)
    if len(gains) < 2:
        return
    found = {name: gain.size != "none" for name, gain in gains.items()}
    if found["gcap"] and not found["vote"]:
        yield (
            f"Looking up the most similar records (GCAP) gains {points(gains['gcap'].gain)}; the "
            "vote of the classifiers gains nothing beyond chance. So what the release reveals "
            "lies in single combinations of keys, which classifiers smooth away. The larger gain "
            "counts."
        )
    elif found["vote"] and not found["gcap"]:
        yield (
            f"The vote of the classifiers gains {points(gains['vote'].gain)}; looking up the most "
            "similar records (GCAP) gains nothing beyond chance. So what the release reveals is a "
            "relation that holds over many combinations of keys, each with too few records by "
            "itself. The larger gain counts."
        )


def _not_about_members(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    """Explain that what all records tell together is no news to someone who has them."""
    strong = release.strong
    gains = [one.gain for one in _gains(findings, release).values() if one.size != "none"]
    if (
        strong is None
        or not gains
        or strong.certain
        or not strong.max_gain_bits < findings.limits.doubled_bits
    ):
        return
    if not uniform_prior(strong) and strong_size(strong) != "none":
        return
    yield (
        f"An attacker with the keys alone gains {points(max(gains))}, but the strong attacker "
        f"learns little about any {findings.units.one}: its true value becomes at most "
        f"{times_by_bits(strong.max_gain_bits)} as probable. The strong attacker knows all other "
        f"records beforehand, and with them what holds for {findings.units.many} in general. That "
        "is most of what the release reveals here."
    )


def _uniform_guesses(findings: Findings, release: ReleaseFindings) -> Iterator[str]:
    strong = release.strong
    if (
        strong is None
        or not uniform_prior(strong)
        or not strong.max_gain_bits < findings.limits.doubled_bits
    ):
        return
    if abs(strong.accuracy_after - strong.accuracy_before) > findings.limits.noise(
        strong.accuracy_before, strong.records
    ):
        yield (
            f"The strong attacker's correct guesses go from {percent(strong.accuracy_before)} to "
            f"{percent(strong.accuracy_after)}, though the attacker learns hardly anything. All "
            "values were equally likely before the release, so the smallest hint turns the guess. "
            "Go by the bits, not by this share."
        )


def _undefined(release: ReleaseFindings) -> Iterator[str]:
    for figure in release.figures:
        if math.isnan(figure.synthetic):
            why = sentence(figure.note or "no reason was given")
            yield f"{figure.title} has no value here: {why}"
    for measure, reason in release.errors.items():
        if measure == "strong" and release.strong is None:
            continue  # said where it is told how many are certain to be disclosed
        yield f"This could not be measured, or not on all syntheses: {measure}. {sentence(reason)}"
