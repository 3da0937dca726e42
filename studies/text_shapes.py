"""Whether a synthetic CSV file is written as the original: shapes, words, quotes, lines.

A text's shape is what is left when digits become 9 and letters become a or A, with runs collapsed:
25/11/63 and 7/3/2018 differ from 1963-11-25, TRUE from true, $7,061.73 from 7061.73. Decimals keep
their places, and codes with leading zeros their width.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from understudy.data.dialect import ROW
from understudy.wording import percent, shortened

MISSING_WORDS = frozenset(
    {"", ".", "-", "--", "?", "N/A", "n/a", "#N/A", "NA", "na", "NaN", "nan", "NULL", "null"}
    | {"None", "none", "missing"}
)
"""Texts that stand for a missing value somewhere."""
_PIECES = re.compile(
    r"(?P<grouped>\d{1,3}(?:,\d{3})+(?!\d))|(?P<places>\.\d+)|(?P<digits>\d+)|(?P<letters>[^\W\d_]+)"
)
_PADDED = re.compile(r"(?<![\d.,])0\d")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,(?:\d{1,2}|\d{4,})")
_LETTERS = re.compile(r"(?P<upper>[^\Wa-z\d_]+)|[a-z]+")


@dataclass(frozen=True)
class Shape:
    """How a text is written: its stem, how many decimals it has, and whether the last is zero."""

    stem: str
    places: int = 0
    ends_in_zero: bool = False

    def __str__(self) -> str:
        last = "0" if self.ends_in_zero else "9"
        return self.stem.replace("#", "9" * (self.places - 1) + last) if self.places else self.stem


def shape_of(text: str, *, widths: bool = False) -> Shape:
    """Return a text's shape; with `widths`, runs of digits keep their length.

    Examples
    --------
    >>> [str(shape_of(text)) for text in ("$7,061.73", "8.80", "25/11/63", "TRUE", "-0.5")]
    ['$9,9.99', '9.90', '9/9/9', 'A', '-9.9']
    >>> [str(shape_of(text)) for text in ("07/03/2018", "0042", "23,06")]
    ['09/09/9', '0999', '9,99']
    >>> str(shape_of("2015-000012", widths=True))
    '9999-999999'
    """
    if _DECIMAL_COMMA.fullmatch(text):
        point = shape_of(text.replace(",", "."), widths=widths)
        return replace(point, stem=point.stem.replace(".", ","))
    fractions = [piece for piece in _PIECES.finditer(text) if piece["places"]]
    single = fractions[0]["places"] if len(fractions) == 1 else ""

    def piece(found: re.Match[str]) -> str:
        if found["grouped"]:
            return "9,9"
        if found["places"]:
            return ".#" if single else f".{'9' * (len(found['places']) - 1)}"
        if found["letters"]:
            return _LETTERS.sub(lambda run: "A" if run["upper"] else "a", found["letters"])
        run = found["digits"]
        if widths:
            return "9" * len(run)
        return "0" + "9" * (len(run) - 1) if len(run) > 1 and run[0] == "0" else "9"

    stem = _PIECES.sub(piece, text)
    return Shape(stem, max(len(single) - 1, 0), single.endswith("0"))


@dataclass(frozen=True, eq=False)
class TextTable:
    """A CSV file as text: the fields with their quotes, and how its lines end."""

    heading: tuple[str, ...]
    fields: pl.DataFrame
    line_end: str
    ended: bool
    marked: bool
    """Whether it begins with a byte order mark."""

    @property
    def names(self) -> list[str]:
        """The names of the columns, without quotes; those without one as understudy calls them."""
        return [
            _plain(name) or (f"column {place}" if place > 1 else ROW)
            for place, name in enumerate(self.heading, 1)
        ]


def read_text(content: bytes) -> TextTable:
    """Read a CSV file whose fields are separated by commas, without interpreting any.

    Raises
    ------
    ValueError
        If a record has more or fewer fields than the heading.

    Examples
    --------
    >>> table = read_text(b'id,name' + bytes([10]) + b'01,"Doe, J."' + bytes([10]))
    >>> table.heading, table.fields.row(0)
    (('id', 'name'), ('01', '"Doe, J."'))
    """
    marked = content.startswith(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    field = r'(?:"(?:[^"]|"")*")?[^,\r\n]*'
    whole = pl.Series([text]).str.extract_all(f"{field}(?:,{field})*").explode()
    records = whole.filter(whole != "")
    # Each field is found by the comma before it: the first one gets one too.
    parts = ("," + records).str.extract_all(r',(?:"(?:[^"]|"")*")?[^,]*')
    width = len(parts[0])
    if (parts.list.len() != width).any():
        raise ValueError(f"The heading has {width} fields, and some records have others.")
    table = pl.DataFrame(
        {f"{at}": parts.list.get(at).str.slice(1) for at in range(width)},
        schema=dict.fromkeys(map(str, range(width)), pl.String),
    )
    line_end = "\r\n" if "\r\n" in text else "\n"
    return TextTable(table.row(0), table.slice(1), line_end, text.endswith(("\n", "\r")), marked)


def sampled(content: bytes, rows: int, seed: int = 0) -> bytes:
    """Return a CSV file with so many of its records at random, in their order, as they are."""
    table = read_text(content)
    if table.fields.height <= rows:
        return content
    kept = table.fields.with_row_index("row").sample(rows, seed=seed).sort("row").drop("row")
    lines = pl.concat([pl.Series([",".join(table.heading)]), _joined(kept)])
    text = table.line_end.join(lines) + (table.line_end if table.ended else "")
    return text.encode("utf-8-sig" if table.marked else "utf-8")


def with_named_columns(content: bytes) -> bytes:
    """Return a CSV file with a name for each column that has none: row, row2 and so on."""
    table = read_text(content)
    named: list[str] = []
    for field in table.heading:
        empty = sum(not _plain(one) for one in table.heading[: len(named)])
        name = f"row{empty + 1 if empty else ''}"
        named.append(field if _plain(field) else (f'"{name}"' if field else name))
    own, new = (",".join(heading).encode() for heading in (table.heading, named))
    return content.replace(own, new, 1)


def _joined(fields: pl.DataFrame) -> pl.Series:
    return fields.select(pl.concat_str(pl.all(), separator=",").alias("line"))["line"]


@dataclass(frozen=True)
class ColumnFormat:
    """How well a synthetic column is written as the original's.

    Parameters
    ----------
    column : str
        Its name.
    returned : float
        The share of values whose shape occurs in the original.
    problems : mapping of str to str
        What differs, in words; by what is the same wherever it happens, such as the shape.
    """

    column: str
    returned: float
    problems: Mapping[str, str]


@dataclass(frozen=True)
class FileFormat:
    """How well a synthetic file is written as the original: by column, and the file itself."""

    columns: tuple[ColumnFormat, ...]
    problems: tuple[str, ...]

    @property
    def good(self) -> int:
        """The columns without any problem."""
        return sum(not column.problems for column in self.columns)


def compare_files(original: TextTable, synthetic: TextTable, dropped: Sequence[str]) -> FileFormat:
    """Say which columns of a synthetic file are written otherwise than the original's, and how."""
    kept = [at for at, name in enumerate(original.names) if name not in dropped]
    problems = []
    heading = tuple(original.heading[at] for at in kept)
    if synthetic.heading != heading:
        problems.append(f"heading: {_first_difference(heading, synthetic.heading)}")
    if synthetic.line_end != original.line_end:
        problems.append(f"line ends {synthetic.line_end!r} for {original.line_end!r}")
    if synthetic.ended != original.ended:
        problems.append("last line ended" if synthetic.ended else "last line not ended")
    if synthetic.marked != original.marked:
        problems.append("byte order mark")
    if synthetic.fields.width != len(kept):
        return FileFormat((), (*problems, "other columns"))
    columns = tuple(
        compare_columns(original.names[at], original.fields[str(at)], synthetic.fields[str(place)])
        for place, at in enumerate(kept)
    )
    return FileFormat(columns, tuple(problems))


