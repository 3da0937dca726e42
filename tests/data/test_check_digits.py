"""Check digits, with numbers that are published as examples."""

from __future__ import annotations

import pytest

from understudy.data.check_digits import characters_of, check_places, find_check, set_check

EXAMPLES = {
    "luhn": ["4539578763621486", "4111111111111111", "5555555555554444"],
    "mod10": ["9780306406157", "4006381333931", "5901234123457"],
    "isbn10": ["0306406152", "080442957X"],
    "iban": ["DE89370400440532013000", "DE75512108001245126199"],
}


@pytest.mark.parametrize("check", EXAMPLES)
def test_published_numbers_are_recognised(check):
    found = characters_of(EXAMPLES[check])
    assert find_check(found) == check
    places = check_places(check, found)
    blank = found.copy()
    blank[:, places] = ord("0")
    set_check(check, blank, places)
    assert (blank == found).all()


def test_separators_do_not_count():
    found = characters_of(["4539-5787-6362-1486", "4111-1111-1111-1111"])
    assert find_check(found) == "luhn"
    assert check_places("luhn", found) == [18]


@pytest.mark.parametrize("texts", [["12345678", "12345679"], ["AB12", "AB13"], []])
def test_others_have_none(texts):
    assert find_check(characters_of(texts)) == ""


def test_one_wrong_digit_is_seen():
    assert find_check(characters_of(["4539578763621486", "4111111111111112"])) == ""


def test_check_digits_may_be_an_x():
    found = characters_of(["0804429570"])
    set_check("isbn10", found, [9])
    assert chr(found[0, 9]) == "X"
