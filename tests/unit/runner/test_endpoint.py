"""What an endpoint stands for where clients run."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dunnage.contracts.host import Completed, Host
from dunnage.errors import StayError
from dunnage.model.layout import Address, Target
from dunnage.runner.endpoint import allowed, resolved

NAMED = Address("redis-1", 6379)
OWN = Address("10.0.1.7", 6379)


def target(*endpoint: Address) -> Target:
    return Target("redis", "single", endpoint[:1], frozenset(endpoint), {})


def client(name: str, answers: dict[str, list[str]] | str) -> Host:
    """A host whose engine resolves names, or complains."""

    def run(argv: list[str], **_: Any) -> Completed:
        assert argv[:2] == ["engine", "resolve"]
        if isinstance(answers, str):
            return Completed(1, "", answers)
        return Completed(0, json.dumps({each: answers[each] for each in argv[2:]}), "")

    return cast("Host", SimpleNamespace(name=name, engine="engine", run=run))


def test_numbers_stand_for_themselves_and_nobody_is_asked() -> None:
    asked = client("client-1", "never")
    assert resolved(target(OWN), [asked]) == {}
    assert allowed(target(OWN), {}) == {"10.0.1.7:6379"}


def test_a_name_stands_for_every_address_that_a_client_resolves_it_to() -> None:
    names = resolved(
        target(NAMED, OWN), [client("client-1", {"redis-1": ["10.0.1.8", "10.0.1.7"]})]
    )
    assert names == {"redis-1": ("10.0.1.7", "10.0.1.8")}
    assert allowed(target(NAMED, OWN), names) == {"10.0.1.7:6379", "10.0.1.8:6379"}


def test_a_name_that_means_nothing_is_told_with_the_clients_words() -> None:
    with pytest.raises(
        StayError, match=r"client-1: the endpoint has no address here: no such name"
    ):
        resolved(target(NAMED), [client("client-1", "no such name")])


def test_clients_that_resolve_a_name_in_different_ways_are_refused() -> None:
    clients = [client(f"client-{n}", {"redis-1": [f"10.0.1.{n}"]}) for n in (1, 2)]
    with pytest.raises(StayError, match=r"client-2: names of the endpoint mean other addresses"):
        resolved(target(NAMED), clients)
