"""Numbers and lists in words, so that the same figure reads the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

UNDEFINED = "–"  # noqa: RUF001  # a dash as in printed tables


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent, for a sentence.

    Examples
    --------
    >>> percent(0.4271), percent(float("nan"))
    ('42.7%', 'an unknown share')
    """
    return "an unknown share" if math.isnan(share) else f"{100 * share:.{digits}f}%"


def share(value: float, digits: int = 1) -> str:
    """Return a share in percent, for a cell of a table.

    Examples
    --------
    >>> share(0.6419), share(float("nan"))
    ('64.2%', '–')
    """  # noqa: RUF002
    return f"{100 * value:.{digits}f}%" if math.isfinite(value) else UNDEFINED


def percent_number(value: float) -> str:
    """Return a share in percent without its sign, for tables that say so above.

    Examples
    --------
    >>> percent_number(0.6419), percent_number(float("nan"))
    ('64.2', '–')
    """  # noqa: RUF002
    return share(value).removesuffix("%")


def points(difference: float) -> str:
    """Return the difference of two shares, without its sign, in percentage points.

    Examples
    --------
    >>> points(0.0743), points(-0.01)
    ('7.4 points', '1.0 points')
    """
    return f"{abs(100 * difference):.1f} points"


def signed_points(difference: float) -> str:
    """Return a difference of shares in percentage points with its sign, for a cell of a table.

    Examples
    --------
    >>> signed_points(0.0321), signed_points(-0.0004)
    ('+3.2', '0.0')
    """
    if not math.isfinite(difference):
        return UNDEFINED
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text


def number(value: float, digits: int = 2) -> str:
    """Return a number with a few digits; whole numbers have none after the point.

    Examples
    --------
    >>> number(3.0), number(1473), number(0.125), number(float("nan"))
    ('3', '1,473', '0.12', '–')
    """  # noqa: RUF002
    if not math.isfinite(value):
        return UNDEFINED
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{digits}f}"


def one_digit(value: float) -> str:
    """Return a number with one digit after the point, for a cell of a table.

    Examples
    --------
    >>> one_digit(2.0), one_digit(float("nan"))
    ('2.0', '–')
    """  # noqa: RUF002
    return f"{value:,.1f}" if math.isfinite(value) else UNDEFINED


def times(ratio: float) -> str:
    """Return how many times as much, in words.

    Examples
    --------
    >>> times(1.25), times(9153.2), times(2**70), times(float("nan"))
    ('1.2 times', '9,153 times', 'more than a million times', 'an unknown multiple of')
    """
    if math.isnan(ratio):
        return "an unknown multiple of"
    if ratio > 1_000_000:
        return "more than a million times"
    return f"{ratio:.1f} times" if ratio < 100 else f"{ratio:,.0f} times"


def times_by_bits(bits: float) -> str:
    """Return how many times as probable something becomes by so many bits.

    Examples
    --------
    >>> times_by_bits(0.2802), times_by_bits(1), times_by_bits(13.16)
    ('1.2 times', '2.0 times', '9,153 times')
    """
    return times(2.0**bits if bits < 1000 else math.inf)


def people(count: float) -> str:
    """Return a number of people in words.

    Examples
    --------
    >>> people(1), people(1473.2)
    ('1 person', '1,473 people')
    """
    rounded = round(count)
    return "1 person" if rounded == 1 else f"{rounded:,} people"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence.

    Examples
    --------
    >>> listed(["age"]), listed(["age", "sex", "job"]), listed([])
    ('age', 'age, sex and job', '')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def quoted(names: Iterable[str]) -> str:
    """Return names of columns for a sentence, each in quotes.

    Examples
    --------
    >>> quoted(["age", "sex"])
    "'age' and 'sex'"
    """
    return listed([f"'{name}'" for name in names])


def sentence(reason: str) -> str:
    """Return a reason as the end of a sentence: with one full stop.

    Examples
    --------
    >>> sentence("no key matches"), sentence("no key matches.")
    ('no key matches.', 'no key matches.')
    """
    return reason.strip().rstrip(".") + "."


def shortened(name: str, limit: int = 48) -> str:
    """Return a name, cut if it is too long for its place.

    Examples
    --------
    >>> shortened("husband_education", 10)
    'husband_e…'
    """
    return name if len(name) <= limit else f"{name[: limit - 1]}…"


def markdown_table(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown: its heading, a rule, and its lines.

    Examples
    --------
    >>> print(markdown_table(["data", "repU"], [["original", "48.38"]]))
    | data | repU |
    | --- | --- |
    | original | 48.38 |
    """
    rows = [heading, ["---"] * len(heading), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
