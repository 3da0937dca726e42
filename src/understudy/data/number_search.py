"""Finding how the numbers of a column are written.

The look of a few texts suggests a format. It is taken only if it reads every text of the column,
and it is exact if it also writes every text as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from understudy.data.number_format import (
    DECIMALS_KEPT,
    LAKHS,
    MONEY,
    WIDEST,
    Negative,
    NumberFormat,
    Plus,
    digits_in,
)

FEWEST_FIXED = 2
"""With one decimal, the shortest form of a number is the same."""
MOST_FIXED = 22
"""Exact decimals of 38 digits hold so many, and the largest number that is written with them."""
USUAL = 0.8
"""If so many numbers have as many decimals, the others may be odd ones."""
MOST_ODD, FEWEST_ODD = 3, 5
"""So few numbers may be written in another way than the others, and so many records have each."""
FEWEST_FRACTIONS = 10
"""So many different numbers tell fractions from lists of answers."""
_GAP = "[ \u00a0\u202f]?"
_MINUS = ("\u2212", "\u2013")
"""What typesetters write for a minus: its own sign, and a dash."""
_PLAIN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf")
_UNIT = r"[A-Za-z\u00b0\u00b5\u03bc]{1,8}(?:[\u00b2\u00b3]|/[A-Za-z]{1,3}[\u00b2\u00b3]?)?"
_DRESSED = re.compile(
    rf"(?P<open>\()?(?P<before>[-+])?(?P<prefix>(?:{MONEY}){_GAP})?(?P<inside>[-+])?"
    rf"(?P<number>\d[\d.,'’ \u00a0\u202f]*|\.\d+)"  # noqa: RUF001
    rf"(?P<suffix>{_GAP}(?:{MONEY}|%|‰|{_UNIT}))?(?P<after>-)?(?P<close>\))?"
)
_SPACES = " \u00a0\u202f'’"  # noqa: RUF001
_SCIENTIFIC = re.compile(r"[-+]?\d(?:\.(\d*))?[eE][-+]\d\d+")
LEADING_ZERO = r"^[-+]?0\d"
"""Zeros in front make a code of a number."""
_ROWS_FIRST = 1_000
_MAGNITUDES = (("k", "K"), ("m", "M", "mn", "Mn", "Mio", "mio"), ("b", "B", "bn", "Bn", "Mrd", "G"))
"""What may stand after thousands, millions and billions."""


@dataclass(frozen=True)
class FoundNumbers:
    """A format that reads all texts of a column, what it reads, and whether it is exact."""

    format: NumberFormat
    values: pl.Series
    exact: bool


def looks_like_numbers(sample: Sequence[str], decimal: str) -> bool:
    """Return whether some different texts may all be numbers."""
    return all(
        _PLAIN.fullmatch(text if decimal == "." else text.replace(",", "."))
        or _DRESSED.fullmatch(text)
        for text in map(_bare, sample)
    )


def find_numbers(texts: pl.Series, sample: Sequence[str], decimal: str) -> FoundNumbers | None:
    """Return how the numbers of a column are written, or None if they are other texts.

    Parameters
    ----------
    texts : Series
        All texts, null where they are missing.
    sample : sequence of str
        Some of the different ones.
    decimal : {".", ","}
        The decimal sign that is usual in the file.
    """
    bare = [*map(_bare, sample)]
    if bare != [*sample]:
        return _in_margins(
            texts, bare, next((one for one in _MINUS if one in "".join(sample)), "-"), decimal
        )
    plain = [text if decimal == "." else text.replace(",", ".") for text in sample]
    if all(map(_PLAIN.fullmatch, plain)) and not (
        decimal == "," and any("." in text for text in sample)
    ):
        found = _plain_numbers(texts, plain, decimal)
        if found is not None:
            return found
    guess = _dressed(sample, decimal)
    return None if guess is None else _dressed_numbers(texts, guess)


def _bare(text: str) -> str:
    """Return a text without spaces around it, and with a plain minus."""
    text = text.strip(" ")
    return text.replace(text[0], "-", 1) if text[:1] in _MINUS else text


def _in_margins(
    texts: pl.Series, sample: Sequence[str], minus: str, decimal: str
) -> FoundNumbers | None:
    """Return how numbers with spaces around them are written, or with another minus than usual."""
    inner = texts.str.strip_chars(" ").str.replace(f"^{minus}", "-")
    found = find_numbers(inner, sample, decimal)
    if found is None:
        return None
    form = replace(found.format, minus=minus)
    for one in _margins(texts, form):
        if found.exact and _writes(one, texts, found.values):
            return FoundNumbers(one, found.values, exact=True)
    return FoundNumbers(replace(form, width=-1), found.values, exact=False)


def _margins(texts: pl.Series, form: NumberFormat) -> Iterator[NumberFormat]:
    """Yield a format with the spaces that may stand around all numbers."""
    yield form
    known = texts.drop_nulls()
    widths = known.str.len_chars().unique()
    if len(widths) == 1 and widths[0] <= WIDEST:
        yield replace(form, width=widths[0])
    before = _fewest(known.str.len_chars() - known.str.strip_chars_start(" ").str.len_chars())
    after = _fewest(known.str.len_chars() - known.str.strip_chars_end(" ").str.len_chars())
    yield replace(
        form,
        prefix=" " * before + form.prefix,
        suffix=form.suffix + " " * after,
        negative="inside" if before and not form.prefix else form.negative,
    )


def _fewest(counts: pl.Series) -> int:
    return int(counts.to_numpy().min(initial=WIDEST))


def unlike(texts: pl.Series, sample: Sequence[str], decimal: str) -> pl.Series:
    """Return the texts that cannot be read in the format that a sample suggests."""
    guess = _dressed(sample, decimal) or NumberFormat(decimal=decimal)
    return texts.filter(~texts.str.contains(guess.pattern()))


def _plain_numbers(texts: pl.Series, sample: Sequence[str], decimal: str) -> FoundNumbers | None:
    gaps = texts.null_count()
    whole = None
    if not any(set(text) & {*".eEi"} for text in sample):
        whole = _whole_numbers(texts, gaps, NumberFormat(whole=True))
        if whole is not None and whole.exact:
            return whole
    values = NumberFormat(decimal=decimal).parse(texts)
    if values.null_count() != gaps:
        return None
    forms = _limited(list(_real_formats(sample, decimal)), texts)
    found = _chosen(texts, values, forms)
    return whole if whole is not None and not found.exact else found


def _limited(forms: Sequence[NumberFormat], texts: pl.Series) -> list[NumberFormat]:
    """Return formats with the most decimals of any number, and the most digits if they are many.

    Numbers of which one has an exponent have no such limits.
    """
    first = forms[0]
    texts = texts.str.strip_suffix(first.suffix) if first.suffix else texts
    if all(form.places is not None for form in forms) or texts.str.contains("[eE]").any():
        return [*forms]
    point = texts.str.find(first.decimal, literal=True).cast(pl.Int64)
    digits = _largest(texts.str.len_bytes() - point - 1)
    significant = 0
    if digits > DECIMALS_KEPT:
        significant = _largest(digits_in(texts, first.decimal))
    return [
        replace(form, digits=digits, significant=significant) if form.places is None else form
        for form in forms
    ]


def _largest(counts: pl.Series) -> int:
    return int(counts.cast(pl.Int64).fill_null(0).to_numpy().max(initial=0))


def _whole_numbers(texts: pl.Series, gaps: int, form: NumberFormat) -> FoundNumbers | None:
    values = form.parse(texts)
    if values.null_count() != gaps:
        return None
    signs = [form, *(replace(form, plus=plus) for plus in ("positive", "zero"))]
    return _chosen(texts, values, signs)


def _real_formats(sample: Sequence[str], decimal: str) -> Iterator[NumberFormat]:
    """Yield the formats that the sample suggests, from the likeliest on."""
    base = NumberFormat(
        decimal=decimal,
        bare=any(text.lstrip("+-").startswith(".") for text in sample),
        capital=any("E" in text for text in sample),
    )
    places = Counter(len(text.partition(".")[2]) if "." in text else 0 for text in sample)
    usual, times = places.most_common(1)[0]
    usual = usual if times >= USUAL * len(sample) else 0
    signed = any(text.startswith("+") for text in sample)
    scientific = {
        len(match[1] or "") if (match := _SCIENTIFIC.fullmatch(text)) else -1 for text in sample
    }
    signs: tuple[Plus, ...] = ("", "positive", "zero") if signed else ("",)
    for form in (replace(base, plus=plus) for plus in signs):
        if len(scientific) == 1 and min(scientific) >= 0:
            yield replace(form, places=min(scientific), exponents="always")
        elif FEWEST_FIXED <= usual <= MOST_FIXED:
            yield replace(form, places=usual)
        for exponents in ("late", "early", "short"):
            for trimmed in (False, True):
                yield replace(form, trimmed=trimmed, exponents=exponents)


def _chosen(texts: pl.Series, values: pl.Series, forms: Sequence[NumberFormat]) -> FoundNumbers:
    """Return the first format that writes all texts as they are, else the closest as inexact."""
    some, some_values = texts.head(_ROWS_FIRST), values.head(_ROWS_FIRST)
    for form in forms:
        if _writes(form, some, some_values) and _writes(form, texts, values):
            return FoundNumbers(form, values, exact=True)
    for form in forms:
        found = _with_odd(form, texts, values)
        if found is not None:
            return found
    free = [form for form in forms if form.places is None] or [replace(forms[0], places=None)]
    best = max(free, key=lambda form: int((form.rendered(some_values) == some).sum()))
    return FoundNumbers(best, values, exact=False)


def _with_odd(form: NumberFormat, texts: pl.Series, values: pl.Series) -> FoundNumbers | None:
    """Return a format that writes all texts as they are but for some numbers of many records."""
    for some in (texts.head(_ROWS_FIRST), texts):
        odd = some.filter(form.rendered(values.head(len(some))) != some)
        if odd.n_unique() > MOST_ODD:
            return None
    if odd.str.contains(LEADING_ZERO).any():
        return None
    held = odd.alias("text").value_counts(name="rows")
    if not len(held) or held["rows"].min() < FEWEST_ODD:  # type: ignore[operator]
        return None
    form = replace(form, odd=tuple(sorted(held["text"].to_list())))
    return FoundNumbers(form, values, exact=True) if _writes(form, texts, values) else None


def _writes(form: NumberFormat, texts: pl.Series, values: pl.Series) -> bool:
    return form.rendered(values).equals(texts)


def _dressed(sample: Sequence[str], decimal: str) -> NumberFormat | None:
    """Return the format of numbers with signs of money, percent or thousands, by a sample."""
    found = [_DRESSED.fullmatch(text) for text in sample]
    if not sample or not all(found):
        return None
    matches = [match.groupdict(default="") for match in found if match]
    magnitudes = _magnitudes({match["suffix"] for match in matches})
    if magnitudes:
        matches = [match | {"suffix": "", "sign": match["suffix"]} for match in matches]
    dress = {(match["prefix"], match["suffix"]) for match in matches}
    if len(dress) > 1:
        return None
    ((prefix, suffix),) = dress
    numbers = [match["number"].rstrip() for match in matches]
    suffix_gap = {match["number"][len(match["number"].rstrip()) :] for match in matches}
    suffix = next(iter(suffix_gap)) + suffix if len(suffix_gap) == 1 else suffix
    signs = _signs_of_numbers(numbers, decimal, prefix.strip() or suffix.strip())
    if signs is None:
        return None
    point, thousands = signs
    where = _negative(matches)
    if where is None or not (
        prefix or suffix or thousands or point != decimal or where != "before" or magnitudes
    ):
        return None
    if magnitudes:
        numbers = [match["number"] for match in matches if match["sign"]]
    plus = any("+" in (match["before"], match["inside"]) for match in matches)
    places = {len(number.partition(point)[2]) if point in number else 0 for number in numbers}
    return NumberFormat(
        whole=places == {0} and not magnitudes,
        places=min(places) if len(places) == 1 and 0 < min(places) <= MOST_FIXED else None,
        digits=max(places) if magnitudes else 0,
        decimal=point,
        thousands=thousands,
        lakhs=bool(thousands) and _in_lakhs(numbers, point, thousands),
        prefix=prefix,
        suffix=suffix,
        negative=where,
        plus="positive" if plus else "",
        bare=any(number.startswith(point) for number in numbers),
        magnitudes=magnitudes,
    )


def _negative(matches: Sequence[Mapping[str, str]]) -> Negative | None:
    """Return where the minus stands; None if all are in brackets: (1), (2) may be labels."""
    brackets = [bool(match["open"] and match["close"]) for match in matches]
    if any(brackets):
        return None if all(brackets) else "brackets"
    if any(match["after"] for match in matches):
        return "after"
    return "inside" if any(match["inside"] for match in matches) else "before"


def _magnitudes(suffixes: set[str]) -> tuple[str, ...]:
    """Return what stands after thousands, millions and so on, if numbers differ in it."""
    signs = suffixes - {""}
    if len(suffixes) == 1 or not signs:
        return ()
    found = []
    for known in _MAGNITUDES:
        own = {sign for sign in signs if sign.strip(_SPACES) in known}
        if len(own) > 1:
            return ()
        signs -= own
        found.append(own.pop() if own else "")
    # 850 and 3m may be lengths; and millions may not be left out between thousands and billions.
    at = [place for place, sign in enumerate(found) if sign]
    if signs or not at or at != list(range(len(at))):
        return ()
    return tuple(found[: len(at)])


def _signs_of_numbers(numbers: Sequence[str], decimal: str, dress: str) -> tuple[str, str] | None:
    """Return the decimal sign and the sign between thousands of some numbers."""
    used = {sign for number in numbers for sign in number if not sign.isdigit()}
    spaces = used & {*_SPACES}
    points = used & {*".,"}
    if len(spaces) > 1 or (spaces and len(points) > 1):
        return None
    if spaces:
        return (next(iter(points), decimal), next(iter(spaces)))
    if not points:
        return decimal, ""
    if len(points) == 2:
        both = [number for number in numbers if "." in number and "," in number]
        if not both:
            # 1,234 and 5.50 in one column: the one in groups of three parts thousands.
            grouped = [sign for sign in ".," if _all_grouped(numbers, sign)]
            if len(grouped) != 1:
                return None
            return ("," if grouped[0] == "." else "."), grouped[0]
        point = max(both[0], key=lambda sign: both[0].rfind(sign) if sign in ".," else -1)
        return point, "," if point == "." else "."
    (sign,) = points
    if any(number.count(sign) > 1 for number in numbers):
        return ("," if sign == "." else "."), sign
    if sign == decimal:
        # Money has no three decimals, but for prices in dollars such as $3.459.
        pounds = sign == "." and dress != "$" and re.fullmatch(MONEY, dress)
        return (",", ".") if pounds and _all_grouped(numbers, sign) else (sign, "")
    if _all_grouped(numbers, sign):
        return decimal, sign
    # Another decimal sign than the file's: "1,2" beside "3" may be two answers.
    places = {len(number.partition(sign)[2]) if sign in number else 0 for number in numbers}
    sure = (
        bool(dress)
        or len(places) == 1
        or any(number.startswith(f"0{sign}") for number in numbers)
        or _are_fractions(numbers, sign)
    )
    return (sign, "") if sure else None


def _are_fractions(numbers: Sequence[str], sign: str) -> bool:
    """Return whether what follows a sign is a fraction, such as 20,34, and no second answer.

    Answers such as 3,12 are listed in their order, without zeros in front. So a zero tells a
    fraction, and so does a second part below the first, if parts are of two digits and more.
    """
    parts = [number.partition(sign) for number in numbers if sign in number]
    if len(parts) < FEWEST_FRACTIONS or max(len(after) for _, _, after in parts) < FEWEST_FIXED:
        return False
    zeros = any(len(after) > 1 and after.startswith("0") for _, _, after in parts)
    fallen = sum(int(before or 0) > int(after or 0) for before, _, after in parts)
    return zeros or fallen >= len(parts) / 10


def _all_grouped(numbers: Sequence[str], sign: str) -> bool:
    """Return whether a sign always stands before groups of three digits."""
    pattern = re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(sign)}\d{{3}})+(?:[.,]\d+)?")
    return all(pattern.fullmatch(number) for number in numbers if sign in number)


def _in_lakhs(numbers: Sequence[str], point: str, sign: str) -> bool:
    """Return whether groups of digits are those of India, as in 12,34,567."""
    shape = re.compile(LAKHS.replace("GROUP", re.escape(sign)))
    wholes = [number.partition(point)[0] for number in numbers]
    grouped = [whole for whole in wholes if sign in whole]
    return all(map(shape.fullmatch, grouped)) and not _all_grouped(grouped, sign)


def _dressed_numbers(texts: pl.Series, guess: NumberFormat) -> FoundNumbers | None:
    gaps = texts.null_count()
    if not texts.str.contains(guess.pattern()).all():
        return None
    if guess.whole:
        whole = _whole_numbers(texts, gaps, guess)
        if whole is not None:
            return whole
        guess = replace(guess, whole=False)
    values = guess.parse(texts)
    if values.null_count() != gaps:
        return None
    forms = [guess]
    if guess.plus:
        forms.append(replace(guess, plus="zero"))
    if guess.places is None:
        forms = forms if guess.magnitudes else _limited(forms, texts)
        forms = [replace(form, trimmed=trimmed) for form in forms for trimmed in (False, True)]
    return _chosen(texts, values, forms)
