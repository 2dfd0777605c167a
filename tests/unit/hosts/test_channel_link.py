"""A conversation with an agent that is played here, and the host behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_traces import eventually
from played_agent import HELLO, Agent, Told, once_more

from dunnage.contracts.host import Completed
from dunnage.errors import HostLostError, RunError, UnavailableError
from dunnage.hosts.channel import link as made_here
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.hosts.channel.host import ChannelHost, Groups
from dunnage.hosts.channel.link import Link
from dunnage.hosts.channel.process import ChannelProcess
from dunnage.hosts.machine_clock import MachineClock
from dunnage.model.study import Limits


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def link(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Iterator[Link]:
    monkeypatch.setattr(made_here, "PATIENCE", 1.0)
    monkeypatch.setattr(made_here, "_AGAIN", 0.01)
    joined = Link("db-1", agent.open)
    yield joined
    joined.close()


def test_a_question_is_answered_with_its_bytes(agent: Agent, link: Link) -> None:
    agent.answers["get"] = {"told": "content", "bytes": b"\x00\xff" * 100_000}
    header, content = link.ask("get", path="/file")
    assert (header["told"], content) == ("content", b"\x00\xff" * 100_000)
    assert agent.asked[-1]["path"] == "/file"


def test_many_ask_at_once_and_each_gets_its_own_answer(agent: Agent, link: Link) -> None:
    agent.answers["get"] = lambda header, _: {"told": "content", "bytes": header["path"].encode()}
    found: dict[str, bytes] = {}

    def ask(path: str) -> None:
        found[path] = link.ask("get", path=path)[1]

    threads = [threading.Thread(target=ask, args=(str(at),)) for at in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == {str(at): str(at).encode() for at in range(20)}


def test_what_the_agent_could_not_do_is_told(agent: Agent, link: Link) -> None:
    agent.answers["put"] = {"told": "failed", "why": "no space"}
    with pytest.raises(RunError, match="db-1: its agent could not put: no space"):
        link.ask("put", b"x", path="/f", mode=420)


def test_what_may_be_asked_twice_is_asked_again_by_the_next_stream(
    agent: Agent, link: Link
) -> None:
    agent.answers["get"] = once_more(agent, {"told": "missing"})
    assert link.ask("get", path="/f")[0]["told"] == "missing"
    assert agent.streams == 2


def test_of_a_command_nobody_knows_what_became_of_it_when_the_stream_breaks(
    agent: Agent, link: Link
) -> None:
    agent.answers["run"] = once_more(agent, {"told": "late"})
    with pytest.raises(RunError, match="the connection to its agent broke meanwhile"):
        link.ask("run", argv=["true"], seconds=1.0)
    assert link.ask("time")[0]["time"] == 1e9


def test_what_was_started_though_nobody_was_told_so_is_killed_by_the_next_stream(
    agent: Agent, link: Link
) -> None:
    agent.answers["start"] = {"told": "started", "process": 1, "pid": 77}
    link.ask("start", argv=["known"], unit="u", env={}, log="/mine/log")
    known = [{"process": 1, "code": None}, {"process": 2, "code": None}, {"process": 3, "code": 0}]
    agent.answers["hello"] = {**HELLO, "processes": known}
    agent.answers["start"] = once_more(agent, {"told": "started", "process": 2, "pid": 78})
    with pytest.raises(RunError, match="the connection to its agent broke meanwhile"):
        link.ask("start", argv=["stray"], unit="u", env={}, log="/mine/log")
    link.ask("time")
    killed = [each for each in agent.asked if each["ask"] == "signal"]
    assert killed == [{"id": 0, "ask": "signal", "name": "KILL", "process": 2}]


def test_an_end_is_told_without_being_asked_for_and_after_a_break_too(
    agent: Agent, link: Link
) -> None:
    assert link.code(1) is None
    assert link.await_end(1, 0.01) is None
    agent.say({"told": "ended", "process": 1, "code": 3})
    assert link.await_end(1, 10.0) == 3
    known = [{"process": 2, "code": -9}, {"process": 3, "code": None}]
    agent.answers["hello"] = {**HELLO, "processes": known}
    agent.cut()
    assert link.await_end(2, 10.0) == -9
    assert link.code(3) is None


@pytest.mark.parametrize("gone", [GoneError("the pod is gone"), ChannelError("no way there")])
def test_a_host_whose_agent_does_not_come_back_is_lost(
    agent: Agent, link: Link, gone: ChannelError
) -> None:
    agent.say({"told": "ended", "process": 1, "code": 0})
    assert link.await_end(1, 10.0) == 0
    agent.refused = gone
    agent.cut()
    with pytest.raises(HostLostError, match=f"db-1: the host no longer answers: {gone}"):
        link.await_end(2, 10.0)
    with pytest.raises(HostLostError):
        link.ask("time")
    assert link.code(1) == 0
    assert link.lost == str(gone)


def test_what_is_asked_when_a_host_is_lost_fails(agent: Agent, link: Link) -> None:
    def vanish(*_: object) -> None:
        agent.refused = GoneError("gone")
        agent.cut()

    agent.answers["get"] = vanish
    with pytest.raises(HostLostError, match="gone"):
        link.ask("get", path="/f")


def test_an_agent_that_does_not_answer_is_lost(
    agent: Agent, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_here, "_ANSWER", 0.0)
    monkeypatch.setattr(made_here, "PATIENCE", 0.05)
    with pytest.raises(HostLostError, match="does not answer"):
        link.ask("get", path="/f")


def test_an_agent_of_another_version_is_refused(agent: Agent) -> None:
    agent.answers["hello"] = {"told": "failed", "why": "version 1, not 2"}
    with pytest.raises(GoneError, match="version 1, not 2"):
        Link("db-1", agent.open)


def test_a_stream_that_is_not_greeted_or_ends_at_once_is_no_way(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_here, "_ANSWER", 0.05)
    agent.answers["hello"] = None
    with pytest.raises(ChannelError, match="does not answer"):
        Link("db-1", agent.open)
    agent.answers["hello"] = lambda *_: agent.cut()
    with pytest.raises(ChannelError, match="the stream ended"):
        Link("db-1", agent.open)


def test_an_agent_is_told_that_we_live_and_a_dead_stream_is_noticed(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_here, "BEAT", 0.02)
    monkeypatch.setattr(made_here, "_AGAIN", 0.01)
    joined = Link("db-1", agent.open)
    try:
        assert eventually(lambda: [each["ask"] for each in agent.asked].count("time") > 3)
        assert agent.streams == 1
        agent.answers["time"] = None
        assert eventually(lambda: agent.streams > 1)
    finally:
        joined.close()


def test_an_agent_is_asked_for_the_time_while_other_things_are_asked_as_well(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead stream would not be told from one on which all that was asked takes long."""
    monkeypatch.setattr(made_here, "BEAT", 0.05)
    agent.answers["get"] = {"told": "missing"}
    joined = Link("db-1", agent.open)
    try:
        for _ in range(5000):
            joined.ask("get", path="/f")
            if any(each["ask"] == "time" for each in agent.asked):
                break
        assert any(each["ask"] == "time" for each in agent.asked)
        assert agent.streams == 1
    finally:
        joined.close()


