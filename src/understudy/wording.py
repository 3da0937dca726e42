"""Numbers and lists in words, so that the same figure reads the same everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_BITS = 20
"""More bits are not told apart: they make something more than a million times as probable."""
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


def mean_count(value: float) -> str:
    """Return a count that may be a mean or expected one: with a digit if it is small.

    Examples
    --------
    >>> mean_count(12.0), mean_count(2.4), mean_count(31.7)
    ('12', '2.4', '32')
    """
    return f"{value:,.0f}" if value >= 10 or value == round(value) else f"{value:.1f}"


def factor(ratio: float) -> str:
    """Return how many times as much, for a cell of a table; absurd factors are capped.

    Examples
    --------
    >>> factor(1.25), factor(9153.2), factor(2**70), factor(float("nan"))
    ('1.2', '9,153', 'more than a million', '–')
    """  # noqa: RUF002
    return UNDEFINED if math.isnan(ratio) else times(ratio).removesuffix(" times")


def bits(gain: float, digits: int = 2) -> str:
    """Return a gain in bits; from 20 bits on, odds are more than a million times as high.

    Examples
    --------
    >>> bits(1.311), bits(69.7), bits(-math.inf), bits(float("nan"))
    ('1.31', 'more than 20', 'less than -20', '–')
    """  # noqa: RUF002
    if math.isnan(gain):
        return UNDEFINED
    if abs(gain) > MOST_BITS:
        return f"more than {MOST_BITS}" if gain > 0 else f"less than -{MOST_BITS}"
    return f"{gain:.{digits}f}"


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


@dataclass(frozen=True)
class Unit:
    """What a record of a table is about, by the word for one and for many."""

    one: str
    many: str

    @classmethod
    def of(cls, many: str) -> Unit:
        """Return the unit of which the word for many or for one is given; "child/children" is both.

        Examples
        --------
        >>> Unit.of("household").many, Unit.of("company").many, Unit.of("person").many
        ('households', 'companies', 'people')
        >>> Unit.of("flights"), Unit.of("companies").one, Unit.of("child/children").one
        (Unit(one='flight', many='flights'), 'company', 'child')
        >>> Unit.of("people").count(1), Unit.of("records").count(1473.2)
        ('1 person', '1,473 records')
        """
        one, both, other = (part.strip() for part in many.partition("/"))
        if both:
            return cls(one, other)
        if one in _SINGULAR:
            return cls(_SINGULAR[one], one)
        if not one.endswith("s") or one.endswith("ss"):
            return cls(one, _plural(one))
        if one.endswith("ies"):
            return cls(f"{one[:-3]}y", one)
        if one.endswith(("sses", "shes", "ches", "xes")):
            return cls(one[:-2], one)
        return cls(one.removesuffix("s"), one)

    @property
    def any(self) -> str:
        """One of them, with its article.

        Examples
        --------
        >>> Unit.of("records").any, Unit.of("employees").any, Unit.of("users").any
        ('a record', 'an employee', 'a user')
        """
        return f"{'an' if self.one[:1].lower() in {*'aeio'} else 'a'} {self.one}"

    def count(self, number: float) -> str:
        """Return a number of them in words."""
        rounded = round(number)
        return f"1 {self.one}" if rounded == 1 else f"{rounded:,} {self.many}"

    def told(self, text: str) -> str:
        """Return a text about people as one about these; what is quoted stays.

        Examples
        --------
        >>> Unit.of("flights").told("Of 9 people who are not in 'people', a person's age is told.")
        "Of 9 flights that are not in 'people', a flight's age is told."
        """
        if self.many == "people":
            return text
        for pattern, word in (
            (r"\b(people|person|persons) who\b", r"\1 that"),
            (r"\bEverybody\b", f"Every {self.one}"),
            (r"\b[Aa] person\b", self.any),
            (r"\b(people|persons)\b", self.many),
            (r"\bPeople\b", self.many.capitalize()),
            (r"\bperson\b", self.one),
        ):
            text = re.sub(rf"(?<!['\"`]){pattern}(?!['\"`](?!s\b))", word, text)
        return text


_SINGULAR = {"people": "person", "children": "child", "women": "woman", "men": "man"}


def _plural(one: str) -> str:
    """Return the word for many.

    Examples
    --------
    >>> _plural("boss"), _plural("day"), _plural("child")
    ('bosses', 'days', 'children')
    """
    known = next((many for many, word in _SINGULAR.items() if word == one), "")
    if known:
        return known
    if one.endswith(("ss", "sh", "ch", "x")):
        return f"{one}es"
    consonant = one.endswith("y") and one[-2:-1] not in {*"aeiou"}
    return f"{one[:-1]}ies" if consonant else f"{one}s"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def seconds(value: float) -> str:
    """Return a time in seconds, with as many digits as it is worth.

    Examples
    --------
    >>> seconds(0.0312), seconds(4.26), seconds(1219.5)
    ('0.03 s', '4.3 s', '1,220 s')
    """
    digits = 2 if value < 1 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} s"


def times_in_words(description: float, generation: float) -> str:
    """Return how long a model took to be fitted and to draw a table; empty if that is not known.

    Examples
    --------
    >>> times_in_words(1.5, 0.25)
    'Description took 1.5 s, and generation 0.25 s'
    >>> times_in_words(1.5, math.nan), times_in_words(math.nan, math.nan)
    ('Description took 1.5 s', '')
    """
    if math.isnan(description):
        return ""
    drawn = "" if math.isnan(generation) else f", and generation {seconds(generation)}"
    return f"Description took {seconds(description)}{drawn}"


def size_of(rows: int, columns: int) -> str:
    """Return the size of a table in words.

    Examples
    --------
    >>> size_of(1473, 10), size_of(1, 1)
    ('1,473 rows x 10 columns', '1 row x 1 column')
    """
    return f"{counted(rows, 'row')} x {counted(columns, 'column')}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names for a sentence.

    Examples
    --------
    >>> listed(["age"]), listed(["age", "sex", "job"]), listed(["age", "sex"], "or"), listed([])
    ('age', 'age, sex and job', 'age or sex', '')
    """
    return f" {word} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
]


def ordinal(number: int) -> str:
    """Return the place of a thing in a row.

    Examples
    --------
    >>> ordinal(3), ordinal(11), ordinal(22)
    ('third', '11th', '22nd')
    """
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


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


def p_value(value: float) -> str:
    """Return a p-value in words; one of a millionth says no more than one of a thousandth.

    Examples
    --------
    >>> p_value(0.0312), p_value(2e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"
