"""Deployments that live at once: all come up side by side, and whoever came up goes down."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import cast

import pytest

from dunnage.errors import StayError
from dunnage.runner.stay import Stay
from dunnage.runner.together import named, side_by_side
from dunnage.runner.work import said


def scope(
    name: str, log: list[str], meet: threading.Barrier | None = None, fails: str = ""
) -> AbstractContextManager[Stay]:
    @contextmanager
    def living() -> Iterator[Stay]:
        if meet is not None:
            meet.wait(10.0)
        if fails == "up":
            raise StayError(f"{name} did not come up")
        try:
            yield cast("Stay", name)
        finally:
            log.append(name)
            if fails == "down":
                raise StayError(f"{name} did not go down")

    return living()


def test_all_come_up_at_the_same_time_and_go_down() -> None:
    log: list[str] = []
    meet = threading.Barrier(3)
    with side_by_side([scope(name, log, meet) for name in "abc"]) as stays:
        assert list(map(str, stays)) == ["a", "b", "c"]
        assert log == []
    assert sorted(log) == ["a", "b", "c"]


def test_where_one_does_not_come_up_the_others_go_down_and_it_is_told() -> None:
    log: list[str] = []
    scopes = [scope("a", log), scope("b", log, fails="up"), scope("c", log)]
    with pytest.raises(StayError, match="b did not come up"), side_by_side(scopes):
        raise AssertionError("unreachable")
    assert sorted(log) == ["a", "c"]


def test_an_error_while_coming_up_names_its_deployment_and_no_later_one_does() -> None:
    scopes = [named(scope("a", []), "native"), named(scope("b", [], fails="up"), "docker")]
    with pytest.raises(StayError) as failed, side_by_side(scopes):
        raise AssertionError("unreachable")
    assert said(failed.value) == "b did not come up; deployment `docker`"
    with pytest.raises(StayError) as later, side_by_side([named(scope("a", []), "native")]):
        raise StayError("died")
    assert said(later.value) == "died"


def test_what_happens_meanwhile_is_told_and_not_what_goes_wrong_while_leaving() -> None:
    log: list[str] = []
    scopes = [scope("a", log), scope("b", log)]
    with pytest.raises(KeyError, match="meanwhile"), side_by_side(scopes):
        raise KeyError("meanwhile")
    assert sorted(log) == ["a", "b"]
    ending = [scope("a", log, fails="down"), scope("b", log)]
    with pytest.raises(StayError, match="a did not go down"), side_by_side(ending):
        log.clear()
    assert sorted(log) == ["a", "b"]
