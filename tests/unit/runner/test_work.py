"""A stay that fails is told with what to type, and tried once more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from dunnage.errors import TO_LOOK, DunnageError, StayError, UnavailableError
from dunnage.model.plan import StayPlan
from dunnage.model.study import TestbedSpec
from dunnage.runner.hints import fitting, named
from dunnage.runner.work import Work, until_done

LAB = TestbedSpec(kind="namespace")
NODES = TestbedSpec(kind="nodes", context="their cluster", image="redis:7.0")
PLANNED = StayPlan(id="b01-d", block=1, deployment="d", runs=())


def tried(testbed: TestbedSpec, *errors: DunnageError) -> list[str]:
    """What the user is told while stays fail so, one after the other."""
    told: list[str] = []
    left = list(errors)
    writer = SimpleNamespace(
        journal=lambda *_, **__: None, layout=SimpleNamespace(study=Path("results/my study.yaml"))
    )
    hosts = SimpleNamespace(group=lambda _: (), lost=lambda: ())
    equipment = SimpleNamespace(
        study=SimpleNamespace(testbed=testbed), writer=writer, testbed=hosts, substrates={}
    )
    work = SimpleNamespace(
        equipment=equipment,
        stop=SimpleNamespace(check=lambda: None),
        told=set(),
        watcher=SimpleNamespace(say=told.append),
    )

    def fail() -> None:
        raise left.pop(0)

    for _ in errors[::2]:
        until_done(cast("Work", work), lambda: bool(left), fail, PLANNED, "stay `b01-d`")
    return told


def test_what_to_type_is_told_once_for_failures_of_one_kind() -> None:
    died = [StayError(f"died {n}", where="redis-1", hint=TO_LOOK) for n in range(4)]
    assert tried(LAB, *died) == [
        "stay `b01-d` failed: redis-1: died 0",
        "  try: dunnage run --keep 'results/my study.yaml'  # to look at the hosts",
        *["stay `b01-d` failed: the same as before"] * 3,
    ]


def test_each_kind_of_failure_has_its_own_hint_and_one_may_have_none() -> None:
    first = StayError("no pod", hint="kubectl --context theirs describe nodes")
    assert tried(NODES, first, StayError("no name")) == [
        "stay `b01-d` failed: no pod",
        "  try: kubectl --context theirs describe nodes",
        "stay `b01-d` failed: no name",
    ]


@pytest.mark.parametrize("kind", [StayError, UnavailableError])
def test_where_nothing_is_kept_nobody_is_told_to_keep_it(
    kind: Callable[..., DunnageError],
) -> None:
    for testbed, hint in ((NODES, "dunnage doctor --context 'their cluster'"), (LAB, TO_LOOK)):
        with pytest.raises(DunnageError) as failed, fitting(testbed):
            raise kind("died", hint=TO_LOOK)
        assert failed.value.hint == hint


def test_only_the_word_for_a_study_is_its_file() -> None:
    path = Path("a b/STUDY.yaml")
    assert named("dunnage plan STUDY STUDY.yaml", path) == (
        "dunnage plan 'a b/STUDY.yaml' STUDY.yaml"
    )
