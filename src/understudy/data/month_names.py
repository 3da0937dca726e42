"""Names of months in languages other than English, and the ways in which they are shortened."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

Months = tuple[str, ...]
"""Twelve names."""

_WRITTEN = (
    # German, also of Austria
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Jänner Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.",
    "Jan. Feb. Mär. Apr. Mai Jun. Jul. Aug. Sep. Okt. Nov. Dez.",
    "Jan. Feb. Mrz. Apr. Mai Jun. Jul. Aug. Sep. Okt. Nov. Dez.",
    # French
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "jan. fév. mar. avr. mai jun. jul. aoû. sep. oct. nov. déc.",
    # Spanish
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ene. feb. mar. abr. may. jun. jul. ago. sept. oct. nov. dic.",
    "ene. feb. mar. abr. may. jun. jul. ago. sep. oct. nov. dic.",
    # Italian
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "gen. feb. mar. apr. mag. giu. lug. ago. set. ott. nov. dic.",
    # Dutch
    "januari februari maart april mei juni juli augustus september oktober november december",
    "jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec.",
    # Portuguese
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
)
_UMLAUTS = str.maketrans({"ä": "ae"})


def months_named(name: str) -> Iterator[Months]:
    """Yield lists of twelve months, written as `name` is, that have it.

    Examples
    --------
    >>> next(months_named("DÉC."))[:3]
    ('JANV.', 'FÉVR.', 'MARS')
    """
    for months in _all_lists():
        if name.lower() in months:
            if name.isupper():
                yield tuple(month.upper() for month in months)
            elif name.islower():
                yield months
            else:
                yield tuple(month.capitalize() for month in months)


@cache
def _all_lists() -> tuple[Months, ...]:
    """Return all lists in small letters, with and without dots and accents, each once."""
    written = [months.lower() for months in _WRITTEN]
    bare = [*written, *(months.replace(".", "") for months in written)]
    plain = (months.translate(_UMLAUTS) for months in bare)
    return tuple(
        tuple(months.split(" "))
        for months in dict.fromkeys([*bare, *plain, *map(_without_accents, bare)])
    )


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))
