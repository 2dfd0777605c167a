"""A host that is reached by a channel: its real agent, and streams that break."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_traces import eventually
from local_channel import open_local

from dunnage.hosts.channel.testbed import end
from dunnage.model.study import TestbedSpec

pytestmark = pytest.mark.live

ONE = TestbedSpec(kind="any", hosts={"db": 1})


def test_a_process_goes_on_while_its_stream_is_away_and_its_end_is_told_by_the_next() -> None:
    with open_local(ONE) as testbed:
        (host,) = testbed.hosts
        channel = testbed.channels["db-1"]
        log = f"{host.scratch}/slow.log"
        argv = ["sh", "-c", "sleep 0.5; echo through; exit 7"]
        process = host.start(argv, unit="slow", log=log)
        (first,) = channel.streams
        first._process.kill()
        assert process.wait(10.0) == 7
        assert host.get(log) == b"through\n"
        assert len(channel.streams) == 2
        assert testbed.lost() == ()


def test_an_agent_that_is_told_to_end_kills_what_it_started_and_leaves_nothing() -> None:
    with open_local(ONE) as testbed:
        (host,) = testbed.hosts
        process = host.start(["sleep", "300"], unit="s", log=f"{host.scratch}/log")
        end(testbed._links["db-1"])
        agent = testbed.agents["db-1"]
        assert agent.wait(10.0) == 0
        assert eventually(lambda: not Path(f"/proc/{process.pid}/exe").exists())
        assert not Path(host.scratch).exists()


def test_an_agent_ends_when_nobody_asks_it_for_anything() -> None:
    with open_local(ONE, silence=0.5) as testbed:
        (host,) = testbed.hosts
        process = host.start(["sleep", "300"], unit="s", log=f"{host.scratch}/log")
        testbed._links["db-1"].close()  # as when we are killed
        assert testbed.agents["db-1"].wait(10.0) == 0
        assert eventually(lambda: not Path(f"/proc/{process.pid}/exe").exists())
        assert not Path(host.scratch).exists()


def test_a_file_of_megabytes_comes_back_while_others_are_asked_for() -> None:
    content = bytes(range(256)) * 40_000
    with open_local(ONE) as testbed:
        (host,) = testbed.hosts
        host.put(f"{host.scratch}/large", content, mode=0o600)
        assert host.get(f"{host.scratch}/large") == content
        assert Path(f"{host.scratch}/large").stat().st_mode & 0o777 == 0o600
        assert host.run(["cat", f"{host.scratch}/large"]).stdout == content.decode(errors="replace")
