"""The command `understudy control`: what is done to a synthetic table before it is handed out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from understudy.cli import options, session
from understudy.cli.option_groups import Reworded, argument, grouped, panel, spelled
from understudy.errors import DataError, ParameterError, did_you_mean
from understudy.showing import may_name
from understudy.wording import size_of

if TYPE_CHECKING:
    import polars as pl

    from understudy.synthesis.control import Change

_records = panel("Records")
_values = panel("Values")


class Tables(NamedTuple):
    """The original and the synthetic table, changed alike so that they can be compared."""

    original: pl.DataFrame
    synthetic: pl.DataFrame


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What is done to a table, in this order: values, then records, then the label."""

    top_code: Annotated[
        list[str] | None,
        _values(
            "COLUMN=LIMIT: lower numbers and dates above the limit to it. COLUMN=99% takes the "
            "limit that 99% of the original's values do not exceed. Repeatable."
        ),
    ] = None
    bottom_code: Annotated[
        list[str] | None,
        _values(
            "COLUMN=LIMIT: raise numbers and dates below the limit to it. COLUMN=1% takes the "
            "limit below which lie 1% of the original's values. Repeatable."
        ),
    ] = None
    special: Annotated[
        list[str] | None,
        _values(
            "COLUMN=CODE: a code that is no amount, such as age=99. --top-code and --bottom-code "
            "leave it alone. Repeatable."
        ),
    ] = None
    group_rare: Annotated[
        list[str] | None,
        _values(
            "COLUMN=NUMBER: join the texts that fewer people of the original have. Repeatable."
        ),
    ] = None
    other: Annotated[
        str | None, _values("What these texts become, with --group-rare.", default="other")
    ] = None
    remove_replicated: Annotated[
        bool,
        _records(
            "Remove records that are unique in both tables, with the same keys.",
            "--remove-replicated",
        ),
    ] = False
    remove_uniques_in_original: Annotated[
        bool,
        _records(
            "Remove unique records whose keys occur in the original at all, which are more.",
            "--remove-uniques-in-original",
        ),
    ] = False
    keys: Annotated[
        options.Keys,
        Reworded(
            help="Columns to compare, separated by commas.",
            panel="Records",
            show_default="all that both tables have",
        ),
    ] = ""
    label: Annotated[
        str | None,
        _records('Add a first column of this name that says "synthetic" in every row.'),
    ] = None

    def check(self) -> None:
        """Raise if nothing is to be done, or options do not go together."""
        removes = self.remove_replicated or self.remove_uniques_in_original
        codes = self.top_code or self.bottom_code
        if self.keys and not removes:
            raise ParameterError(
                "--keys needs --remove-replicated or --remove-uniques-in-original."
            )
        if self.special and not codes:
            raise ParameterError("--special needs --top-code or --bottom-code.")
        if self.other is not None and not self.group_rare:
            raise ParameterError("--other needs --group-rare.")
        if not (removes or codes or self.group_rare or self.label is not None):
            names = [one.name for one in fields(self) if one.name not in _NO_STEPS]
            raise ParameterError(f"Say what to do: {', '.join(map(spelled, names))}.")
        if self.label is not None and not self.label.strip():
            raise ParameterError("--label needs the name of a column.")
        coded = self._limits()
        for column, _ in _pairs("special", self.special):
            if column not in coded:
                raise ParameterError(
                    f"--special names {column!r}, which neither --top-code nor --bottom-code does."
                    f"{did_you_mean(column, coded)}"
                )
        self._least()

    def _limits(self) -> dict[str, list[str | None]]:
        """Return bottom and top of each column, as they were typed."""
        found: dict[str, list[str | None]] = {}
        for place, name in enumerate(("bottom_code", "top_code")):
            for column, limit in _pairs(name, getattr(self, name)):
                pair = found.setdefault(column, [None, None])
                if pair[place] is not None:
                    raise ParameterError(f"{spelled(name)} names {column!r} twice.")
                pair[place] = limit
        return found

    def _least(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for column, number in _pairs("group_rare", self.group_rare):
            if not (number.isascii() and number.isdecimal()):
                raise ParameterError(
                    f"--group-rare must be COLUMN=NUMBER, such as town=10; got '{column}={number}'."
                )
            if column in found:
                raise ParameterError(f"--group-rare names {column!r} twice.")
            found[column] = int(number)
        return found

    def apply(self, tables: Tables) -> Iterator[Change]:
        """Yield what each step did; the last one has the finished table."""
        from understudy.synthesis import control

        if limits := self._limits():
            special: dict[str, list[Any]] = {}
            for column, code in _pairs("special", self.special):
                special.setdefault(column, []).append(_value(code))
            read = _read_limits(tables.original, limits, special)
            change = control.top_bottom_code(
                tables.synthetic,
                read,
                special=special,
                unnamed=_limits_of_few(tables.original, limits, read),
            )
            yield change
            alike = control.top_bottom_code(tables.original, read, special=special).frame
            tables = Tables(alike, change.frame)
        if least := self._least():
            other = self.other if self.other is not None else "other"
            change = control.group_rare(tables.original, tables.synthetic, least, other=other)
            yield change
            alike = control.group_rare(tables.original, tables.original, least, other=other).frame
            tables = Tables(alike, change.frame)
        keys = options.split_names(self.keys) or None
        for wanted, remove in (
            (self.remove_replicated, control.remove_replicated_uniques),
            (self.remove_uniques_in_original, control.remove_uniques_in_original),
        ):
            if wanted:
                change = remove(tables.original, tables.synthetic, keys=keys)
                yield change
                tables = tables._replace(synthetic=change.frame)
        if self.label is not None:
            if self.label in tables.synthetic.columns:
                raise ParameterError(
                    f"--label: the table already has a column {self.label!r}. Give another name."
                )
            yield control.label(tables.synthetic, column=self.label)


_NO_STEPS = ("special", "other", "keys")
"""Options that only say how a step is done."""


def _pairs(name: str, texts: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the columns and values that were given as COLUMN=VALUE; a name may hold the sign."""
    for text in texts or ():
        column, _, value = text.rpartition("=")
        if not column or not value.strip():
            raise ParameterError(f"{spelled(name)} must be COLUMN=VALUE; got {text!r}.")
        yield column, value.strip()


def _value(text: str) -> int | float | str:
    """Return a number as such, and anything else, such as a date, as text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_limits(
    original: pl.DataFrame, limits: dict[str, list[str | None]], special: dict[str, list[Any]]
) -> dict[str, Any]:
    """Return the limits of each column; those given as shares are read from the original."""
    from understudy.synthesis.control import limits_by_share

    shares = {
        column: tuple(_share(limit) for limit in pair)
        for column, pair in limits.items()
        if any(_share(limit) is not None for limit in pair)
    }
    codes = {column: special[column] for column in shares if column in special}
    found: dict[str, Any] = {}
    if shares:
        found = limits_by_share(original, shares, special=codes)  # type: ignore[arg-type]
    return {
        column: tuple(
            by_share if limit is None or by_share is not None else _value(limit)
            for limit, by_share in zip(pair, found.get(column, (None, None)), strict=True)
        )
        for column, pair in limits.items()
    }


def _limits_of_few(
    original: pl.DataFrame, limits: dict[str, list[str | None]], read: dict[str, Any]
) -> list[str]:
    """Return the columns with a limit that was given as a share, and is the value of few people."""
    return [
        column
        for column, pair in limits.items()
        for limit, value in zip(pair, read[column], strict=True)
        if _share(limit) is not None and not may_name(int((original[column] == value).sum()))
    ]


def _share(limit: str | None) -> float | None:
    """Return a share that was given in percent; None if it is no share."""
    if limit is None or not limit.endswith("%"):
        return None
    number = _value(limit.removesuffix("%").strip())
    if isinstance(number, str):
        raise ParameterError(f"A share must be a number and %, such as 99%; got {limit!r}.")
    return number / 100


@grouped
def control(
    *,
    ctx: typer.Context,
    original: options.Original,
    synthetic: Annotated[
        options.Place,
        argument("The synthetic table, from any tool.", metavar="SYNTHETIC", **options.PLACE),
    ],
    output: Annotated[Path, options.output(f"The table to write: {options.OUTPUT_KINDS}.")],
    steps: Steps,
    safe_cells: options.SafeCells = False,
    force: options.Force = False,
    show_records: options.ShowRecords = False,  # noqa: ARG001  # `grouped` reads it
    csv: options.Csv,
) -> None:
    """Finish a synthetic table: remove records that look like a person, cut off extremes.

    Values are coded first, in both tables, and then records are compared and removed. Audit the
    result: it may still tell what other records tell.

    Example: `understudy control data.csv synthetic.csv -o out.csv --remove-replicated`
    `--keys age,job`

    Example: `understudy control data.csv synthetic.csv -o out.csv --top-code income=99%`
    `--group-rare town=10`
    """
    from understudy.data import write
    from understudy.data.files import check_target, fitted

    steps.check()
    check_target(output, overwrite=force)
    session.check_outputs([output], [original, synthetic], force)
    with session.progress(ctx):
        first, written = csv.open(original)
        release, dialect = csv.open(synthetic, like=written)
        changes = list(steps.apply(Tables(first, release)))
        made = changes[-1].frame
        if not len(made):
            raise DataError(
                f"No record is left, so {output} is not written: all of them look like one person. "
                "Compare fewer columns with --keys, or make another release."
            )
        like = fitted(dialect, output)
        write(made, output, overwrite=force, dialect=like, safe_cells=safe_cells)
    for change in changes:
        session.say(ctx, change.to_text())
    session.say(ctx, f"Wrote {session.called(output)}: {size_of(*made.shape)}.")