def compare_columns(name: str, original: pl.Series, synthetic: pl.Series) -> ColumnFormat:
    """Say whether the fields of a synthetic column are written as the original's."""
    before, after = _counts(original), _counts(synthetic)
    words_before = {field for field in before if _plain(field) in MISSING_WORDS}
    words_after = {field for field in after if _plain(field) in MISSING_WORDS}
    problems = {}
    if new := sorted(words_after - words_before):
        had = ", ".join(map(_shown, sorted(words_before))) or "none"
        told = f"missing as {', '.join(map(_shown, new))}, not {had}"
        problems[told] = told
    texts_before = {field for field in before if field not in words_before}
    texts_after = {field: count for field, count in after.items() if field not in words_after}
    total = sum(texts_after.values())
    odd = _odd(texts_before, texts_after)
    returned = 1 - sum(texts_after[field] for field in odd) / total if total else 1.0
    if odd:
        worst = max(odd, key=lambda field: texts_after[field])
        example = min(texts_before, default="")
        problems[str(shape_of(_plain(worst)))] = (
            f"{percent(1 - returned)} like {_shown(worst)}, "
            f"where the original has {_shown(example)}"
        )
    if quotes := _quoting(texts_before, texts_after):
        problems[quotes] = quotes
    return ColumnFormat(name, returned, problems)


