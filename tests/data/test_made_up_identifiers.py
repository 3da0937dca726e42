"""Made-up identifiers: of the form of the original's, all different, and none of theirs."""

from __future__ import annotations

import hashlib
import json
import re
import uuid

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import Independent, Schema, Synthesizer
from understudy.data.check_digits import characters_of, find_check, set_check
from understudy.data.made_up_identifiers import Pattern
from understudy.errors import DataError

RNG = np.random.default_rng(2)


def checked(check, texts, places):
    found = characters_of(texts)
    set_check(check, found, places)
    return found.view(f"<U{found.shape[1]}").ravel().tolist()


def random_digits(count, length):
    return ["".join(map(str, row)) for row in RNG.integers(0, 10, (count, length))]


CARDS = checked("luhn", ["4539" + text for text in random_digits(100, 12)], [15])
BOOKS = checked("mod10", ["978" + text for text in random_digits(100, 10)], [12])
ACCOUNTS = checked("iban", ["DE00" + text for text in random_digits(100, 18)], [2, 3])

CASES = {
    "person": ([f"P{n:04}" for n in range(300)], r"P\d{4,}"),
    "counted": ([f"ID{n}" for n in range(1, 151)], r"ID\d{3,}"),
    "full": ([f"P{n:03}" for n in range(1, 1000)], r"P\d{4,}"),
    "uuid": (
        [str(uuid.UUID(bytes=RNG.bytes(16), version=4)) for _ in range(200)],
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    ),
    "hash": ([hashlib.sha256(bytes([n])).hexdigest() for n in range(200)], r"[0-9a-f]{64}"),
    "email": ([f"anna{n}@firm.com" for n in range(60)], r"[\w-]+@example\.org"),
    "plate": ([f"B-{chr(65 + n % 26)}{chr(65 + n // 26)} {1000 + 37 * n}" for n in range(200)],
              r"B-[A-Z]{2} \d{4}"),
    "ssn": ([f"{a}-{b}-{c}" for a, b, c in zip(RNG.integers(100, 999, 200),
             RNG.integers(10, 99, 200), RNG.integers(1000, 9999, 200), strict=True)],
            r"\d{3}-\d{2}-\d{4}"),
    "card": (CARDS, r"4539\d{12}"),
    "book": (BOOKS, r"978\d{10}"),
    "account": (ACCOUNTS, r"DE\d{20}"),
    "name": ([f"{['Anna', 'Bo', 'Christopher'][n % 3]} M{'e' * (n % 5)}yer {n}" for n in range(90)],
             r"[A-Z][a-z]+ [A-Z][a-z]+ \d+"),
    "people": ([f"{a}{'e' * b}n {c}{'i' * d}r" for a in ("An", "Bo", "Cé", "Da") for b in range(5)
                for c in ("Li", "Mo") for d in range(5)], r"[A-Z][a-z]{3,} [A-Z][a-z]{3,}"),
    "plates": ([f"{'B' * (1 + n % 2)}-{chr(65 + n % 7)} {n}" for n in range(1, 200)],
               r"[A-Z]{1,2}-[A-Z] [1-9]\d+"),
    "computers": ([f"{n % 223 + 1}.{n * 7 % 256}.{n * 31 % 256}.{n % 255}" for n in range(200)],
                  r"1\d\d\.1\d\d\.1\d\d\.1\d{2,}"),
    "many shapes": ([f"{'Ab' * (n % 3)} {'-' * (n % 5)}{n}" for n in range(60)],
                    r"synthetic-\d+"),
    "few": (["a1", "b2"], r"synthetic-\d+"),
    "ours": ([f"synthetic-{n}{'-x' * (n % 9)}" for n in range(30)], r"made-up-\d+"),
}  # fmt: skip


def made_of(pattern, array, count, first=0):
    return pattern.make("x", array.type, count, first).to_pylist()


