"""Whether a column has the look of an identifier: its name, and whether its values have a law.

That all values differ says little by itself: incomes and survival times differ, too. Identifiers
are given out so that they differ. Either the name says so, or they count up, or they fill a block
of numbers evenly, or no two are the same although chance would have brought pairs.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.values import to_numpy

FEWEST = 20
"""In a shorter column, all values may differ by chance: its name alone decides."""

FEWEST_NAMED = 5
"""In a shorter column, not even a name such as `id` makes an identifier."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, to look others up in."""
    return frozenset(text.split())


_OWN = word_set("""
    id ids uid uuid guid oid pid rowid userid personid patientid ssn sin nin nino ssid passport iban
    imei vin mrn nhs cpr pesel bsn dni nif cpf siren siret identifier identifiant identificador
    kennung ausweis matricule username
""")
"""Words of a name that say that the values stand for somebody or something."""

_CONTACT = word_set("""
    email mail phone telephone telefon tel mobile handy fax login hash token
""")
"""Words that say so as well, unless others say what is measured: `phone minutes`."""

_NUMBERING = word_set("""
    key keys pk no nr num number nummer numero code codes ref reference serial account acct card
    licence license plate index idx row record rownum rownumber barcode sku isbn ean invoice order
    ticket case
""")
"""Words of a name that often say so; `number of` and the like do not."""

_MEASURED = word_set("""
    age ages year years yr month months week weeks day days hour hours minute minutes second seconds
    time times date duration survival delay wait income salary wage pay earnings price cost costs
    amount value values total sum balance revenue sales turnover budget fee tax rent population pop
    inhabitants people persons count counts frequency visits steps weight height length width depth
    size area distance km miles altitude elevation volume speed rate score points temperature
    pressure mass dose energy power calories gdp debt asset assets timestamp epoch lat lon latitude
    longitude votes views clicks einkommen alter dauer zeit preis betrag umsatz jahr tage
""")
"""Words of a name that say that the values measure or count something."""

_MEASURED_ENDS = ("time", "days", "date", "income", "price", "zeit", "preis")