def repeated_identifiers(
    original: TextTable, synthetic: TextTable, names: Sequence[str]
) -> list[str]:
    """Return the identifiers that have a value of the original in the release."""
    found = []
    for name in names:
        before = original.fields[str(original.names.index(name))]
        after = synthetic.fields[str(synthetic.names.index(name))]
        shared = set(map(_plain, before)) & set(map(_plain, after)) - MISSING_WORDS
        if shared:
            found.append(name)
    return found


def _odd(before: set[str], after: Mapping[str, int]) -> list[str]:
    """Return the synthetic fields whose shape no original field has."""
    widths = any(_PADDED.search(field) for field in before)
    known: dict[str, set[Shape]] = {}
    for field in before:
        shape = shape_of(_plain(field), widths=widths)
        known.setdefault(shape.stem, set()).add(shape)
    return [field for field in after if not _fits(shape_of(_plain(field), widths=widths), known)]


def _fits(shape: Shape, known: Mapping[str, set[Shape]]) -> bool:
    """Tell whether a text is written as one of the original: its stem, and its decimals."""
    alike = known.get(shape.stem, set())
    places = {one.places for one in alike}
    if shape.places in places and not shape.ends_in_zero:
        return True
    if shape.places:
        if len(places) <= 1:
            # Where all have the same number of decimals, some of these end in zero.
            return shape.places in places
        if any(one.ends_in_zero for one in alike):
            return min(places) <= shape.places <= max(places)
        # Zeros at the end are left out: a number may have any decimals up to the most.
        return shape.places <= max(places) and not shape.ends_in_zero
    longer = known.get(f"{shape.stem}.#", set()) | known.get(f"{shape.stem},#", set())
    left_out = len({one.places for one in longer}) > 1 and not any(
        one.ends_in_zero for one in longer
    )
    return bool(alike) or left_out


def _quoting(before: set[str], after: Mapping[str, int]) -> str:
    """Return what differs in the quotes that are not needed, if they are all there or all not."""
    styles = []
    for fields in (before, set(after)):
        free = [field for field in fields if not set(_plain(field)) & set(',"\r\n')]
        quoted = sum(field.startswith('"') for field in free)
        styles.append("" if not free else {0: "none", len(free): "all"}.get(quoted, "some"))
    own, other = styles
    if not own or not other or own in {other, "some"}:
        return ""
    return "quotes added" if own == "none" else "quotes lost"


def _counts(fields: pl.Series) -> dict[str, int]:
    return dict(fields.value_counts().iter_rows())


def _plain(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def _shown(field: str) -> str:
    return f"`{shortened(_plain(field), 30)}`" if field else "an empty field"


def _first_difference(wanted: Sequence[str], found: Sequence[str]) -> str:
    for one, other in zip(wanted, found, strict=False):
        if one != other:
            return f"`{shortened(other, 30)}` for `{shortened(one, 30)}`"
    return f"{len(found)} columns for {len(wanted)}"