@pytest.mark.parametrize("name", CASES)
def test_texts_have_the_form_of_the_originals_and_are_none_of_them(name):
    originals, form = CASES[name]
    array = pa.array(originals)
    made = made_of(Pattern.learn(array, "x"), array, 2 * len(originals))
    assert not [one for one in made if not re.fullmatch(form, one)]
    assert len(set(made)) == len(made)
    assert not set(made) & set(originals)


@pytest.mark.parametrize(
    ("name", "check"), [("card", "luhn"), ("book", "mod10"), ("account", "iban")]
)
def test_check_digits_are_right(name, check):
    array = pa.array(CASES[name][0])
    made = made_of(Pattern.learn(array, "x"), array, 500)
    assert find_check(characters_of(made)) == check


NUMBERS = {
    "rows": (range(1, 1474), 4),
    "nine digits": (RNG.choice(9 * 10**8, 500, replace=False) + 10**8, 9),
    "the year first": (range(20190001, 20190401), 8),
    "hundreds": (range(100, 400), 3),
}


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.int32(), pa.float64()])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_have_as_many_digits(name, kind):
    originals, digits = NUMBERS[name]
    array = pa.array(np.array(originals), pa.int64()).cast(kind)
    made = made_of(Pattern.learn(array, "x"), array, 600)
    assert {len(str(int(one))) for one in made} == {digits}
    assert len(set(made)) == 600
    assert not set(made) & set(array.to_pylist())


def test_negative_numbers_stay_clear_of_the_originals():
    array = pa.array(range(-50, 0))
    made = made_of(Pattern.learn(array, "x"), array, 200)
    assert len(set(made)) == 200
    assert not set(made) & set(range(-50, 0))


def test_a_type_without_room_is_named():
    array = pa.array(range(200), pa.uint8())
    pattern = Pattern.learn(array, "x")
    assert not set(made_of(pattern, array, 10)) & set(range(200))
    with pytest.raises(DataError, match="'x' is stored as uint8, which cannot hold 100"):
        made_of(pattern, array, 100)


@pytest.mark.parametrize("name", CASES)
def test_batches_give_the_same_as_one_piece_also_beyond_the_first_form(name):
    array = pa.array(CASES[name][0])
    pattern = Pattern.learn(array, "x")
    whole = made_of(pattern, array, 2500)
    pieces = [made_of(pattern, array, 700, first) for first in (0, 700, 1400)]
    assert whole[:2100] == [one for piece in pieces for one in piece]
    assert len(set(whole)) == 2500
    assert made_of(pattern, array, 0) == []


def test_a_large_column_is_looked_at_in_pieces(monkeypatch):
    originals = RNG.choice(9 * 10**5, 1000, replace=False) + 10**5
    whole = Pattern.learn(pa.array(originals), "x")
    monkeypatch.setattr("understudy.data.made_up_identifiers._PIECE", 64)
    assert Pattern.learn(pa.array(originals), "x") == whole
    assert not set(made_of(whole, pa.array(originals), 4000)) & set(originals.tolist())


@pytest.mark.parametrize("name", CASES)
def test_a_pattern_goes_into_json_and_comes_back(name):
    pattern = Pattern.learn(pa.array(CASES[name][0]), "x")
    assert Pattern.from_plain(json.loads(json.dumps(pattern.to_plain()))) == pattern


@pytest.mark.parametrize(
    "change", [{"lead": 0}, {"lead": 99}, {"free": []}, {"free": [10**9]}, {"check": "no"},
               {"checked": [99]}, {"places": ["", "a"]}],
)  # fmt: skip
def test_a_damaged_pattern_is_refused(change):
    plain = Pattern.learn(pa.array(CASES["person"][0]), "x").to_plain()
    plain["forms"][0] |= change
    with pytest.raises(ValueError, match="cannot be"):
        Pattern.from_plain(plain)


