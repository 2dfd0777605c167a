"""What a pytest process tells the gate: a line of JSON for each test that starts or ends.

Where tests are only collected, there is a line of what is known of each.
Only the process that reports writes; workers of pytest-xdist send it what they found.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

from gate.known import made_for
from gate.lanes import KUBERNETES, called_kubernetes, lane, scope

PURE_LIMIT = 60
"""Seconds that a test may take which starts no daemon and names no limit of its own."""
CLEANING = 60
"""Seconds beyond its limit in which a test that is over may still clean up."""
_LOG = os.dup(2)
"""Where standard error leads before pytest takes it for itself."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tell", metavar="FILE", help="where the gate reads what became of tests")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--tell") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Teller(Path(config.getoption("--tell"))), "gate-teller")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give tests their limits, and the mark that their names tell; what may take long begins.

    Lanes are first of all. Then workers end at nearly the same time. Whoever wants another order
    sorts after this.
    """
    limits: dict[Path, float] = {}
    lanes: dict[str, str] = {}
    for item in items:
        real = any(item.get_closest_marker(name) for name in ("live", "browser", "proof"))
        if real and called_kubernetes(item.nodeid):
            item.add_marker(KUBERNETES)
        if not real and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(PURE_LIMIT))
        limits[item.path] = max(limits.get(item.path, 0.0), _limit(item))
        if own := lane(item.nodeid, {mark.name for mark in item.iter_markers()}):
            lanes[item.nodeid] = own
    items.sort(key=lambda item: (-limits[item.path], item.nodeid not in lanes))
    if hasattr(config, "workerinput") and config.getoption("--tell"):
        _lanes(config).write_text(json.dumps(lanes), encoding="utf-8")


def _lanes(config: pytest.Config) -> Path:
    """Where workers of pytest-xdist, which know the marks of tests, tell the process that gives
    them out; each writes the same, before it says what it has found."""
    return Path(config.getoption("--tell")).with_suffix(".lanes")


def _limit(item: pytest.Item) -> float:
    """Seconds that a test may take; 0 where nothing limits it."""
    marker = item.get_closest_marker("timeout")
    if marker is None:
        return float(item.config.getini("timeout") or 0.0)
    return float(marker.args[0] if marker.args else marker.kwargs["timeout"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with _watched(item, fixtures=True):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with _watched(item, fixtures=False):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    with _watched(item, fixtures=False):
        return (yield)


@contextlib.contextmanager
def _watched(item: pytest.Item, *, fixtures: bool) -> Iterator[None]:
    """End this process where a test hangs that no signal reaches; the log says where it was.

    Its limit is pytest-timeout's, by a signal; after that no clean-up of it has any. Only a test is
    watched whose limit has its `fixtures` in it, or has not, as where they build for many minutes.
    """
    limit = _limit(item)
    if not limit or fixtures is _without_fixtures(item):
        yield
        return
    faulthandler.dump_traceback_later(limit + CLEANING, exit=True, file=_LOG)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _without_fixtures(item: pytest.Item) -> bool:
    """Whether a test's limit leaves out its fixtures."""
    marker = item.get_closest_marker("timeout")
    return marker is not None and bool(marker.kwargs.get("func_only"))


class OneScope(LoadScopeScheduling):  # type: ignore[misc]
    """Tests of a module or class go to one worker, and so do all of a lane."""

    @cached_property
    def _lanes(self) -> Mapping[str, str]:
        """Test → its lane; asked for when all workers have told what they found."""
        if not self.config.getoption("--tell"):
            return {}
        told: dict[str, str] = json.loads(_lanes(self.config).read_text(encoding="utf-8"))
        return told

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid, self._lanes.get(nodeid, ""))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneScope | None:
    return OneScope(config, log) if config.getvalue("dist") == "loadscope" else None


class Teller:
    """Writes what became of each test, as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("a", encoding="utf-8")
        self._ended: dict[str, dict[str, Any]] = {}
        self._counted = False

    def _tell(self, event: str, **told: object) -> None:
        self._file.write(json.dumps({"event": event, **told}) + "\n")
        self._file.flush()

    def _count(self, ids: Sequence[str]) -> None:
        if not self._counted:
            self._counted = True
            self._tell("collected", tests=list(ids))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self._count([item.nodeid for item in session.items])
        if session.config.getoption("collectonly"):
            for item in session.items:
                self._tell(
                    "known",
                    test=item.nodeid,
                    marks=sorted({mark.name for mark in item.iter_markers()}),
                    limit=_limit(item),
                    made_for=made_for(item),
                )

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._count(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be collected, or that is skipped as a whole, is one test."""
        if report.failed or report.skipped:
            why = report.longreprtext if report.failed else _reason(report)
            self._tell("ended", test=report.nodeid, outcome=report.outcome, seconds=0.0, why=why)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._tell("started", test=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        whole = self._ended.setdefault(
            report.nodeid, {"outcome": "passed", "seconds": 0.0, "why": "", "seen": []}
        )
        whole["seconds"] += report.duration
        whole["seen"] = [str(value) for name, value in report.user_properties if name == "seen"]
        if report.failed:
            shown = [report.longreprtext, *(text for _, text in report.sections)]
            whole["outcome"], whole["why"] = "failed", "\n".join([whole["why"], *shown]).strip()
        elif report.skipped and whole["outcome"] == "passed":
            whole["outcome"], whole["why"] = "skipped", _reason(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        whole = self._ended.pop(nodeid, None)
        if whole is not None:
            self._tell("ended", test=nodeid, **whole)

    def pytest_sessionfinish(self) -> None:
        """A worker that ended by itself leaves a failure, and no end of its test."""
        for nodeid in [test for test, whole in self._ended.items() if whole["outcome"] == "failed"]:
            self.pytest_runtest_logfinish(nodeid)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped, or was expected to fail."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(getattr(report, "wasxfail", report.longreprtext))
