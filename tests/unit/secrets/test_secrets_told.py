"""What is said of a place: no word of it is lost, whatever the place is called."""

from __future__ import annotations

import pytest

from dunnage.errors import StayError
from dunnage.model.damage import Damage, Flaw
from dunnage.runner.work import said
from dunnage.secrets.texts import masked, told_of
from dunnage.wording import damage


@pytest.mark.parametrize("place", ["/r/password", "/r/my secret", "db.passwd", "secret"])
def test_a_place_is_never_the_key_of_the_word_behind_it(place: str) -> None:
    assert told_of(place, "gone or lost") == f"`{place}`: gone or lost"
    error = StayError("gone or lost", where=place)
    error.add_note("password: geheim")
    lost = damage.line(Damage(file=place, flaw=Flaw.MISSING))
    for text in (str(error), said(error), lost):
        assert masked(text) == text
    assert said(error) == f"`{place}`: gone or lost; password: •••"
    assert lost == f"`{place}`: it is missing"


@pytest.mark.parametrize("place", ["/r/2026", "runs/b01-token-A/record.json", "a b", "password=x"])
def test_any_other_place_is_told_as_it_is(place: str) -> None:
    assert told_of(place, "gone") == f"{place}: gone"


def test_a_secret_of_what_is_told_stays_one() -> None:
    assert str(StayError("password: geheim", where="password")) == "`password`: password: •••"
