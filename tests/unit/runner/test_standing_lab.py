"""A lab without a study that does not come up whole: nothing of it is left, and why is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from dunnage import catalog, lab_tool
from dunnage.errors import UnavailableError
from dunnage.hosts.namespace import supports as kernel
from dunnage.model.offer import Support
from dunnage.runner.standing_lab import stand_up
from dunnage.substrates.kubernetes.choices import Choices
from dunnage.substrates.kubernetes.kernel import INOTIFY


@pytest.fixture
def taken_down(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labs that were taken down; none has Docker."""
    found: list[str] = []

    @contextmanager
    def open_lab(_: object) -> Iterator[Any]:
        yield SimpleNamespace(name="0a1b2c3d", hosts=("db-1", "client-1"))
        found.append("left")

    def no_docker(*_: object, **__: object) -> NoReturn:
        raise UnavailableError("there is no dockerd", hint="apt-get install docker.io")

    monkeypatch.setattr(lab_tool, "open_lab", open_lab)
    monkeypatch.setattr(lab_tool, "chosen_lab", lambda name: name)
    monkeypatch.setattr(lab_tool, "take_down_lab", found.append)
    monkeypatch.setattr(catalog, "obtain", lambda *_: None)
    monkeypatch.setattr(catalog, "open_substrate", no_docker)
    return found


def stood(*wanted: str) -> str:
    told: list[str] = []
    made = stand_up(1, wanted, choices=Choices(), expose=False, tell=told.append)
    assert told == ["2 hosts"]
    return made.lab


def test_a_lab_that_lacks_what_was_asked_for_is_taken_down(taken_down: list[str]) -> None:
    with pytest.raises(UnavailableError, match="there is no dockerd"):
        stood("docker")
    assert taken_down == ["0a1b2c3d"]


def test_without_room_for_a_kubernetes_no_host_is_made(
    taken_down: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(needed: int) -> Support:
        return Support(False, f"{needed} instances are needed", "sysctl x=1")

    monkeypatch.setattr(kernel, "inotify_room", full)
    with pytest.raises(UnavailableError, match=f"{3 * INOTIFY} instances") as refused:
        stand_up(1, ["kubernetes"], choices=Choices(), expose=False, tell=taken_down.append)
    assert refused.value.hint == "sysctl x=1"
    assert taken_down == []


def test_a_lab_that_has_all_of_it_stands(taken_down: list[str]) -> None:
    assert stood() == "0a1b2c3d"
    assert taken_down == ["left"]


def test_why_a_lab_did_not_come_up_is_told_though_it_cannot_be_taken_down(
    taken_down: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_: str) -> NoReturn:
        raise UnavailableError("its files are in use")

    monkeypatch.setattr(lab_tool, "take_down_lab", busy)
    with pytest.raises(UnavailableError, match="there is no dockerd") as first:
        stood("docker")
    assert first.value.__notes__ == ["during clean-up: its files are in use"]
