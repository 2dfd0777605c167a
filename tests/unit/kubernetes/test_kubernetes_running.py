"""Programs of a Kubernetes on a host that fails them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from dunnage.contracts.host import Completed
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.errors import TO_LOOK, HostLostError, UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.joining import by_flannel
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes
from dunnage.substrates.kubernetes.place import Component, Written
from dunnage.substrates.kubernetes.restarting import restarting
from dunnage.substrates.kubernetes.running import Running

BINARIES = KubernetesBinaries(Path("/b"), Path("/c"), Path("/p"), {"PATH": "/b"}, "1", "test")


@dataclass
class Ended:
    """A process that has ended with a code, lives (None), or went with its host."""

    code: int | None = None
    lost: bool = False
    pid: int = 7
    signals: list[str] = field(default_factory=list)

    def poll(self) -> int | None:
        if self.lost:
            raise HostLostError("the host no longer answers", where="db-1")
        return self.code

    def wait(self, timeout: float) -> int:
        self.code = -9
        return self.code

    def signal(self, name: str) -> None:
        self.signals.append(name)


class Scripted:
    """A host whose programs do what a test says; it keeps what was asked of it."""

    name, group, address, scratch, engine = "db-1", "db", "10.77.0.1", "/s/db-1", "/engine"

    def __init__(self, process: Ended, answers: Mapping[str, Completed] | None = None) -> None:
        self.process = process
        self.answers = answers or {}
        self.files: dict[str, tuple[bytes, int]] = {}
        self.told: list[tuple[str, ...]] = []
        self.env: Mapping[str, str] = {}
        self.ahead = 0.0

    def run(self, argv: Sequence[str], **_: Any) -> Completed:
        self.told.append(tuple(argv))
        found = (answer for word, answer in self.answers.items() if word in " ".join(argv))
        return next(found, Completed(0, "", ""))

    def start(self, argv: Sequence[str], *, env: Mapping[str, str], **_: Any) -> Ended:
        self.told.append(tuple(argv))
        self.env = env
        return self.process

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self.files[path] = (content, mode)

    def get(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][0]

    def remove(self, path: str) -> None:
        self.told.append(("remove", path))

    def control_group(self, unit: str) -> str:
        return f"dunnage/lab/db-1/{unit}"

    def clock_offset(self) -> float:
        return self.ahead

    def freeze(self, unit: str) -> None:
        self.told.append(("freeze", unit))

    def thaw(self, unit: str) -> None:
        self.told.append(("thaw", unit))


@dataclass
class Hurried:
    """A clock whose every look is a second later."""

    time: float = 0.0

    def now(self) -> float:
        self.time += 1
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def started(process: Ended, answers: Mapping[str, Completed] | None = None) -> Any:
    host: Any = Scripted(process, answers)
    running = Running(host, {"PATH": "/tools"})
    running.start(Component("kubelet", ("kubelet",), {"NODE_NAME": "db-1"}))
    return running


def test_a_program_finds_its_tools_and_is_known_by_its_unit() -> None:
    running = started(Ended())
    assert running.host.env == {"PATH": "/tools", "NODE_NAME": "db-1"}
    assert (running.units, running.pid("kubelet")) == (("kubelet",), 7)
    assert running.lives("kubelet")
    assert not running.lives("containerd")
    assert running.pods == "/dunnage/lab/db-1/pods"


def test_every_program_is_restarted_inside_of_what_is_around_it() -> None:
    host: Any = Scripted(Ended())
    running = Running(host, {})
    program = Component("containerd", ("containerd", "--config", "c"), around=("unshare",))
    running.start(program)
    assert host.told == [restarting(program, "/s/db-1/kubernetes/restarts")]
    assert (host.told[0][:2], host.told[0][-3:]) == (("unshare", "sh"), program.argv)


def test_restarts_are_read_back_by_our_clock_and_there_may_be_none() -> None:
    running = started(Ended())
    assert running.restarts() == ()
    line = b"1700000000.500000000 -9 kubelet\n"
    running.host.files["/s/db-1/kubernetes/restarts"] = (line, 0o644)
    running.host.ahead = 0.5
    (restart,) = running.restarts()
    assert (restart.host, restart.program, restart.time) == ("db-1", "kubelet", 1_700_000_000.0)


def test_what_was_started_before_is_killed_before_it_is_started_again() -> None:
    """Its shell may have been killed, and the program live on."""
    running = started(Ended(code=-9))
    assert not any("/dunnage/lab/db-1/kubelet" in words for words in running.host.told)
    running.start(Component("kubelet", ("kubelet",)))
    killing, starting = running.host.told[-2:]
    assert killing[-1] == "/dunnage/lab/db-1/kubelet"
    assert starting[-1] == "kubelet"


def test_files_are_written_into_an_empty_directory_with_their_modes() -> None:
    running = started(Ended())
    running.prepare([Written("/s/db-1/kubernetes/key", b"secret", 0o600)])
    assert running.host.files == {"/s/db-1/kubernetes/key": (b"secret", 0o600)}
    assert ("remove", "/s/db-1/kubernetes") in running.host.told


def test_a_program_that_has_ended_is_told_with_the_end_of_its_log() -> None:
    running = started(Ended(code=1))
    with pytest.raises(UnavailableError, match=r"`kubelet` ended with exit code 1$"):
        running.insist_alive()
    log = "\n".join(f"line {number}" for number in range(30)).encode()
    path = "/s/db-1/kubernetes/log/kubelet.log"
    running.host.files[path] = (log, 0o644)
    with pytest.raises(UnavailableError, match=rf"its log `{path}` ends:\nline 10\n") as refused:
        running.insist_alive()
    assert refused.value.what.endswith("line 29")
    assert (refused.value.where, refused.value.hint) == ("db-1", TO_LOOK)


def test_a_program_whose_shell_was_killed_is_not_said_to_have_ended_itself() -> None:
    with pytest.raises(UnavailableError, match="what restarts `kubelet` was ended by signal 9"):
        started(Ended(code=-9)).insist_alive()


def test_a_command_that_fails_is_told_with_its_complaint() -> None:
    running = started(Ended(), {"ctr": Completed(1, "", "no such socket\n")})
    with pytest.raises(UnavailableError, match="`ctr` failed: no such socket"):
        running.run("ctr", "images")
    running = started(Ended(), {"ctr": Completed(3, "", "")})
    with pytest.raises(UnavailableError, match="`ctr` failed: exit code 3"):
        running.run("ctr", "images")


def test_what_stays_late_is_told_with_the_last_reason() -> None:
    clock: Any = Hurried()
    reasons = iter([f"reason {number}" for number in range(1000)])
    with pytest.raises(UnavailableError, match="it is late within 60 s: reason"):
        started(Ended()).until("it is late", lambda: next(reasons), clock)
    with pytest.raises(UnavailableError, match="ended with exit code 2"):
        started(Ended(code=2)).until("it is late", lambda: "why", clock)
    started(Ended()).until("it is late", lambda: None, clock)


def test_what_went_with_its_host_neither_lives_nor_is_ended_again() -> None:
    lost = Ended(lost=True)
    running = started(lost)
    assert not running.lives("kubelet")
    assert not running.started("kubelet")
    running.end("kubelet")
    running.freeze("kubelet")
    assert lost.signals == []
    assert ("freeze", "kubelet") not in running.host.told
    running.forget()
    assert running.units == ()


def test_what_lives_is_held_still_let_go_and_ended() -> None:
    process = Ended()
    running = started(process)
    running.freeze("kubelet")
    running.thaw()
    assert running.host.told[-2:] == [("freeze", "kubelet"), ("thaw", "kubelet")]
    running.end("kubelet")
    assert process.signals == ["KILL"]
    assert running.units == ()
    told = running.host.told[-1]
    assert told[-1] == "/dunnage/lab/db-1/kubelet", "what was restarted lives on"


def test_what_nothing_restarts_any_more_is_held_still_and_ended_all_the_same() -> None:
    running = started(Ended(code=-9))
    assert running.started("kubelet")
    assert not running.started("containerd")
    running.freeze("kubelet")
    assert running.host.told[-1] == ("freeze", "kubelet")
    running.end("kubelet")
    assert running.host.told[-1][-1] == "/dunnage/lab/db-1/kubelet"
    assert running.units == ()


def test_what_could_not_be_ended_is_still_known() -> None:
    running = started(Ended(), {"cgroup.procs": Completed(1, "", "not permitted")})
    with pytest.raises(UnavailableError, match="not permitted"):
        running.end("kubelet")
    assert running.units == ("kubelet",)


def test_what_restarts_a_program_is_killed_before_the_program() -> None:
    order: list[str] = []

    class Noted(Ended):
        def signal(self, name: str) -> None:
            order.append(name)

        def wait(self, timeout: float) -> int:
            order.append("waited for")
            return super().wait(timeout)

    def kill(*_: object, **__: object) -> Completed:
        order.append("unit killed")
        return Completed(0, "", "")

    running = started(Noted())
    running.host.run = kill
    running.end("kubelet")
    assert order == ["KILL", "waited for", "unit killed"]


def test_at_the_end_all_groups_are_emptied_and_all_directories_removed() -> None:
    running = started(Ended())
    running.end_all()
    (killing,) = (words for words in running.host.told if "/dunnage/lab/db-1/pods" in words)
    assert "/dunnage/lab/db-1/kubelet" in killing
    removed = {words[1] for words in running.host.told if words[0] == "remove"}
    assert removed == {
        "/s/db-1/kubernetes",
        "/run/kubernetes",
        "/run/containerd",
        "/run/flannel",
    }
    assert running.units == ()


@contextmanager
def fakes(**hosts: int) -> Any:
    with open_fake(TestbedSpec(kind="fake", hosts=hosts), name="kubernetes") as testbed:
        yield testbed


def test_without_a_control_host_there_is_none_and_the_way_is_shown() -> None:
    with (
        fakes(db=1, client=1) as testbed,
        pytest.raises(UnavailableError, match="needs a host of the group `control`"),
        open_kubernetes(testbed, BINARIES, testbed.hosts),
    ):
        pass


def test_a_path_too_long_for_a_socket_is_refused() -> None:
    with fakes(db=1, control=1) as testbed:
        hosts = [replace(host, testbed="x" * 90) for host in testbed.hosts]
        own = OwnKubernetes(testbed, BINARIES, hosts, Choices())
        with pytest.raises(UnavailableError, match="path that is too long for the kernel"):
            own._begin(hosts[0])


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"import": Completed(1, "", "no socket yet")}, r"takes no image within 60 s: .*no socket"),
        ({"list": Completed(0, "other:1\n", "")}, r"its archive holds \['other:1'\], not `"),
    ],
)
def test_a_containerd_without_the_sandboxs_image_is_said(
    answers: Mapping[str, Completed], why: str
) -> None:
    with fakes(db=1, control=1) as testbed:
        own = OwnKubernetes(testbed, BINARIES, testbed.hosts, Choices())
        host: Any = Scripted(Ended(), answers)
        part = replace(own._on("db-1"), there=Running(host, {}), clock=Hurried())
        with pytest.raises(UnavailableError, match=why):
            part.begin()


def test_a_node_that_finds_no_names_is_said() -> None:
    with fakes(db=1, control=1) as testbed:
        own = OwnKubernetes(testbed, BINARIES, testbed.hosts, Choices())
        host: Any = Scripted(Ended(), {"resolve": Completed(1, "", "no answer\n")})
        part = replace(own._on("db-1"), there=Running(host, {}), clock=Hurried())
        with pytest.raises(UnavailableError, match=r"names of services are not found .* no answer"):
            part.find_names()


def test_flannel_that_writes_no_subnet_is_said() -> None:
    with fakes(db=1, control=1) as testbed:
        chosen = Choices(Network.FLANNEL_VXLAN)
        own = OwnKubernetes(testbed, BINARIES, testbed.hosts, chosen)
        host: Any = Scripted(Ended())
        there, clock = Running(host, {}), Hurried()
        with pytest.raises(UnavailableError, match=r"tells no subnet: /run/flannel/subnet\.env"):
            by_flannel(there, own._on("db-1").flannel, b"config", clock)
        assert host.files["/s/db-1/kubernetes/flanneld.kubeconfig"] == (b"config", 0o600)


def test_what_restarts_a_program_and_does_not_end_is_told_as_what_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever holds a Kubernetes still makes a failure of the stay of that."""

    def late(_: Ended, timeout: float) -> int:
        raise TimeoutError(f"process 7 still runs after {timeout:g} s")

    monkeypatch.setattr(Ended, "wait", late)
    running = Running(Scripted(Ended()), {})  # type: ignore[arg-type]
    running.start(Component("kubelet", ("/b/kubelet",)))
    told = "what restarts `kubelet` lives 20 s after it was killed"
    with pytest.raises(UnavailableError, match=told) as failed:
        running.end("kubelet")
    assert failed.value.where == "db-1"