def test_a_character_of_few_records_is_not_kept():
    # 17 of 300 begin with Z, and one has a place of its own with Q: neither says anything.
    texts = [f"Z{n:05}" for n in range(17)] + [f"K{n:05}" for n in range(17, 299)] + ["KQQQQQ"]
    pattern = Pattern.learn(pa.array(texts), "x")
    (first, *_), *_ = (form.places for form in pattern.forms)
    assert first == "K"
    assert "Q" not in json.dumps(pattern.to_plain())


def test_nineteen_records_share_nothing():
    pattern = Pattern.learn(pa.array([f"K{n:03}" for n in range(19)]), "x")
    assert all(len(place) > 1 for place in pattern.forms[0].places)


def test_no_original_and_no_hash_of_one_is_in_the_model(tmp_path):
    originals = [f"{n:09}" for n in RNG.choice(10**9, 300, replace=False)]
    frame = pl.DataFrame({"id": originals, "sex": ["f", "m"] * 150})
    model = Independent(random_state=1).fit(frame)
    held = json.dumps(model.codec_.to_plain())
    assert not [one for one in originals if one in held]
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    assert loaded.sample(1000).equals(model.sample(1000))
    assert not set(model.sample(1000)["id"]) & set(originals)


def test_a_model_of_a_former_version_counts(tmp_path):
    frame = pl.DataFrame({"id": [f"P{n:04}" for n in range(40)], "no": range(40)})
    schema = Schema.infer(frame.with_columns(sex=pl.lit("f")))
    model = Independent(random_state=1).fit(frame.with_columns(sex=pl.lit("f")), schema)
    object.__setattr__(model.codec_, "made_up", {})
    drawn = model.sample(2)
    assert drawn["id"].to_list() == ["synthetic-1", "synthetic-2"]
    assert drawn["no"].to_list() == [-1, -2]


@given(
    st.lists(st.from_regex(r"[A-C]{1,2}-[0-9]{1,3}", fullmatch=True), unique=True, max_size=80),
    st.integers(1, 300),
)
def test_whatever_the_texts_none_comes_back(originals, count):
    array = pa.array(originals, pa.string())
    made = made_of(Pattern.learn(array, "x"), array, count)
    assert len(set(made)) == count
    assert not set(made) & set(originals)


@given(st.lists(st.integers(-500, 5000), unique=True, max_size=200), st.integers(1, 300))
def test_whatever_the_numbers_none_comes_back(originals, count):
    array = pa.array(originals, pa.int64())
    made = made_of(Pattern.learn(array, "x"), array, count)
    assert len(set(made)) == count
    assert not set(made) & set(originals)


def test_names_of_units_have_room_for_a_new_one_in_each_record():
    codes = pl.Series([f"03{n:04}" for n in range(1, 90) if n % 3])
    array = pl.concat([codes] * 25).to_arrow()
    made = Pattern.learn(array, "provider", len(array)).make("provider", pa.string(), len(array))
    assert {len(one) for one in made.to_pylist()} == {6}
    assert len(set(made.to_pylist())) == len(array)
    assert not set(made.to_pylist()) & set(codes)


def test_few_numbers_go_on_above_the_original_ones():
    """Numbers of people in a household have no form; what is made up looks like a number still."""
    array = pa.array([1, 2, 3, 4, 1, 2] * 40)
    pattern = Pattern.learn(array, "pid", len(array))
    assert pattern.make("pid", pa.int64(), 3).to_pylist() == [10, 11, 12]
    assert pattern.make("pid", pa.int64(), 2, 3).to_pylist() == [13, 14]
    assert Pattern.from_plain(json.loads(json.dumps(pattern.to_plain()))) == pattern
    small = pa.array([1, 2, 3] * 50, pa.int8())  # no room for 150 more above 10
    made = Pattern.learn(small, "pid", 150).make("pid", pa.int8(), 100).to_pylist()
    assert len(set(made)) == 100
    assert not set(made) & {1, 2, 3}