def test_a_message_that_nobody_understands_loses_the_host_and_hangs_nobody(
    agent: Agent, link: Link
) -> None:
    agent.say({"told": "ended"})
    with pytest.raises(HostLostError, match="KeyError"):
        link.await_end(1, 10.0)


def test_nothing_is_asked_of_a_link_that_was_closed(agent: Agent) -> None:
    joined = Link("db-1", agent.open)
    joined.close()
    joined.close()
    with pytest.raises(HostLostError, match="its testbed was closed"):
        joined.ask("time")


def test_a_link_can_be_closed_while_its_stream_is_away(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_here, "_AGAIN", 0.01)
    joined = Link("db-1", agent.open)
    agent.refused = ChannelError("away")
    agent.cut()
    time.sleep(0.05)
    joined.close()
    assert agent.streams == 1


# A host by its link.


@pytest.fixture
def host(link: Link) -> ChannelHost:
    return ChannelHost(
        name="db-1",
        group="db",
        address="10.0.0.1",
        scratch="/mine/db-1",
        groups=lambda: Groups("/", "/pods/p", {"agent": "/pods/p"}),
        confined="",
        clock=MachineClock(),
        link=lambda: link,
    )


def test_a_command_has_both_outputs_apart(agent: Agent, host: ChannelHost) -> None:
    agent.answers["run"] = {"told": "ran", "code": 2, "stdout": 3, "bytes": b"outerr"}
    done = host.run(["a", "b"], stdin="in", unit="inspect")
    assert done == Completed(2, "out", "err")
    assert agent.asked[-1]["argv"] == ["a", "b"]
    assert agent.asked[-1]["unit"] == "inspect"
    agent.answers["run"] = {"told": "late"}
    with pytest.raises(RunError, match=r"`a` did not end within 1\.0 s"):
        host.run(["a"], timeout=1.0)


