"""The ledger of a table: what all its private releases cost together, with a cap.

One release may keep its epsilon, and ten of them together tell ten times as much. The file holds
no record: a table is known by a keyed fingerprint, and the key is in the file. So is a seal, which
shows that a debit was changed or lost by mistake; it does not stop somebody who wants to cheat.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import math
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from understudy.data import FileStream
from understudy.data.files import write_bytes
from understudy.data.frames import Frame
from understudy.data.source import source_of
from understudy.errors import DataError
from understudy.privacy.fingerprint import fingerprint
from understudy.privacy.guarantee import BudgetError, Guarantee, check_epsilon
from understudy.wording import counted, ordinal

FORMAT = 1
CAP = Fraction(3)
"""The epsilon that all releases of a table may have together, if the file does not say."""

_PATIENCE = 10.0
"""Seconds to wait for another run that writes the same file."""


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
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
            lacking = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(
                f"{path} is no ledger of tables, or is damaged: {lacking.rstrip('.')}. Restore it "
                "from a copy. A new one would not know what was spent before."
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
        key = str(plain["key"])
        found = cls(key, check_epsilon(Fraction(str(plain["cap"])), "cap"), tables)
        if not hmac.compare_digest(str(plain["seal"]), found._seal):
            raise ValueError("its releases were changed by hand, which only the cap may be")
        return found

    @property
    def _plain_tables(self) -> dict[str, Any]:
        return {
            name: {"columns": list(columns), "releases": [one.to_plain() for one in debits]}
            for name, (columns, debits) in self.tables.items()
        }

    @property
    def _seal(self) -> str:
        said = json.dumps(self._plain_tables, sort_keys=True)
        return hmac.new(bytes.fromhex(self.key), said.encode(), hashlib.sha256).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the ledger, in place of the one that was there."""
        plain: dict[str, Any] = {
            "understudy_table_ledger": FORMAT,
            "cap": str(self.cap),
            "key": self.key,
            "tables": self._plain_tables,
            "seal": self._seal,
        }
        text = json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
        write_bytes(text.encode(), path, overwrite=True)

    def of(self, data: Frame | FileStream) -> str:
        """Return the fingerprint of a table."""
        return fingerprint(data, bytes.fromhex(self.key))

    def debits(self, table: str) -> tuple[Debit, ...]:
        """Return what was paid for a table."""
        return self.tables.get(table, ((), ()))[1]

    def spent(self, table: str) -> Fraction:
        """Return the epsilon of all releases of a table together."""
        return sum((one.epsilon for one in self.debits(table)), Fraction(0))

    def check_room(self, table: str, debits: Sequence[Debit]) -> None:
        """Raise unless a table can have these releases, too.

        Raises
        ------
        BudgetError
            If all releases of the table would cost more than the cap.
        """
        spent, wanted = self.spent(table), sum((one.epsilon for one in debits), Fraction(0))
        if spent + wanted <= self.cap:
            return
        before = len(self.debits(table))
        so_far = (
            f"{counted(before, 'release')} of this table cost {_said(spent)}"
            if before
            else "No release of this table was paid for so far"
        )
        new = "This one" if len(debits) == 1 else f"The {len(debits)} that are asked for now"
        raise BudgetError(
            f"{so_far}, and all together may cost {_said(self.cap)} (epsilon). {new} would cost "
            f"{_said(wanted)}, and {_said(self.cap - spent)} is left. Release less, or decide anew "
            "what all releases together may tell: it is the cap in the ledger file."
        )

    def with_debit(self, table: str, columns: tuple[str, ...], debit: Debit) -> TableLedger:
        """Return the ledger with one more release of a table.

        Raises
        ------
        BudgetError
            If all releases of the table would cost more than the cap.
        """
        self.check_room(table, [debit])
        debits = (*self.debits(table), debit)
        return replace(self, tables={**self.tables, table: (columns, debits)})

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
        delta = sum((one.delta for one in debits), Fraction(0))
        which = f"{ordinal(len(debits)).capitalize()} release" if debits else "No release"
        text = (
            f"{which} of this table: {_said(self.spent(table))} of {_said(self.cap)} spent "
            f"(epsilon{f', delta {float(delta):.2g}' if delta else ''})."
        )
        columns = self.tables[table][0] if table in self.tables else ()
        alike = [name for name, (own, _) in self.tables.items() if own == columns != ()]
        others = len(alike) - 1
        if others > 0:
            has, it = ("has", "it is") if others == 1 else ("have", "they are")
            text += (
                f" {counted(others, 'other table')} in this ledger {has} the same columns: if {it} "
                "about the same people, the costs add up."
            )
        return text


def _said(epsilon: Fraction) -> str:
    return f"{float(epsilon):.6g}"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let no other process change a ledger meanwhile."""
    lock = path.with_name(f".{path.name}.lock")
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            lock.open("x").close()
            break
        except FileExistsError as error:
            if time.monotonic() > end:
                raise DataError(
                    f"{path} is being written by another run. Try again; if there is none, remove "
                    f"{lock}."
                ) from error
            time.sleep(0.02)
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


@dataclass(frozen=True)
class Account:
    """The place of a table in a ledger file; made by `Account.open`."""

    path: Path
    table: str
    columns: tuple[str, ...]

    @classmethod
    def open(cls, path: str | Path, data: Frame | FileStream) -> Account:
        """Find a table in a ledger file, which is made if it is not there.

        Parameters
        ----------
        path : str or Path
            The file.
        data : frame or FileStream
            The whole table, with all of its columns and records.
        """
        place = Path(path)
        with _alone(place):
            if not place.exists():
                TableLedger.new().save(place)
            ledger = TableLedger.load(place)
        return cls(place, ledger.of(data), tuple(source_of(data).layout.types))

    def check_room(self, guarantees: Sequence[Guarantee]) -> None:
        """Raise unless the table can have so many more releases. Nothing is debited."""
        debits = [Debit(one, "", "") for one in guarantees]
        TableLedger.load(self.path).check_room(self.table, debits)

    def pay(self, guarantee: Guarantee, what: str) -> str:
        """Debit a release before anything is drawn for it, and return what was spent so far.

        Raises
        ------
        BudgetError
            If all releases would cost more than the cap. Nothing is debited then.
        """
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        with _alone(self.path):
            ledger = TableLedger.load(self.path)
            ledger = ledger.with_debit(self.table, self.columns, Debit(guarantee, what, now))
            ledger.save(self.path)
        return ledger.in_words(self.table)


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
    return Account.open(path, data).pay(guarantee, what)
