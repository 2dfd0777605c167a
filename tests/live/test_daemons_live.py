"""Docker daemons of a lab: held, kept, restored and gone; and contexts that lead to none."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from docker_lab import DOCKER_BRIDGE, TREES, Lab, deployed, opened, until, write_context
from group_files import is_held

from dunnage import lab_tool
from dunnage.docker_api import connect
from dunnage.errors import UnavailableError
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.study import TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.substrates.daemons import Daemons, open_daemons
from dunnage.substrates.existing import open_existing

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """For all of this file."""
    with opened() as made:
        yield made


def test_held_daemons_use_no_processor_and_wake_again(lab: Lab) -> None:
    host = lab.database_hosts[0]
    lab.substrate.freeze()
    try:
        assert is_held(host.control_group("daemon"))
    finally:
        lab.substrate.wake()
    with deployed(lab, DOCKER_BRIDGE) as (platform, _):
        assert platform.running()


def test_a_host_without_a_context_is_refused(lab: Lab) -> None:
    with (
        pytest.raises(UnavailableError, match="no Docker context is named"),
        open_existing({}, lab.database_hosts),
    ):
        raise AssertionError("unreachable: the context is missing")


def test_contexts_without_a_configuration_file_are_told_what_is_missing(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with (
        pytest.raises(UnavailableError, match=r"cannot be found without .*config\.json"),
        open_existing({"db-1": "mine"}, lab.database_hosts[:1]),
    ):
        raise AssertionError("unreachable: there is no configuration")


def test_a_context_whose_daemon_is_gone_is_refused(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_context(tmp_path, "gone", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with (
        pytest.raises(UnavailableError, match="context `gone` does not answer"),
        open_existing({"db-1": "gone"}, lab.database_hosts[:1]),
    ):
        raise AssertionError("unreachable: the daemon is gone")


def answers(substrate: Daemons, host: str) -> bool:
    client = connect(substrate.daemon(host))
    try:
        return bool(client.ping())
    finally:
        client.close()


def test_kept_daemons_live_on_with_their_hosts() -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    with open_namespace(spec, name="keeping", engine=engine_path(), keep=False) as testbed:
        with open_daemons(testbed, TREES.dockerd(), testbed.hosts, keep=True) as substrate:
            pass
        assert answers(substrate, "db-1")


@pytest.mark.quiet  # all labs share these places, so no other may be there
def test_daemons_leave_nothing_outside_their_lab() -> None:
    traces = [Path(trace) for trace in TREES.dockerd().traces]
    assert traces or shutil.which("dockerd")
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    with (
        open_namespace(spec, name="traceless", engine=engine_path(), keep=False) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate,
    ):
        assert answers(substrate, "db-1")
        made = [trace for trace in traces if trace.exists()]
    assert made == traces
    assert not [trace for trace in traces if trace.exists()]
    for trace in reversed(traces):  # as a daemon that was killed leaves them
        trace.touch() if trace.suffix else trace.mkdir()
    lab_tool.clean(kept=False)
    assert not [trace for trace in traces if trace.exists()]


def test_a_daemon_that_cannot_start_is_told_with_its_log() -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    found = TREES.dockerd()
    broken = replace(found, environment={**found.environment, "PATH": "/nowhere"})
    with (
        open_namespace(spec, name="breaking", engine=engine_path(), keep=False) as testbed,
        pytest.raises(UnavailableError, match=r"(?s)dockerd ended .* its log ends:.*containerd"),
        open_daemons(testbed, broken, testbed.hosts),
    ):
        raise AssertionError("unreachable: containerd is not found")


def test_daemons_of_a_restored_host_come_back_and_all_vanish_with_the_lab() -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 2})
    with open_namespace(spec, name="mending", engine=engine_path(), keep=False) as testbed:
        lost = testbed.host("db-1")
        with open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate:
            lost.power_cut()
            until(lambda: testbed.lost() == ("db-1",))
            substrate.freeze()
            substrate.wake()
            testbed.restore("db-1")
            substrate.mend("db-1")
            assert answers(substrate, "db-1")
            sockets = [substrate.daemon(host.name).url for host in testbed.hosts]
        for url in sockets:
            with socket.socket(socket.AF_UNIX) as gone, pytest.raises(OSError, match="No such"):
                gone.connect(url.removeprefix("unix://"))
        assert not list(Path(lost.scratch).glob("docker*"))
