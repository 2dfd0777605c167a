"""Late addresses are filled in when they are known, and only then."""

from __future__ import annotations

from dunnage.model.late import fill, late_host, unfilled
from dunnage.model.layout import Address


def test_the_text_of_a_late_address_is_what_fill_replaces() -> None:
    address = Address(late_host("db-1"), 7000)
    assert fill(f"listen {address};", {"db-1": "198.51.100.7"}) == "listen 198.51.100.7:7000;"


def test_only_known_members_are_filled_in_and_the_rest_is_named() -> None:
    text = f"{late_host('a')} {late_host('b')} {late_host('a')}"
    half = fill(text, {"a": "one"})
    assert half == "one @late:b@ one"
    assert unfilled(text) == {"a", "b"}
    assert unfilled(half) == {"b"}
    assert unfilled(fill(half, {"b": "two"})) == frozenset()


def test_one_members_name_is_not_mistaken_for_the_beginning_of_another() -> None:
    assert fill(late_host("db-10"), {"db-1": "wrong", "db-10": "right"}) == "right"


def test_text_without_placeholders_is_left_alone() -> None:
    text = "mail@late:example and user@host"
    assert fill(text, {"example": "x"}) == text
    assert unfilled(text) == frozenset()
