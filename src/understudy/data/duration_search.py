"""Finding how the durations of a column are written.

As with dates, a format is taken only if it reads every different text and writes each as it was.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from understudy.data.duration_format import (
    CALENDAR_SIZES,
    MOST_DIGITS,
    SIZES,
    DurationFormat,
    Fraction,
    Negative,
    Zeros,
)

_WORDS: dict[str, str] = {
    "year": "year/years y/y yr/yrs yr./yrs. Jahr/Jahre J./J. an/ans año/años anno/anni jaar/jaar "
    "ano/anos",
    "month": "month/months mo/mo mon/mons mth/mths Monat/Monate mois/mois mes/meses mese/mesi "
    "maand/maanden mês/meses m/m",
    "week": "week/weeks w/w wk/wks Woche/Wochen semaine/semaines semana/semanas "
    "settimana/settimane week/weken",
    "day": "day/days d/d Tag/Tage jour/jours j/j día/días dia/dias giorno/giorni dag/dagen",
    "hour": "hour/hours h/h hr/hrs hr/hr hr./hrs. Stunde/Stunden Std./Std. Std/Std heure/heures "
    "hora/horas ora/ore uur/uur uur/uren",
    "minute": "minute/minutes m/m min/min min/mins min./min. Minute/Minuten minuto/minutos "
    "minuto/minuti minuut/minuten",
    "second": "second/seconds s/s sec/sec sec/secs sec./sec. Sekunde/Sekunden Sek./Sek. "
    "Sek/Sek seconde/secondes segundo/segundos secondo/secondi seconde/seconden",
}
"""What stands after one and after several of a unit."""
_PART = r"\d{1,9} ?[^\W\d_]+\.?"
_WORDS_SHAPE = re.compile(rf"-?{_PART}(?:(?:, | | and |, and )?{_PART})*")
_ISO_SHAPE = re.compile(
    r"-?P(?=.)(?:\d+W)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d{1,9})?S)?)?"
)
_CLOCK_SHAPE = re.compile(r"(?:-?\d+( days?,? )\+?)?-?\d{1,6}:[0-5]\d(:[0-5]\d)?(\.\d{1,9})?")
_ZEROS: tuple[Zeros, ...] = ("none", "inner", "kept")
_FRACTIONS: tuple[Fraction, ...] = ("fixed", "some", "needed")


def looks_like_duration(text: str) -> bool:
    """Return whether a text may be a duration."""
    shapes = (_CLOCK_SHAPE, _ISO_SHAPE, _WORDS_SHAPE)
    return any(shape.fullmatch(text) for shape in shapes)


def find_durations(different: pl.Series) -> DurationFormat | None:
    """Return how durations are written, or None if some texts are others.

    Parameters
    ----------
    different : Series
        The different texts, none missing. The first decides the form.

    Examples
    --------
    >>> find_durations(pl.Series(["1 day 3 hours", "2 days", "45 minutes"])).words
    'durations as 9 days 9 hours 9 minutes, in minutes'
    """
    if not len(different):
        return None
    if _CLOCK_SHAPE.fullmatch(different[0]):
        candidates = _clocks(different)
    elif _ISO_SHAPE.fullmatch(different[0]):
        candidates = _iso(different)
    else:
        candidates = _in_words(different)
    return next((form for form in candidates if _writes(form, different)), None)


def _writes(form: DurationFormat, different: pl.Series) -> bool:
    values = different.to_frame("text").select(form.parsed(pl.col("text"))).to_series()
    return not values.null_count() and form.rendered(values).equals(different)


def _decimals(different: pl.Series) -> int:
    """Return the most digits after a point."""
    digits = different.str.extract(r"\.(\d+)").str.len_bytes().max()
    return digits if isinstance(digits, int) else 0


def _clocks(different: pl.Series) -> Iterator[DurationFormat]:
    if not different.str.contains(f"^{_CLOCK_SHAPE.pattern}$".replace("(?:-?", "(?:[-+]?")).all():
        return
    digits = _decimals(different)
    three = bool(different.str.contains(r":\d\d:").all())
    if not three and not (digits or _counts_on(different)):
        return
    units = ("hour", "minute", "second") if three else ("minute", "second")
    units = units if three or digits else ("hour", "minute")
    found = different.str.extract(r"\d+( days?,? )").drop_nulls().unique().to_list()
    negatives: tuple[Negative, ...] = ("minus",)
    if found:
        negatives = ("floored" if "," in found[0] else "plus", "minus")
    labels = ((_label(found, "day"), _label(found, "days")),) if found else ()
    for padded, negative, fraction, zeros in itertools.product(
        (False, True),
        negatives,
        _FRACTIONS if digits else _FRACTIONS[:1],
        (_ZEROS[0], _ZEROS[-1]) if found else _ZEROS[-1:],
    ):
        yield DurationFormat(
            "clock",
            ("day", *units) if found else units,
            labels,
            zeros=zeros,
            padded=padded,
            negative=negative,
            digits=digits,
            fraction=fraction,
        )


def _counts_on(different: pl.Series) -> bool:
    """Return whether 25:07 counts beyond a day, and is no time, ratio or score.

    The second number then has zeros in front.
    """
    return bool(different.str.contains(r":0\d$").any())


def _label(found: list[str], word: str) -> str:
    """Return what stands after the days; pandas writes 1 days."""
    if all(" days" in label for label in found):
        return found[0] if "," not in found[0] else found[0].replace("days", word)
    return re.sub("days?", word, found[0])


def _iso(different: pl.Series) -> Iterator[DurationFormat]:
    if not different.str.contains(r"^-?P[\dWDTHMS.]+$").all():
        return
    time = different.str.extract("T(.*)$").fill_null("")
    letters = {
        "week": different.str.contains("W"),
        "day": different.str.contains("D"),
        "hour": time.str.contains("H"),
        "minute": time.str.contains("M"),
        "second": time.str.contains("S"),
    }
    units = tuple(unit for unit, has in letters.items() if has.any())
    digits = min(_decimals(different), MOST_DIGITS)
    if not units:
        return
    for zeros, fraction in itertools.product(_ZEROS, _FRACTIONS if digits else _FRACTIONS[:1]):
        yield DurationFormat("iso", units, zeros=zeros, digits=digits, fraction=fraction)


def _in_words(different: pl.Series) -> Iterator[DurationFormat]:
    if not different.str.contains(f"^{_WORDS_SHAPE.pattern}$").all():
        return
    gaps = different.str.replace("^-", "").str.replace_all(_PART, "\0").unique()
    between = gaps.str.strip_chars("\0").str.split("\0").explode().unique().to_list()
    between = [gap for gap in between if gap is not None]
    single = not gaps.str.contains("\0.*\0").any()
    # Of three parts or more, a gap of nothing is between each two.
    between = [gap for gap in between if gap] or [""]
    if len(between) > 1:
        return
    seen = (
        different.str.extract_all(_PART)
        .explode()
        .to_frame("token")
        .select(
            label=pl.col("token").str.replace(r"^\d+", ""),
            one=pl.col("token").str.extract(r"^(\d+)").cast(pl.Int64) == 1,
        )
        .unique()
        .sort("label", "one")
        .rows()
    )
    for family in (SIZES, CALENDAR_SIZES):
        found = _units(seen, [*family])
        if found is None or (single and len(found) > 1):
            continue  # 1 week, 10 days, 3 weeks may be answers
        plain = DurationFormat("words", tuple(found), tuple(found.values()), between[0])
        for zeros, padded in itertools.product(_ZEROS, (False, True)):
            yield replace(plain, zeros=zeros, padded=padded)


def _units(seen: list[tuple[str, bool]], family: list[str]) -> dict[str, tuple[str, str]] | None:
    """Return the units with what stands after one and several of them; None if some are others."""
    found: dict[str, tuple[str, str]] = {}
    left = {*seen}
    for unit in family:
        for singular, plural in (pair.split("/") for pair in _WORDS[unit].split()):
            own = {
                (label, one)
                for label, one in left
                if label.strip().lower() == (singular if one else plural).lower()
            }
            if own and own >= {seen for seen in left if _same_word(seen[0], singular, plural)}:
                label = min(own)[0]
                gap = " " if label.startswith(" ") else ""
                found[unit] = (gap + _cased(singular, label), gap + _cased(plural, label))
                left -= own
                break
    return found if found and not left else None


def _same_word(label: str, singular: str, plural: str) -> bool:
    return label.strip().lower() in (singular.lower(), plural.lower())


def _cased(word: str, like: str) -> str:
    bare = like.strip()
    if bare.isupper() and (len(bare) > 1 or len(word) == 1):
        return word.upper()
    return word.lower() if bare.islower() else word.capitalize()
