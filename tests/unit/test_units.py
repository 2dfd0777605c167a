"""Quantities are read as people write them and written as people read them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from dunnage.units import (
    DURATIONS,
    SIZES,
    Bytes,
    Hertz,
    Seconds,
    Share,
    alike,
    duration,
    percent,
    quantity,
    size,
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Seconds, "15s", 15.0),
        (Seconds, "200ms", 0.2),
        (Seconds, "1.5 min", 90.0),
        (Seconds, "2h", 7200.0),
        (Seconds, "7µs", 7e-6),
        (Seconds, 3, 3.0),
        (Share, "3%", 0.03),
        (Share, "0.03", 0.03),
        (Bytes, "512MiB", 512 * 2**20),
        (Bytes, "1_000 KB", 1e6),
        (Hertz, "5Hz", 5.0),
    ],
)
def test_a_quantity_is_read_into_its_base_unit(kind: Any, text: object, value: float) -> None:
    assert TypeAdapter(kind).validate_python(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["15 parsecs", "", "s", "1,5s", "1e3s", "--1s", "0x10", "1s2", "٢s", "2٢s"]
)
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValidationError, match="is not a duration; write a number with a unit of"):
        TypeAdapter(Seconds).validate_python(text)


@pytest.mark.parametrize("value", [True, None, [], {}])
def test_what_is_no_number_at_all_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="write for example `15s`"):
        quantity(value, DURATIONS)


@pytest.mark.parametrize("text", ["9" * 400 + "s", "1s" + " " * 100_000 + "x", "1\n" * 50_000])
def test_a_number_of_too_many_letters_is_refused_at_once_and_not_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration") as raised:
        quantity(text, DURATIONS)
    assert len(str(raised.value)) < 200


@given(st.integers(0, 10**6), st.sampled_from(sorted(SIZES.factors)), st.sampled_from(("", " ")))
def test_reading_is_multiplying_with_the_unit(number: int, unit: str, gap: str) -> None:
    assert quantity(f"{number}{gap}{unit}", SIZES) == number * SIZES.factors[unit]


@given(st.text(max_size=20))
def test_reading_any_text_gives_a_number_or_a_sentence(text: str) -> None:
    try:
        assert isinstance(quantity(text, DURATIONS), float)
    except ValueError as error:
        assert "duration" in str(error)


ADAPTERS = {
    name: TypeAdapter[float](kind)
    for name, kind in {"s": Seconds, "%": Share, "MiB": Bytes, "Hz": Hertz}.items()
}
PATTERNS = {
    name: re.compile(adapter.json_schema()["anyOf"][1]["pattern"])
    for name, adapter in ADAPTERS.items()
}


@pytest.mark.parametrize("unit", list(ADAPTERS))
@given(text=st.from_regex(r"\s?[+-]?\d{1,5}(\.\d)?\s?(s|ms|%|KiB|Hz|x)?\s?", fullmatch=True))
def test_the_schema_accepts_what_is_read_and_nothing_else(unit: str, text: str) -> None:
    try:
        ADAPTERS[unit].validate_python(text)
    except ValidationError:
        assert not PATTERNS[unit].search(text)
    else:
        assert PATTERNS[unit].search(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (0.85, "850 ms"),
        (4.2, "4.2 s"),
        (9.99, "10 s"),
        (59.9, "1 min 00 s"),
        (200.0, "3 min 20 s"),
        (3599.9, "1 h 00 min"),
        (3900.0, "1 h 05 min"),
        (0.9999, "1.0 s"),
    ],
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (512 * 2**20, "512.0 MiB")],
)
def test_sizes_are_written_for_people(count: float, text: str) -> None:
    assert size(count) == text
    assert size(2**50) == "1048576.0 GiB"


@pytest.mark.parametrize(
    ("share", "sign", "text"),
    [
        (0.031, False, "3.1 %"),
        (0.031, True, "+3.1 %"),
        (-0.5, True, "-50.0 %"),
        (2, False, "200 %"),
    ],
)
def test_shares_are_written_as_percentages(share: float, sign: bool, text: str) -> None:
    assert percent(share, sign=sign) == text


@pytest.mark.parametrize(
    ("number", "said", "told"),
    [
        (1.0, "200ms", "1s"),
        (0.15, "5 min", "0.15s"),
        (0.005, "0.1%", "0.5%"),
        (0.0, "-3MiB", "0B"),
        (20.0, "50Hz", "20Hz"),
        (1.0, 0, "1"),
        (4.0, "many", "4"),
    ],
)
def test_a_bound_is_told_in_the_kind_of_unit_that_was_written(
    number: float, said: object, told: str
) -> None:
    assert alike(number, said) == told