def test_a_process_is_known_by_its_number(agent: Agent, host: ChannelHost) -> None:
    agent.answers["start"] = {"told": "started", "process": 4, "pid": 77}
    agent.answers["signal"] = {"told": "done"}
    process = host.start(["a"], unit="u", log="/mine/db-1/log", env={"A": "B"})
    assert isinstance(process, ChannelProcess)
    assert (process.pid, process.poll()) == (77, None)
    process.signal("TERM")
    assert agent.asked[-1] == {"id": 2, "ask": "signal", "process": 4, "name": "TERM"}
    with pytest.raises(TimeoutError):
        process.wait(0.01)
    agent.say({"told": "ended", "process": 4, "code": -15})
    assert process.wait(10.0) == -15
    asked = len(agent.asked)
    process.signal("KILL")
    assert len(agent.asked) == asked


def test_only_what_is_ours_is_written_or_removed_and_nothing_is_limited(
    agent: Agent, host: ChannelHost, tmp_path: Path
) -> None:
    for path in ("/etc/passwd", "/mine/db-1/../db-2/f", "/mine/db-1"):
        with pytest.raises(RunError, match="does not belong to Dunnage there"):
            host.put(path, b"")
        with pytest.raises(RunError, match="does not belong to Dunnage there"):
            host.remove(path)
    with pytest.raises(UnavailableError, match="`u` cannot be limited there: the host is someone"):
        host.start(["a"], unit="u", log="/mine/db-1/log", limits=Limits(pids=20))
    with pytest.raises(UnavailableError, match="`all of it` cannot be held still"):
        host.freeze("")
    with pytest.raises(UnavailableError, match="the host is someone else's"):
        host.put_tree(tmp_path, "/mine/db-1/t")
    host.thaw("")
    assert not any(each["ask"] in ("put", "remove", "start") for each in agent.asked)


def test_the_clock_is_read_by_the_quickest_answer(agent: Agent, host: ChannelHost) -> None:
    def told(*_: object) -> Told:
        waits.append(len(waits))
        time.sleep(0.05 if len(waits) != 3 else 0.0)
        return {"told": "time", "time": host.clock.now() + (10.0 if len(waits) == 3 else 99.0)}

    waits: list[int] = []
    agent.answers["time"] = told
    assert host.clock_offset() == pytest.approx(10.0, abs=0.05)
    assert len(waits) == 5


def test_its_units_are_below_the_agents_own_group(host: ChannelHost) -> None:
    assert host.control_group("") == "/"
    assert host.control_group("generator") == "/pods/p/generator"
    assert host.shared == {"agent": "/pods/p"}
    assert host.engine == "/mine/db-1/engine"