_CODES = word_set("""
    code codes zip zipcode postcode postal plz icd naics nace isco isic fips region district county
    municipality department dept branch tract class category type occupation industry iso hs cpt atc
""")
"""Words of a name that say that whole numbers may be labels."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_COUNTS = re.compile(r"(?i)(?:number|num|no|nr|n)[ _.]*(?:of|von|de)(?![a-z])|(?:^|[ _.])n[ _.]")

_MONEY = (
    r"[-+(]?\s*[^\w\s.,()+-]?\s*"
    r"(?:\d{1,3}(?:[ ,.'\u00a0\u202f]\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d+)"
    r"(?:[.,]\d+)?\s*[^\w\s.,]?\)?"
)
_REAL = r"[-+]?\d+\.\d+"
_NUMBER_TEXT = re.compile(
    rf"^(?:{_MONEY}|[-+]?\d*[.,]\d+(?:[eE][-+]?\d+)?\s*%?|[-+]?\d+\s*%"
    rf"|\(?{_REAL}[,; ]\s*{_REAL}\)?)$"
)
DATE_TEXT = (
    r"^(?:\d{4}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/.](?:0?[1-9]|[12]\d|3[01])[-/.](?:\d{4}|\d{2})"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/. ]?[A-Za-z]{3,9}[-/., ]*\d{2,4})"
    r"(?:[T ]\d{1,2}:\d{2}.*)?$|^\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?: ?[AaPp]\.?[Mm]\.?)?$"
)
_NEARLY_ALL = 0.9
"""Share of the records with a number of their own that an identifier by name needs: a record may be
in the table twice."""

_ALL_BUT = 0.05
"""Share of texts that need not look like numbers or dates for the others to count as such."""


def words_of(name: str) -> list[str]:
    """Return the words in the name of a column, in small letters.

    Examples
    --------
    >>> words_of("patientID"), words_of("house_no2"), words_of("Zip code")
    (['patient', 'id'], ['house', 'no', '2'], ['zip', 'code'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def named_like_one(name: str) -> bool:
    """Whether a column's name alone says that its values stand for somebody or something."""
    words = words_of(name)
    if not _OWN.isdisjoint(words):
        return True
    return not _CONTACT.isdisjoint(words) and not named_like_measure(name)


def named_like_measure(name: str) -> bool:
    """Whether a column's name says that its values measure or count something."""
    words = words_of(name)
    return not _MEASURED.isdisjoint(words) or any(one.endswith(_MEASURED_ENDS) for one in words)


def named_like_count(name: str) -> bool:
    """Whether a column's name says that it counts: `number of` and the like."""
    return bool(_COUNTS.search(name))


def named_like_codes(name: str) -> bool:
    """Whether a column's name says that its numbers may be labels."""
    return not _CODES.isdisjoint(words_of(name))


def _named_like_numbering(name: str) -> bool:
    if named_like_count(name) or named_like_measure(name):
        return False
    return not _NUMBERING.isdisjoint(words_of(name))


def why_number_is_one(name: str, values: NDArray[Any], present: int) -> str:
    """Return why whole numbers look like identifiers; empty if they do not.

    Parameters
    ----------
    name : str
        The column's name.
    values : ndarray
        The distinct whole numbers, in increasing order.
    present : int
        How many records have a number.

    Notes
    -----
    Without a name that says it, numbers are identifiers if most follow the one before at the same
    step; or if they are spread evenly over a range, or over all numbers that begin alike, although
    so many draws would have brought equal ones. A name that says what is measured overrules this.

    Examples
    --------
    >>> why_number_is_one("x", np.arange(1, 101), 100)
    'they count up'
    >>> why_number_is_one("income", np.arange(1, 101) ** 2, 100)
    ''
    """
    if present < FEWEST_NAMED or len(values) < _NEARLY_ALL * present:
        return ""
    if named_like_one(name):
        return "the name says so"
    if len(values) != present or present < FEWEST:
        return ""
    if _named_like_numbering(name):
        return "the name says so"
    if named_like_measure(name) or looks_like_epoch(values):
        return ""
    spread = values.astype(np.float64)
    gaps = np.diff(spread)
    steps, times = np.unique(gaps, return_counts=True)
    if times.max() >= 0.5 * len(gaps):
        # Every second number follows the one before, or nearly: a counter with gaps.
        return "they count up" if steps[times.argmax()] == 1 else "they count up in equal steps"
    if _pairs_expected(spread) >= 3 and _is_even(spread, spread[0], spread[-1]):
        return "they are spread evenly and none occurs twice"
    low, high = block_of(values)
    if high - low >= 9_999 and len(str(int(values[0]))) >= 5 and _is_even(spread, low, high):
        return f"they are spread evenly over all numbers of {len(str(int(values[0])))} digits"
    return ""


def looks_like_epoch(values: NDArray[Any]) -> bool:
    """Whether whole numbers may be times, in seconds or milliseconds since 1970.

    Examples
    --------
    >>> looks_like_epoch(np.array([1_500_000_000, 1_600_000_000]))
    True
    """
    if not len(values):
        return False
    low, high = int(values[0]), int(values[-1])
    scales = (1, 1_000, 1_000_000, 1_000_000_000)
    return any(600_000_000 * one <= low and high < 2**31 * one for one in scales)


def block_of(values: NDArray[Any]) -> tuple[float, float]:
    """Return the first and last of all numbers with the digits that sorted `values` begin with.

    Examples
    --------
    >>> block_of(np.array([483_125, 483_990]))
    (483000.0, 483999.0)
    """
    low, high = str(int(values[0])), str(int(values[-1]))
    if len(low) != len(high) or low.startswith("-"):
        return 0.0, 0.0
    shared = next((n for n, (a, b) in enumerate(zip(low, high, strict=True)) if a != b), len(low))
    rest = len(low) - shared
    first = low[:shared] + ("0" * rest if shared else "1" + "0" * (rest - 1))
    return float(first), float(low[:shared] + "9" * rest)


def _pairs_expected(values: NDArray[np.float64]) -> float:
    """Return how many pairs of equal numbers chance would bring, were they drawn independently.

    Half the sum, over the numbers, of how many others lie within one of it: taken from the distance
    to the neighbours some places away.
    """
    reach = max(2, int(np.sqrt(len(values)) / 2))
    places = np.arange(len(values))
    above = np.minimum(places + reach, len(values) - 1)
    below = np.maximum(places - reach, 0)
    return float(0.5 * np.sum((above - below) / (values[above] - values[below] + 1)))


def _is_even(values: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether sorted numbers are spread evenly from `low` to `high` (distance of Kolmogorov)."""
    expected = (values - low + 0.5) / (high - low + 1)
    seen = (np.arange(len(values)) + 0.5) / len(values)
    return bool(np.abs(expected - seen).max() <= 0.1 + 0.5 / np.sqrt(len(values)))


def text_in_disguise(values: pa.Array, times: NDArray[np.int64] | None = None) -> str:
    """Return what texts are if nearly all are numbers or dates: these are never identifiers.

    `times` says how many records have each, if none is missing; one if it is not given.

    Examples
    --------
    >>> text_in_disguise(pa.array(["$7,061.73", "$12.00"])), text_in_disguise(pa.array(["A-1"]))
    ('numbers', '')
    """
    texts = pc.utf8_trim_whitespace(values.drop_null().cast(pa.string()))
    if not len(texts):
        return ""
    records = np.ones(len(texts), np.int64) if times is None else times

    def matching(pattern: str) -> NDArray[np.bool_]:
        return to_numpy(pc.match_substring_regex(texts, pattern))

    enough = (1 - _ALL_BUT) * int(records.sum())
    if int(records[matching(DATE_TEXT)].sum()) >= enough:
        return "dates or times"
    matched = matching(_re2(_NUMBER_TEXT))
    # Bare digits may be a house number or an id with leading zeros: a sign of a number is needed.
    signs = matching(r"[.,%$\x{20ac}\x{a3}\x{a5}]")
    told = int(records[matched & signs].sum())
    return "numbers" if int(records[matched].sum()) >= enough and told >= enough / 2 else ""


def _re2(pattern: re.Pattern[str]) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", r"\\x{\1}", pattern.pattern)
