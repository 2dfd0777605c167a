"""Hosts made of namespaces, on this machine. What every host must do is in the contract tests."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from lab_traces import Traces, clean_away, eventually
from machine_state import changed, own_network

from dunnage.contracts.host import Host
from dunnage.errors import RunError, UnavailableError
from dunnage.hosts.clean import clean, leftovers
from dunnage.hosts.control_groups.groups import TOP, Shape
from dunnage.hosts.control_groups.here import control_groups
from dunnage.hosts.lab import Lab, registry
from dunnage.hosts.namespace import testbed as testbed_module
from dunnage.hosts.namespace.cores import mask, processors
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.study import Limits, TestbedSpec
from dunnage.software.engine import engine_path

pytestmark = pytest.mark.live

MEBIBYTE = 2**20
SERVE = ["python3", "-c", "import socket as s; d = s.create_server(('', 7000)); print(1, flush=1);"]
SERVE[-1] += " [d.accept()[0].sendall(b'hello') for _ in range(100)]"
ASK = "exec 3<>/dev/tcp/{host}/7000 && head -c 5 <&3"


@contextmanager
def opened(**spec: object) -> Iterator[NamespaceTestbed]:
    """A lab of four hosts, of which nothing may be left afterwards."""
    full = TestbedSpec.model_validate({"kind": "namespace", **spec})
    with open_namespace(full, name="test", engine=engine_path(), keep=False) as testbed:
        traces = Traces(testbed.name)
        yield testbed
    traces.insist_gone()


@pytest.fixture
def testbed() -> Iterator[NamespaceTestbed]:
    with opened() as lab:
        yield lab


@pytest.fixture
def victim() -> Iterator[Callable[[str, str], tuple[subprocess.Popen[str], Traces]]]:
    """Starts another process that owns a lab; whatever becomes of them, both are removed."""
    begun: list[tuple[subprocess.Popen[str], Traces]] = []

    def begin(fate: str, act: str) -> tuple[subprocess.Popen[str], Traces]:
        program = Path(__file__).with_name("lab_owner.py")
        owner = subprocess.Popen(
            [sys.executable, str(program), str(engine_path()), fate, act],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert owner.stdout is not None
        begun.append((owner, Traces(owner.stdout.readline().strip())))
        return begun[-1]

    yield begin
    for owner, traces in begun:
        owner.kill()
        owner.communicate()
        clean_away(traces.lab)
        traces.insist_gone()


def serve(host: Host) -> None:
    host.start(SERVE, unit="server", log="/run/server.log")
    assert eventually(lambda: host.get("/run/server.log") == b"1\n"), host.get("/run/server.log")


def ask(host: Host, server: str) -> str:
    return host.run(["timeout", "5", "bash", "-c", ASK.format(host=server)]).stdout


def test_every_host_reaches_every_other_by_name_and_by_address(testbed: NamespaceTestbed) -> None:
    for host in testbed.hosts:
        serve(host)
    for host in testbed.hosts:
        for other in testbed.hosts:
            assert ask(host, other.name) == "hello"
            assert ask(host, other.address) == "hello"


def test_each_host_is_alone_with_its_name_processes_and_files(testbed: NamespaceTestbed) -> None:
    first, second = testbed.hosts[:2]
    assert first.run(["hostname"]).stdout.strip() == "db-1"
    first.start(["sleep", "987654"], unit="sleeper", log="/run/log")
    first.put("/tmp/mine", b"1")
    arguments = "cat /proc/[0-9]*/cmdline"
    assert "987654" in first.run(["sh", "-c", arguments]).stdout
    assert "987654" not in second.run(["sh", "-c", arguments]).stdout
    assert second.run(["test", "-e", "/tmp/mine"]).code == 1
    assert not Path("/tmp/mine").exists()


def test_each_host_has_a_machine_id_of_its_own_and_keeps_it(testbed: NamespaceTestbed) -> None:
    def ids() -> list[str]:
        asked = ["cat", "/etc/machine-id"]
        return [host.run(asked).stdout for host in testbed.hosts]

    before = ids()
    own = Path("/etc/machine-id").read_text()
    assert all(re.fullmatch(r"[0-9a-f]{32}\n", each) for each in before)
    assert len({*before, own}) == len(before) + 1
    with opened() as other:
        asked = ["cat", "/etc/machine-id"]
        assert not {host.run(asked).stdout for host in other.hosts} & set(before)
    testbed.host("db-1").power_cut()
    testbed.restore("db-1")
    assert ids() == before
    assert Path("/etc/machine-id").read_text() == own


def test_the_engine_is_where_the_host_says(testbed: NamespaceTestbed) -> None:
    host = testbed.hosts[0]
    assert "dunnage-engine" in host.run([host.engine, "--version"]).stdout


def test_this_machines_own_network_is_untouched() -> None:
    before = own_network()
    with opened() as testbed:
        assert ask(testbed.hosts[0], "db-2") == ""
        assert changed(before, own_network()) == {}
    assert changed(before, own_network()) == {}


def test_a_hosts_memory_limit_kills_what_takes_more() -> None:
    with opened(memory=100 * MEBIBYTE) as testbed:
        greedy = ["sh", "-c", "head -c 300M /dev/zero | tail -n 1 > /dev/null"]
        assert testbed.group("db")[0].run(greedy).code == 128 + signal.SIGKILL
        assert testbed.group("client")[0].run(greedy).code == 0
        assert testbed.lost() == ()


def test_a_members_limits_bind_it_and_not_its_host(testbed: NamespaceTestbed) -> None:
    host = testbed.hosts[0]
    greedy = ["sh", "-c", "exec tail -n 1 /dev/zero"]
    limits = Limits(memory=64 * MEBIBYTE, cpus=0.5, pids=50)
    process = host.start(greedy, unit="member", log="/run/member.log", limits=limits)
    assert process.wait(30.0) == -signal.SIGKILL
    assert host.run(["true"]).code == 0


def test_limits_do_not_outlive_the_process_they_were_for(testbed: NamespaceTestbed) -> None:
    host = testbed.hosts[0]
    for limits, code in ((Limits(pids=1), 2), (None, 0)):
        process = host.start(
            ["sh", "-c", "true | true"], unit="member", log="/run/log", limits=limits
        )
        assert process.wait(10.0) == code


def test_hosts_run_on_their_own_cores_and_receive_there(testbed: NamespaceTestbed) -> None:
    facts = testbed.environment()
    for host in testbed.hosts:
        status = host.run(["grep", "Cpus_allowed_list", "/proc/self/status"]).stdout
        mine = processors(str(facts[f"cores.{host.group}"]))
        assert processors(status.split()[1]) == mine
        assert int(str(facts[f"network.{host.name}.rps"]).replace(",", ""), 16) == int(
            mask(mine).replace(",", ""), 16
        )


def test_shared_cores_are_every_hosts() -> None:
    with opened(cores="shared") as testbed:
        assert testbed.environment()["cores.apart"] is False
        allowed = {
            host.run(["grep", "Cpus_allowed_list", "/proc/self/status"]).stdout.split()[1]
            for host in testbed.hosts
        }
        (mine,) = map(processors, allowed)
        assert set(mine) == os.sched_getaffinity(0)


def test_without_steering_the_kernel_is_left_to_itself() -> None:
    with opened(steer=False) as testbed:
        facts = testbed.environment()
        assert {int(str(facts[f"network.{host.name}.rps"]), 16) for host in testbed.hosts} == {0}


def test_labs_side_by_side_do_not_meet(testbed: NamespaceTestbed) -> None:
    with opened() as other:
        serve(testbed.hosts[0])
        assert testbed.hosts[0].address == other.hosts[0].address
        assert ask(testbed.hosts[3], "db-1") == "hello"
        assert ask(other.hosts[3], "db-1") == ""


def test_a_restored_host_answers_the_others_at_its_old_address(testbed: NamespaceTestbed) -> None:
    host, other = testbed.host("db-1"), testbed.host("db-2")
    serve(host)
    assert ask(other, "db-1") == "hello"
    host.power_cut()
    assert testbed.lost() == ("db-1",)
    testbed.restore("db-1")
    serve(host)
    assert ask(other, "db-1") == "hello"
    assert ask(host, "db-2") == ""


def test_what_runs_too_long_is_killed_with_its_children(testbed: NamespaceTestbed) -> None:
    host = testbed.hosts[0]
    with pytest.raises(RunError, match="did not end within"):
        host.run(["sh", "-c", "sleep 301 & sleep 302"], timeout=0.3)
    assert "sleep\x0030" not in host.run(["sh", "-c", "cat /proc/[0-9]*/cmdline"]).stdout


def test_a_process_that_was_stopped_and_continued_from_inside_still_tells_its_end(
    testbed: NamespaceTestbed,
) -> None:
    host = testbed.hosts[0]
    process = host.start(["sh", "-c", "kill -STOP $$; exit 7"], unit="member", log="/run/log")
    state = f"grep -q '^State:.T' /proc/{process.pid}/status"
    assert eventually(lambda: host.run(["sh", "-c", state]).code == 0)
    assert process.poll() is None
    host.run(["kill", "-CONT", str(process.pid)])
    assert process.wait(10.0) == 7


def test_output_that_is_no_text_does_not_break_a_run(testbed: NamespaceTestbed) -> None:
    assert "\ufffd" in testbed.hosts[0].run(["printf", "\\377\\376"]).stdout


def test_a_shown_tree_is_read_only_and_can_be_shown_again_and_removed(
    testbed: NamespaceTestbed, tmp_path: Path
) -> None:
    host = testbed.hosts[0]
    (tmp_path / "leaf").write_text("leaf")
    host.put_tree(tmp_path, "/run/dunnage/tree")
    host.put_tree(tmp_path, "/run/dunnage/tree")
    assert host.run(["touch", "/run/dunnage/tree/new"]).code != 0
    assert host.run(["grep", "-c", "/run/dunnage/tree", "/proc/mounts"]).stdout == "1\n"
    host.remove("/run/dunnage/tree")
    assert host.run(["test", "-e", "/run/dunnage/tree"]).code == 1
    assert (tmp_path / "leaf").read_text() == "leaf"


def test_what_is_not_the_hosts_own_is_refused(testbed: NamespaceTestbed) -> None:
    host = testbed.hosts[0]
    for path in ("/etc/dunnage-test", "/run/../etc/dunnage-test", "/run", host.scratch + "-2/x"):
        with pytest.raises(RunError, match="does not belong to the host"):
            host.put(path, b"")
        with pytest.raises(RunError, match="does not belong to the host"):
            host.remove(path)


@pytest.mark.parametrize("act", ["stay", "freeze"])
def test_an_owner_killed_leaves_only_directories_and_clean_removes_them(
    act: str, testbed: NamespaceTestbed, victim: Callable[..., tuple[subprocess.Popen[str], Traces]]
) -> None:
    owner, traces = victim("leave", act)
    assert testbed.name not in {one.lab for one in leftovers()}
    owner.kill()
    owner.wait()
    if act == "stay":  # a frozen process cannot die before it is thawed
        traces.insist_dead()
    clean()
    traces.insist_gone()
    assert testbed.lost() == ()
    assert testbed.hosts[0].run(["true"]).code == 0


def test_opening_a_lab_removes_what_one_without_owner_left(
    victim: Callable[..., tuple[subprocess.Popen[str], Traces]],
) -> None:
    owner, traces = victim("leave", "stay")
    owner.kill()
    owner.wait()
    with opened():
        assert traces.directories() == []
    traces.insist_gone()


def test_a_kept_lab_lives_until_clean_is_asked_for_kept_ones(
    victim: Callable[..., tuple[subprocess.Popen[str], Traces]],
) -> None:
    owner, traces = victim("keep", "end")
    assert owner.wait(30) == 0
    [mine] = [one for one in leftovers() if one.lab == traces.lab]
    assert (mine.kept, mine.alive, mine.purpose, mine.hosts) == (True, True, "victim", 3)
    assert traces.lab not in {one.lab for one in clean()}
    assert mine.alive
    assert traces.processes() != []
    clean_away(traces.lab)
    traces.insist_gone()


def test_an_owner_killed_before_its_end_keeps_nothing(
    victim: Callable[..., tuple[subprocess.Popen[str], Traces]],
) -> None:
    owner, traces = victim("keep", "stay")
    owner.kill()
    owner.wait()
    traces.insist_dead()


def test_an_interrupt_from_the_keyboard_leaves_nothing(
    victim: Callable[..., tuple[subprocess.Popen[str], Traces]],
) -> None:
    owner, traces = victim("leave", "freeze")
    owner.send_signal(signal.SIGINT)
    assert owner.wait(30) != 0
    traces.insist_gone()


def test_control_groups_without_a_lab_are_left_over_and_removed() -> None:
    groups = control_groups()
    lab = uuid.uuid4().hex[:8]
    with registry():
        groups.make(TOP, Shape())
        groups.make(f"{TOP}/{lab}", Shape())
    clean()
    assert lab not in groups.children(TOP)


def test_a_file_is_never_open_to_more_than_it_is_put_for(testbed: NamespaceTestbed) -> None:
    host = testbed.hosts[0]
    path = f"{host.scratch}/key"
    host.put(path, b"public")
    host.put(path, b"secret", 0o600)
    assert host.run(["stat", "-c", "%a", path]).stdout.strip() == "600"
    assert host.get(path) == b"secret"


def test_a_port_of_the_loopback_leads_into_a_host_until_that_ends(
    testbed: NamespaceTestbed,
) -> None:
    host = testbed.host("db-2")
    serve = "import http.server as s; s.test(s.SimpleHTTPRequestHandler, port=8000)"
    host.put("/run/www/said", b"from inside")
    host.start(["sh", "-c", f"cd /run/www && exec python3 -c '{serve}'"], unit="www", log="/run/l")
    port = host.listen_outside(f"{host.address}:8000")

    def answers() -> bool:
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/said", timeout=5) as answer:
            return bytes(answer.read()) == b"from inside"
        return False

    def refuses() -> bool:
        with socket.socket() as stranger:
            return stranger.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED

    assert eventually(answers)
    host.power_cut()
    assert eventually(refuses)


def test_a_lab_whose_control_groups_are_refused_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(group: str, _: Shape) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"/sys{group}")

    groups = control_groups()
    monkeypatch.setattr(groups, "make", refuse)
    monkeypatch.setattr(testbed_module, "control_groups", lambda: groups)
    made: list[Lab] = []
    make = Lab.make

    def kept(purpose: str) -> Lab:
        made.append(make(purpose))
        return made[-1]

    monkeypatch.setattr(Lab, "make", kept)
    refused = f"^/sys{TOP}: control groups cannot be made: Permission denied$"
    with pytest.raises(UnavailableError, match=refused) as caught, opened():
        pass
    assert caught.value.hint == "dunnage doctor"
    assert not made[0].directory.exists()
    assert not made[0].scratch.exists()
