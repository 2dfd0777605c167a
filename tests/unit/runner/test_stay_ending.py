"""Tearing down never hides the error that ended a stay."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from dunnage.errors import HostLostError, RunError, StayError
from dunnage.runner.stay import _ending


def lose() -> None:
    raise HostLostError("no longer answers", where="db-1")


def test_an_error_while_tearing_down_is_a_note_of_the_first() -> None:
    with pytest.raises(StayError, match="not ready") as raised, ExitStack() as stack:
        stack.push(_ending(lose))
        stack.push(_ending(lose))
        raise StayError("not ready", where="redis-1")
    assert raised.value.__notes__ == ["while tearing down: db-1: no longer answers"] * 2


def test_an_error_while_tearing_down_is_told_when_there_was_none_before() -> None:
    with pytest.raises(HostLostError, match="no longer answers"), ExitStack() as stack:
        stack.push(_ending(lose))


def test_all_is_torn_down_whatever_fails_on_the_way() -> None:
    done: list[str] = []
    with pytest.raises(HostLostError), ExitStack() as stack:
        stack.push(_ending(lambda: done.append("platform")))
        stack.push(_ending(lose))
        stack.push(_ending(lambda: done.append("logs")))
    assert done == ["logs", "platform"]


def test_a_bug_while_tearing_down_is_not_taken_for_an_expected_error() -> None:
    def bug() -> None:
        raise KeyError("bug")

    with pytest.raises(KeyError), ExitStack() as stack:
        stack.push(_ending(bug))
        raise RunError("first")
