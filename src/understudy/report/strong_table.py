"""The result of the strong attacker in the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from understudy.report.attack_table import difference
from understudy.risk.strong.result import CERTAIN, StrongAttack, named
from understudy.wording import MOST_BITS, UNDEFINED, bits, counted, share

_NOTICEABLE = 0.01
"""A gain of more bits than this is shown in colour."""
_PRIORS = {
    "uniform": "all candidates are equally probable",
    "marginal": "each value is as probable as it is common among the other records",
    "informed": "each value is as probable as the model predicts from the other records",
    "given": "candidates have the weights that were given",
}
_MODES = {
    "auto": "The structure of the model stays as published, but for the most exposed records: for "
    "these, the model is fitted anew for each candidate.",
    "fixed": "The structure of the model stays as published; only its counts change.",
    "refit": "The model is fitted anew for each candidate.",
    "black box": "The release is simulated for each candidate.",
}


def strong_table(attack: StrongAttack) -> Group:
    """Return what the attacker knew, the figures over all records, and the result in sentences."""
    return Group(*_knowledge(attack), _shares(attack), _bits(attack), *_sentences(attack))


def _knowledge(attack: StrongAttack) -> Iterator[Text]:
    yield Text(
        "An attacker who knows how the release was made, and every record but one. Unknown about "
        f"that one: {named(attack.unknown)}."
    )
    compared = sorted(set(attack.candidates.tolist()))
    count = " to ".join(f"{number:,}" for number in dict.fromkeys([compared[0], compared[-1]]))
    yield Text(
        f"There are {count} candidates. Before the release ({attack.prior_name} prior), "
        f"{_PRIORS[attack.prior_name]}. {_MODES[attack.mode]}"
    )


def _shares(attack: StrongAttack) -> Table:
    table = Table(
        title=f"Share of {counted(len(attack), 'record')} whose true "
        f"{escape(named(attack.unknown))} is found",
        title_justify="left",
        header_style="bold",
    )
    table.add_column("the truth is")
    headings = ("baseline", "synthetic", "gain") if attack.comparable else ("synthetic",)
    for heading in headings:
        table.add_column(heading, justify="right")
    lines = {
        "the best guess": (attack.accuracy_before, attack.accuracy_after),
        "more than 50% probable": (_mean(attack.prior > 0.5), attack.share_above(0.5)),
        "more than 90% probable": (_mean(attack.prior > 0.9), attack.share_above(0.9)),
        "certain": (_mean(attack.prior >= 1 - CERTAIN), _mean(attack.posterior >= 1 - CERTAIN)),
    }
    for meaning, (before, after) in lines.items():
        row = (Text(share(value, 2)) for value in (before, after))
        if attack.comparable:
            table.add_row(meaning, *row, difference(after - before))
        else:
            table.add_row(meaning, share(after, 2))
    return table


def _mean(holds: NDArray[np.bool_]) -> float:
    return float(np.mean(holds)) if len(holds) else math.nan


def _bits(attack: StrongAttack) -> Table:
    table = Table(
        title="How much more probable the truth becomes",
        title_justify="left",
        header_style="bold",
    )
    table.add_column("for")
    for heading in ("bits", "times"):
        table.add_column(heading, justify="right")
    lines = {
        "the average record": attack.mean_gain,
        "99% of the records, at most": attack.quantile_gain(0.99),
        "the most exposed record": attack.max_gain,
    }
    for meaning, gain in lines.items():
        table.add_row(meaning, _in_bits(gain), _times(gain))
    return table


def _sentences(attack: StrongAttack) -> Iterator[RenderableType]:
    yield Text(attack.summary())
    if not attack.comparable:
        rest = "rest on the weights that were given"
        if attack.prior_name != "given":
            rest = "ignore what the other records say about this one"
        yield Text(
            f"With the {attack.prior_name} prior, guesses {rest}. So they are not compared with "
            "guesses without the release. Who is certain does not depend on the prior, and the "
            "bits hardly do. Use the informed prior to compare guesses."
        )
    errors = attack.more.get("mc_error")
    if errors is not None and np.isfinite(errors).any():
        yield Text(
            f"The simulations leave a standard error of up to {np.nanmax(errors):.3f} in a "
            "posterior."
        )
    for note in attack.notes:
        yield Text(f"Note: {note}")
    for figure, reason in attack.reasons.items():
        yield Text(f"Not defined: {figure}: {reason}", style="yellow")


def worst_table(attack: StrongAttack, count: int, *, guesses: bool = False) -> Table:
    """Return the records that the release exposes most.

    Parameters
    ----------
    attack : StrongAttack
        The result.
    count : int
        How many records.
    guesses : bool
        Whether to show the most probable values, which may be those of the original, and what else
        may tell them: see `StrongAttack.to_frame`.
    """
    found = attack.to_frame(worst_first=True, values=guesses, backend="polars").head(count)
    table = Table(
        title="The most exposed record"
        if found.height == 1
        else f"The {found.height:,} most exposed records",
        title_justify="left",
        header_style="bold",
        caption="Rows of the original, from 0: confidential",
        caption_justify="left",
    )
    shown: dict[str, Callable[[Any], str | Text]] = {
        "record": str,
        "prior": _probability,
        "posterior": _probability,
        "gain_bits": _in_bits,
    }
    for name in shown:
        if name in found.columns:
            table.add_column("gain (bits)" if name == "gain_bits" else name, justify="right")
    if guesses:
        table.add_column("best guess", overflow="fold")
        table.add_column("correct")
    for row in found.iter_rows(named=True):
        cells = [form(row[name]) for name, form in shown.items() if name in row]
        guess = [Text(row["guess"]), "yes" if row["right_after"] else "no"] if guesses else []
        table.add_row(*cells, *guess)
    return table


def _probability(value: float) -> str:
    """Return a probability in percent that looks certain or impossible only if it is.

    Examples
    --------
    >>> _probability(1 / 16), _probability(1.0), _probability(0.999999), _probability(1e-9)
    ('6.25%', 'certain', '> 99.99%', '< 0.01%')
    """
    if value >= 1 - CERTAIN:
        return "certain"
    if value > 0.9999:
        return "> 99.99%"
    return "< 0.01%" if 0 < value < 0.0001 else share(value, 2)


def _in_bits(gain: float) -> Text:
    if math.isnan(gain):
        return Text(UNDEFINED)
    capped = math.isfinite(gain) and abs(gain) > MOST_BITS
    told = bits(gain) if capped else f"{gain:+.3f}".replace("inf", "∞")
    return Text(told, style="red" if gain > _NOTICEABLE else "green")


def _times(gain: float) -> str:
    """Return by what factor so many bits raise a probability.

    Examples
    --------
    >>> _times(1.0), _times(-1.0), _times(10.0), _times(1500.0)
    ('2.00', '0.50', '1,024', '> 1,000,000')
    """
    if math.isnan(gain):
        return UNDEFINED
    if gain > math.log2(1_000_000):
        return "> 1,000,000"
    return f"{2**gain:.2f}" if gain < 7 else f"{2**gain:,.0f}"
