"""The ledger of a table: what all its private releases cost together, with a cap.

One release may keep its epsilon, and ten of them together tell ten times as much. The file holds
no record: a table is known by a keyed fingerprint, and the key is in the file.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.data import FileStream
from understudy.data.files import write_bytes
from understudy.data.frames import Frame
from understudy.data.stream import layout_of
from understudy.errors import DataError
from understudy.privacy.fingerprint import fingerprint
from understudy.privacy.guarantee import BudgetError, Guarantee, check_epsilon
from understudy.wording import counted, ordinal

FORMAT = 1
CAP = Fraction(3)
"""The epsilon that all releases of a table may have together, if the file does not say."""


@dataclass(frozen=True)
class Debit:
    """One private release of a table."""

    guarantee: Guarantee
    what: str
    when: str

    @property
    def epsilon(self) -> Fraction:
        """What it costs of the cap, with one record that may be another.

        If the guarantee is for one record that may be absent, a changed one is two steps away.
        """
        own = self.guarantee
        return own.epsilon if own.neighbours == "change-one" else 2 * own.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta that belongs to it."""
        own = self.guarantee
        if own.neighbours == "change-one" or not own.delta:
            return own.delta
        return own.delta * (1 + Fraction(math.exp(min(float(own.epsilon), 700.0))))

    def to_plain(self) -> dict[str, str]:
        """Return the debit in texts."""
        return {**self.guarantee.to_plain(), "what": self.what, "when": self.when}


@dataclass(frozen=True)
class TableLedger:
    """What the private releases of some tables cost, by the table's fingerprint.

    Parameters
    ----------
    key : str
        What fingerprints are made with.
    cap : Fraction
        The epsilon that all releases of one table may have together.
    tables : mapping
        The names of the columns, and the debits, of each table.
    """

    key: str
    cap: Fraction
    tables: Mapping[str, tuple[tuple[str, ...], tuple[Debit, ...]]]

    @classmethod
    def new(cls, cap: Fraction = CAP) -> TableLedger:
        """Return a ledger without tables."""
        return cls(secrets.token_hex(16), cap, {})

    @classmethod
    def load(cls, path: str | Path) -> TableLedger:
        """Read a ledger file."""
        try:
            return cls._from_plain(json.loads(Path(path).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{path} is not a ledger of tables: {error}. It is written by --ledger."
            ) from error

    @classmethod
    def _from_plain(cls, plain: Mapping[str, Any]) -> TableLedger:
        if plain["understudy_table_ledger"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        tables = {
            str(name): (
                tuple(map(str, own["columns"])),
                tuple(
                    Debit(Guarantee.from_plain(one), str(one["what"]), str(one["when"]))
                    for one in own["releases"]
                ),
            )
            for name, own in plain["tables"].items()
        }
        return cls(str(plain["key"]), check_epsilon(Fraction(str(plain["cap"])), "cap"), tables)

    def save(self, path: str | Path) -> None:
        """Write the ledger, in place of the one that was there."""
        plain: dict[str, Any] = {
            "understudy_table_ledger": FORMAT,
            "cap": str(self.cap),
            "key": self.key,
            "tables": {
                name: {"columns": list(columns), "releases": [one.to_plain() for one in debits]}
                for name, (columns, debits) in self.tables.items()
            },
        }
        text = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        write_bytes(text.encode(), path, overwrite=True)

    def of(self, data: Frame | FileStream) -> str:
        """Return the fingerprint of a table."""
        return fingerprint(data, bytes.fromhex(self.key))

    def debits(self, table: str) -> tuple[Debit, ...]:
        """Return what was paid for a table."""
        return self.tables.get(table, ((), ()))[1]

    def with_debit(self, table: str, columns: tuple[str, ...], debit: Debit) -> TableLedger:
        """Return the ledger with one more release of a table.

        Raises
        ------
        BudgetError
            If all releases of the table would cost more than the cap.
        """
        before = self.debits(table)
        spent = sum((one.epsilon for one in before), Fraction(0))
        if spent + debit.epsilon > self.cap:
            raise BudgetError(
                f"{counted(len(before), 'release')} of this table cost {_said(spent)} of "
                f"{_said(self.cap)} (epsilon), and this one would cost {_said(debit.epsilon)}: "
                f"{_said(self.cap - spent)} is left. Release less, or decide anew what all "
                "releases together may tell: it is the cap in the ledger file."
            )
        return replace(self, tables={**self.tables, table: (columns, (*before, debit))})

    def in_words(self, table: str) -> str:
        """Return what was spent on a table, and what other tables may be about the same people.

        Examples
        --------
        >>> promise = Guarantee(Fraction(1), Fraction(0))
        >>> ledger = TableLedger.new().with_debit("a", ("age",), Debit(promise, "bayes", ""))
        >>> ledger.in_words("a")
        'First release of this table: 1 of 3 spent (epsilon).'
        """
        debits = self.debits(table)
        spent = sum((one.epsilon for one in debits), Fraction(0))
        delta = sum((one.delta for one in debits), Fraction(0))
        text = (
            f"{ordinal(len(debits)).capitalize()} release of this table: {_said(spent)} of "
            f"{_said(self.cap)} spent (epsilon{f', delta {float(delta):.2g}' if delta else ''})."
        )
        columns = self.tables[table][0] if table in self.tables else ()
        others = [name for name, (own, _) in self.tables.items() if own == columns != ()]
        if len(others) > 1:
            text += (
                f" {counted(len(others) - 1, 'other table')} in this ledger with the same columns: "
                "if it is about the same people, the costs add up."
            )
        return text


def _said(epsilon: Fraction) -> str:
    return f"{float(epsilon):.6g}"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let no other process change a ledger meanwhile."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        handle = lock.open("x")
    except FileExistsError as error:
        raise DataError(
            f"{path} is being written by another run. Try again; if there is none, remove {lock}."
        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        handle.close()
        lock.unlink(missing_ok=True)


def pay(path: str | Path, data: Frame | FileStream, guarantee: Guarantee, what: str) -> str:
    """Debit a release of a table in a ledger file, before anything is drawn for it.

    Parameters
    ----------
    path : str or Path
        The file; it is made if it is not there.
    data : frame or FileStream
        The whole table.
    guarantee : Guarantee
        What the release promises.
    what : str
        What is released, in a few words.

    Returns
    -------
    str
        What was spent so far, in a sentence.

    Raises
    ------
    BudgetError
        If all releases would cost more than the cap. Nothing is debited then.
    """
    place = Path(path)
    with _alone(place):
        ledger = TableLedger.load(place) if place.exists() else TableLedger.new()
        table = ledger.of(data)
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        columns = tuple(layout_of(data).types)
        ledger = ledger.with_debit(table, columns, Debit(guarantee, what, now))
        ledger.save(place)
    return ledger.in_words(table)
