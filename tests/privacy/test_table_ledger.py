"""The ledger of a table: releases add up, a cap holds, and a file that is not right is refused."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import polars as pl
import pytest

from understudy.errors import DataError
from understudy.privacy import Account, BudgetError, Guarantee, TableLedger, pay, table_ledger
from understudy.privacy.table_ledger import Debit

ONE = Guarantee(Fraction(1), Fraction(0))
TABLE = pl.DataFrame({"sex": ["f", "m", "m"], "age": [31, 45, 52]})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.json"


def test_releases_add_up_to_the_cap(path):
    tenth = Guarantee(Fraction("0.8"), Fraction(0))
    said = [pay(path, TABLE, tenth, "bayes") for _ in range(3)]
    assert said[0] == "First release of this table: 0.8 of 3 spent (epsilon)."
    assert said[2] == "Third release of this table: 2.4 of 3 spent (epsilon)."
    before = path.read_bytes()
    with pytest.raises(BudgetError, match=r"3 releases of this table cost 2\.4, .* 0\.6 is left"):
        pay(path, TABLE, tenth, "bayes")
    assert path.read_bytes() == before
    # What is left can be spent to the last.
    assert "3 of 3" in pay(path, TABLE, Guarantee(Fraction("0.6"), Fraction(0)), "bayes")


def test_it_knows_a_table_in_any_order_and_no_other(path):
    pay(path, TABLE, ONE, "bayes")
    assert pay(path, TABLE.reverse(), ONE, "bayes").startswith("Second release")
    other = pay(path, TABLE.head(2), ONE, "bayes")
    assert other.startswith("First release")
    assert "1 other table in this ledger has the same columns" in other
    assert "columns" not in pay(path, TABLE.select("sex"), ONE, "bayes")


def test_it_holds_no_value_of_a_record(path):
    pay(path, pl.DataFrame({"name": ["Hildegard", "Ada"], "age": [98765, 31]}), ONE, "bayes")
    text = path.read_text()
    assert "Hildegard" not in text
    assert "98765" not in text


def test_a_record_that_is_absent_counts_twice_and_delta_adds_up():
    # A changed record is one that is removed and one that is added.
    debit = Debit(Guarantee(Fraction(1), Fraction(1, 1000), "add-remove"), "", "")
    assert debit.epsilon == 2
    assert float(debit.delta) == pytest.approx((1 + math.e) / 1000)
    own = Debit(Guarantee(Fraction(1), Fraction(1, 1000)), "", "")
    ledger = TableLedger.new().with_debit("a", ("x",), own).with_debit("a", ("x",), own)
    assert (
        ledger.in_words("a") == "Second release of this table: 2 of 3 spent (epsilon, delta 0.002)."
    )
    assert TableLedger.new().in_words("a") == "No release of this table: 0 of 3 spent (epsilon)."


def test_several_releases_are_checked_before_any_is_paid_for(path):
    account = Account.open(path, TABLE)
    account.check_room([ONE] * 3)
    with pytest.raises(
        BudgetError, match=r"No release .* The 4 that are asked for now would cost 4"
    ):
        account.check_room([ONE] * 4)
    assert TableLedger.load(path).tables == {}


def test_the_cap_may_be_changed_by_hand_and_nothing_else(path):
    pay(path, TABLE, ONE, "bayes")
    plain = json.loads(path.read_text())
    path.write_text(json.dumps(plain | {"cap": 1.5}))
    with pytest.raises(BudgetError, match=r"may cost 1\.5"):
        pay(path, TABLE, ONE, "bayes")
    (table,) = plain["tables"].values()
    table["releases"][0]["epsilon"] = "1/10"
    path.write_text(json.dumps(plain))
    with pytest.raises(DataError, match="changed by hand, which only the cap may be"):
        pay(path, TABLE, ONE, "bayes")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no ledger of tables, or is damaged"),
        ("[]", "no ledger of tables, or is damaged"),
        ('{"understudy_table_ledger": 1}', "it has no 'tables'"),
        ('{"understudy_table_ledger": 2, "tables": {}}', "its format is not 1"),
        ('{"understudy_table_ledger": 1, "tables": {}, "key": "00", "cap": "1/0"}', "damaged"),
        ('{"understudy_table_ledger": 1, "tables": {}, "key": "zz", "cap": "3"}', "damaged"),
    ],
)
def test_a_file_that_is_no_ledger_is_refused_and_kept(path, text, reason):
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        pay(path, TABLE, ONE, "bayes")
    assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]  # and no lock is left


def test_another_run_is_waited_for_and_then_named(path, monkeypatch):
    monkeypatch.setattr(table_ledger, "_PATIENCE", 0.05)
    lock = path.with_name(".ledger.json.lock")
    lock.touch()
    with pytest.raises(DataError, match=r"written by another run.*remove .*\.lock"):
        pay(path, TABLE, ONE, "bayes")
    lock.unlink()
    assert pay(path, TABLE, ONE, "bayes").startswith("First")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        pay(tmp_path / "none" / "l.json", TABLE, ONE, "bayes")


def _pay(path):
    try:
        pay(path, TABLE, ONE, "bayes")
    except BudgetError:
        return 0
    return 1


def test_runs_at_once_do_not_overspend(path):
    # Threads compete for the same lock file as processes do, and are quicker to start.
    with ThreadPoolExecutor(8) as pool:
        paid = list(pool.map(_pay, [path] * 8))
    assert sum(paid) == 3
    ((_, debits),) = TableLedger.load(path).tables.values()
    assert len(debits) == 3
