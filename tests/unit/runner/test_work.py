"""A stay that fails is told with what to type, and tried once more."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dunnage.errors import TO_LOOK, DunnageError, StayError, UnavailableError
from dunnage.model.plan import StayPlan
from dunnage.model.study import TestbedSpec
from dunnage.runner.hints import fitting, named
from dunnage.runner.interrupt import Stop
from dunnage.runner.living_stay import _explaining, _keep_logs
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
        stop=Stop(),
        unmended=set(),
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


class Mended:
    """A substrate that fails as often as it is told, and a testbed of which one host is lost."""

    def __init__(self, *failures: DunnageError) -> None:
        self.failures = list(failures)
        self.lost_hosts = ["db-1"]
        self.history: list[str] = []

    def mend(self, host: str) -> None:
        self.history.append(f"mend {host}")
        if self.failures:
            raise self.failures.pop(0)

    def group(self, _: str) -> tuple[()]:
        return ()

    def lost(self) -> tuple[str, ...]:
        return tuple(self.lost_hosts)

    def restore(self, host: str) -> None:
        self.history.append(f"restore {host}")
        self.lost_hosts.remove(host)

    def journal(self, event: str, **_: object) -> None:
        self.history.append(event)

    layout = SimpleNamespace(study=Path("study.yaml"))

    def work(self, stop: Stop) -> Work:
        """Stays that are carried out here."""
        equipment = SimpleNamespace(
            study=SimpleNamespace(testbed=LAB), writer=self, testbed=self, substrates={"it": self}
        )
        made = SimpleNamespace(
            equipment=equipment,
            stop=stop,
            told=set(),
            unmended=set(),
            kept={},
            watcher=SimpleNamespace(say=self.history.append),
        )
        return cast("Work", made)


def carried_out(mended: Mended, stop: Stop) -> list[DunnageError | None]:
    """How two planned stays end, of which the first loses its host."""
    work, left = mended.work(stop), [StayError("died")]

    def stay() -> None:
        mended.history.append("stay")
        if left:
            raise left.pop()

    due = iter([True, True, True, False])
    return [until_done(work, lambda: next(due), stay, PLANNED, "it") for _ in range(2)]


def test_a_host_that_came_back_is_mended_before_the_next_stay() -> None:
    mended = Mended()
    carried_out(mended, Stop())
    tried = ["stay", "stay failed", "it failed: died", "restore db-1", "host restored"]
    assert mended.history == [*tried, "mend db-1", "stay", "stay"]


def test_what_is_not_mended_yet_fails_a_stay_and_not_the_study() -> None:
    late = UnavailableError("names are not found within 60 s", where="db-1")
    mended = Mended(late)
    first, second = carried_out(mended, Stop())
    assert isinstance(first, StayError)
    assert first.what == late.what
    assert second is None
    assert mended.history.count("mend db-1") == 2
    assert mended.history[-2:] == ["mend db-1", "stay"]


def test_the_first_ctrl_c_ends_the_wait_for_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Mended, host: str) -> None:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError(f"{host} is waited for")

    monkeypatch.setattr(Mended, "restore", interrupted)
    with Stop() as stop, pytest.raises(KeyboardInterrupt):
        carried_out(Mended(), stop)
    assert stop.count == 1


def test_a_log_that_cannot_be_kept_says_so_and_fails_no_stay() -> None:
    kept: dict[str, str] = {}

    def log(member: str, _: int) -> str:
        if member == "redis-1":
            raise StayError("the pod's log cannot be read: away", where=member)
        return "its last words"

    platform, writer = (
        SimpleNamespace(log=log),
        SimpleNamespace(stay_log=lambda stay, name, text: kept.update({f"{stay}/{name}": text})),
    )
    _keep_logs(cast("Any", platform), ("redis-1", "redis-2"), cast("Any", writer), "b01-d-1")
    assert kept == {
        "b01-d-1/redis-1.log": (
            "(the log could not be read: redis-1: the pod's log cannot be read: away)\n"
        ),
        "b01-d-1/redis-2.log": "its last words",
    }


class Telling:
    """A platform that tells what it sees of a stay, or why it cannot."""

    looking = "kubectl describe nodes"

    def __init__(self, failure: StayError | None = None) -> None:
        self.failure = failure

    def account(self) -> str:
        if self.failure is not None:
            raise self.failure
        return "pod redis-1-0 on no node: Pending\n"


def explained(platform: object, error: Exception, place: Path) -> Path:
    """The file that is kept when a stay ends by an error, whether or not it is there."""
    kept = place / "account.txt"
    writer = SimpleNamespace(
        layout=SimpleNamespace(stay_log=lambda _stay, name: place / name),
        stay_log=lambda _stay, name, text: (place / name).write_text(text),
    )
    _explaining(cast("Any", platform), cast("Any", writer), "b01-d-1")(type(error), error, None)
    return kept


def test_what_is_told_of_a_stay_that_fails_is_kept_and_its_error_names_the_file(
    tmp_path: Path,
) -> None:
    error = StayError("no pod", hint=Telling.looking)
    kept = explained(Telling(), error, tmp_path)
    assert kept.read_text() == "pod redis-1-0 on no node: Pending\n"
    assert error.hint == f"less {kept}"


def test_a_better_hint_stays_as_it_is_and_nothing_is_asked(tmp_path: Path) -> None:
    for error in (StayError("no", hint="dunnage schema study"), ZeroDivisionError()):
        platform = Telling(StayError("it is asked"))
        assert not explained(platform, error, tmp_path).exists()
        assert not getattr(error, "__notes__", ())
    error = StayError("no", hint=Telling.looking)
    assert not explained(object(), error, tmp_path).exists()
    assert error.hint == Telling.looking


def test_what_nobody_tells_of_a_stay_hides_no_error(tmp_path: Path) -> None:
    error = StayError("no pod", hint=Telling.looking)
    away = StayError("pods cannot be listed: away", where="kubernetes")
    assert not explained(Telling(away), error, tmp_path).exists()
    assert error.__notes__ == [
        "what is told of it cannot be kept: kubernetes: pods cannot be listed: away"
    ]
    assert error.hint == Telling.looking
