"""What platforms decide before and after anything starts."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import cast

import pytest
from docker import APIClient, DockerClient
from docker.errors import NotFound
from docker.models.containers import Container
from hypothesis import given
from hypothesis import strategies as st

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Completed, Host
from dunnage.contracts.platform import RunningMember, Seen
from dunnage.contracts.software import Tree
from dunnage.deadline import Deadline
from dunnage.errors import RunError, StayError, UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.choices import Storage
from dunnage.model.layout import (
    Layout,
    Place,
    Probe,
    Reservation,
    Seat,
    Service,
    Software,
)
from dunnage.model.study import Limits, TestbedSpec
from dunnage.platforms import container_member, places
from dunnage.platforms.container_member import OUT_OF_SIGHT, ContainerMember
from dunnage.platforms.containers import arguments, described, limit_arguments, ulimits
from dunnage.platforms.execute import NOT_RUN, execute
from dunnage.platforms.floating import floating_address
from dunnage.platforms.image_of_tree import command, image_of
from dunnage.platforms.late_start import insist_known, wrapped
from dunnage.platforms.listening import holder
from dunnage.platforms.readiness import await_ready, side_by_side
from dunnage.platforms.stay_names import StayNames
from dunnage.platforms.subnets import told_in

SOFTWARE = Software("redis", "7.0")


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, ...]]:
    spec = TestbedSpec(kind="fake", hosts={"db": 3})
    with open_fake(spec, name="places") as testbed:
        yield testbed.group("db")


def layout(*slots: int, bus: bool = False) -> Layout:
    ports = {"redis": 6379, "bus": 16379} if bus else {"redis": 6379}
    seats = (Seat(f"redis-{n}", "server", slot, ports) for n, slot in enumerate(slots, 1))
    return Layout(tuple(seats), SOFTWARE)


def clients(reservation: Reservation) -> list[str]:
    return [
        str(addresses.contact) for place in reservation.places for addresses in place.ports.values()
    ]


def test_slots_go_round_the_hosts(hosts: tuple[Host, ...]) -> None:
    reservation = places.reserve(layout(0, 1, 2, 3), hosts, "/tree")
    names = [host.name for host in hosts]
    assert [place.host for place in reservation.places] == [*names, names[0]]


def test_a_member_is_at_home_below_its_hosts_scratch(hosts: tuple[Host, ...]) -> None:
    place = places.reserve(layout(1), hosts, "/tree").place("redis-1")
    assert place.home == f"{hosts[1].scratch}/members/redis-1/home"
    assert place.data == f"{hosts[1].scratch}/members/redis-1/data"
    assert place.prefix == "/tree"


@pytest.mark.parametrize(
    ("addressing", "expected"),
    [
        (places.direct, ("host", "host", "host", "host")),
        (places.translated, ("@late:redis-1@", "host", "host", "host")),
        (places.named, ("@late:redis-1@", "redis-1", "redis-1", "@late:redis-1@")),
    ],
)
def test_where_a_member_binds_and_what_peers_and_clients_are_told(
    hosts: tuple[Host, ...], addressing: places.Addressing, expected: tuple[str, ...]
) -> None:
    port = places.reserve(layout(0), hosts, "/tree", addressing).places[0].ports["redis"]
    told = [port.bind, port.peer, port.contact, port.advertised]
    wanted = [hosts[0].address if each == "host" else each for each in expected]
    assert list(map(str, told)) == [f"{host}:6379" for host in wanted]


def test_clients_may_begin_at_a_hosts_name_and_go_on_by_its_address(
    hosts: tuple[Host, ...],
) -> None:
    for addressing in (places.direct, places.translated):
        by_name = places.by_host_name(addressing)
        port = places.reserve(layout(0), hosts, "/tree", by_name).places[0].ports["redis"]
        assert str(port.contact) == f"{hosts[0].name}:6379"
        assert str(port.advertised) == str(port.peer) == f"{hosts[0].address}:6379"


def test_clients_may_be_told_floating_addresses_while_members_use_their_hosts_own(
    hosts: tuple[Host, ...],
) -> None:
    for addressing in (places.direct, places.translated):
        floating = places.by_floating_address(addressing, lambda host: f"floating-{host.name}")
        reservation = places.reserve(layout(0), hosts, "/tree", floating)
        port, plain = reservation.places[0].ports["redis"], addressing("redis-1", hosts[0], 6379)
        told = f"floating-{hosts[0].name}:6379"
        assert (port.bind, port.peer) == (plain.bind, plain.peer)
        assert str(port.contact) == str(port.advertised) == told
        assert {str(each) for each in reservation.endpoint("redis")} == {told}


def test_a_host_before_which_nothing_translates_has_no_floating_address(
    hosts: tuple[Host, ...],
) -> None:
    with pytest.raises(UnavailableError, match="nothing translates a floating address"):
        floating_address(hosts[0])


def test_what_is_late_is_filled_in_everywhere_at_once(hosts: tuple[Host, ...]) -> None:
    reservation = places.reserve(layout(0, 1), hosts, "/tree", places.named)
    first, second = reservation.filled({"redis-1": "10.0.1.7"}).places
    assert str(first.ports["redis"].bind) == str(first.ports["redis"].advertised) == "10.0.1.7:6379"
    assert str(first.ports["redis"].contact) == "redis-1:6379"
    assert str(second.ports["redis"].bind) == "@late:redis-2@:6379"
    assert reservation.endpoint("redis") >= {*reservation.contacts("redis")}


def test_a_member_that_needs_an_address_nobody_knows_yet_is_refused() -> None:
    asks = service(files={"/home/redis.conf": "replicaof @late:redis-2@ 6379\nbind @late:redis-1@"})
    with pytest.raises(StayError, match=r"redis-1: the address of `redis-2` is not known"):
        insist_known(asks, {})
    insist_known(asks, {"redis-2": "10.0.1.8"})


def test_the_engine_starts_a_member_whose_address_is_late() -> None:
    argv = wrapped("/run/engine", service(files={"/home/a": ""}), "10.0.1.0/24", ("server", "a"))
    words = "/run/engine start --member redis-1 --within 10.0.1.0/24 --file /home/a -- server a"
    assert argv == tuple(words.split())


def test_members_on_one_host_keep_the_distance_between_their_ports(
    hosts: tuple[Host, ...],
) -> None:
    second = places.reserve(layout(0, 0, bus=True), hosts, "/tree").place("redis-2")
    assert {name: each.contact.port for name, each in second.ports.items()} == {
        "redis": 6380,
        "bus": 16380,
    }


@given(slots=st.lists(st.integers(0, 5), min_size=1, max_size=9), bus=st.booleans())
def test_no_two_members_share_an_address(slots: list[int], bus: bool) -> None:
    spec = TestbedSpec(kind="fake", hosts={"db": 3})
    with open_fake(spec, name="places") as testbed:
        told = clients(places.reserve(layout(*slots, bus=bus), testbed.group("db"), "/tree"))
    assert len(set(told)) == len(told)


LISTENING = """\
LISTEN 0 511 10.77.0.1:6379 0.0.0.0:* users:(("redis-server",pid=42,fd=6))
LISTEN 0 4096 127.0.0.1:7000 0.0.0.0:*
LISTEN 0 4096 0.0.0.0:7001 0.0.0.0:* users:(("docker-proxy",pid=7,fd=4))
LISTEN 0 4096 *:7002 *:*
LISTEN 0 4096 [::]:7003 [::]:*
LISTEN 0 4096 127.0.0.53%lo:7004 0.0.0.0:*
"""


@pytest.mark.parametrize(
    ("port", "who"),
    [
        (6379, "`redis-server` (pid 42)"),
        (7000, None),
        (7001, "`docker-proxy` (pid 7)"),
        (7002, "an unknown process"),
        (7003, "an unknown process"),
        (7004, None),
        (637, None),
    ],
)
def test_who_holds_a_port_is_read_from_the_listing(port: int, who: str | None) -> None:
    assert holder(LISTENING, "10.77.0.1", port) == who


def service(**changes: object) -> Service:
    fields: dict[str, object] = {
        "member": "redis-1",
        "argv": ("/tree/bin/redis-server", "/home/redis.conf"),
        "ready": Probe(("/tree/bin/redis-cli", "PING"), expect="PONG", interval=0.001),
        "software": SOFTWARE,
        "env": {"A": "b"},
    }
    return Service(**(fields | changes))  # type: ignore[arg-type]


def made(hosts: tuple[Host, ...], network: str, storage: Storage) -> dict[str, object]:
    return arguments(
        service(),
        place(hosts),
        stay=StayNames("b1-x-1"),
        image="image",
        argv=service().argv,
        engine="/run/dunnage/engine",
        address="10.77.0.1",
        network=network,
        storage=storage,
        limits=Limits(),
        ulimits=[],
    )


def place(hosts: tuple[Host, ...]) -> Place:
    return places.reserve(layout(0), hosts, "/tree", places.translated).places[0]


def test_ports_are_published_on_the_hosts_own_address_only(hosts: tuple[Host, ...]) -> None:
    published = {"6379/tcp": ("10.77.0.1", 6379)}
    assert made(hosts, "bridge", Storage.BIND)["ports"] == published
    assert made(hosts, "user-defined", Storage.BIND)["ports"] == published
    assert "ports" not in made(hosts, "host", Storage.BIND)


def test_a_container_has_the_variables_that_a_process_has_natively(
    hosts: tuple[Host, ...],
) -> None:
    assert made(hosts, "host", Storage.BIND)["environment"] == {"LANG": "C.UTF-8", "A": "b"}


def test_a_container_may_lock_memory_as_a_native_process_of_ours_may(
    hosts: tuple[Host, ...],
) -> None:
    assert made(hosts, "host", Storage.BIND)["cap_add"] == ["IPC_LOCK"]


def test_a_container_joins_the_network_that_was_asked_for(hosts: tuple[Host, ...]) -> None:
    networks = [
        made(hosts, network, Storage.BIND)["network"]
        for network in ("host", "bridge", "user-defined")
    ]
    assert networks == ["host", "bridge", "dunnage-b1-x-1"]


@pytest.mark.parametrize(
    ("storage", "kinds"),
    [
        (Storage.BIND, ["bind", "bind"]),
        (Storage.VOLUME, ["bind", "volume"]),
        (Storage.TMPFS, ["bind", "tmpfs"]),
        (Storage.CONTAINER, ["bind"]),
    ],
)
def test_paths_are_the_same_inside_and_outside(
    hosts: tuple[Host, ...], storage: Storage, kinds: list[str]
) -> None:
    mounts = made(hosts, "host", storage)["mounts"]
    assert isinstance(mounts, list)
    assert [mount["Type"] for mount in mounts] == [*kinds, "bind"]
    own = [place(hosts).home, place(hosts).data][: len(kinds)]
    assert [mount["Target"] for mount in mounts] == [*own, "/run/dunnage/engine"]
    assert mounts[-1]["ReadOnly"]


def test_all_that_belongs_to_a_stay_carries_its_label(hosts: tuple[Host, ...]) -> None:
    container = made(hosts, "bridge", Storage.VOLUME)
    assert container["labels"] == {"dunnage.stay": "b1-x-1"}
    assert container["name"] == "dunnage-b1-x-1-redis-1"
    volume = container["mounts"][1]  # type: ignore[index]
    assert volume["VolumeOptions"]["Labels"] == {"dunnage.stay": "b1-x-1"}
    assert StayNames("b1-x-1").filter == {"label": "dunnage.stay=b1-x-1"}


def test_options_of_a_network_go_to_its_driver_unchanged() -> None:
    stay = StayNames("b1-x-1")
    assert described("overlay", {}, stay) == {
        "name": "dunnage-b1-x-1",
        "driver": "overlay",
        "options": {},
        "labels": stay.labels,
    }
    given = {"driver": "weave", "encrypted": None, "com.docker.network.driver.mtu": 1400}
    made = described("overlay", given, stay)
    assert made["driver"] == "weave"
    assert made["options"] == {"encrypted": "", "com.docker.network.driver.mtu": "1400"}


@pytest.mark.parametrize("stay", ["b01-port", "b01-port.2", "b01-" + "x" * 62, "b1-a_b..c", "b1-é"])
def test_names_of_a_stay_are_its_own_and_fit_a_swarm(stay: str) -> None:
    names = [StayNames.of(stay).thing("cassandra-12") for _ in range(2)]
    assert names[0] != names[1]
    assert all(re.fullmatch("dunnage-[A-Za-z0-9][A-Za-z0-9-]{0,54}", name) for name in names)


def test_limits_are_those_of_a_control_group_with_a_short_period() -> None:
    assert limit_arguments(Limits()) == {}
    assert limit_arguments(Limits(memory=2**28, cpus=0.5, pids=50)) == {
        "mem_limit": 2**28,
        "memswap_limit": 2**28,
        "cpu_period": 10_000,
        "cpu_quota": 5_000,
        "pids_limit": 50,
    }


def test_resource_limits_are_copied_from_a_native_process() -> None:
    table = (
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max core file size        0                    unlimited            bytes\n"
        "Max processes             96365                96365                processes\n"
        "Max open files            1024                 20000                files\n"
    )
    assert [(each.name, each.soft, each.hard) for each in ulimits(table)] == [
        ("core", 0, -1),
        ("nproc", 96365, 96365),
        ("nofile", 1024, 20000),
    ]


def tree(tmp_path_factory: pytest.TempPathFactory, image: str | None) -> Tree:
    here = tmp_path_factory.mktemp("tree")
    software = Software("redis", "7.0", image)
    return Tree(software, here, "/tree", here / "image.tar", "dunnage/redis:1", {})


def test_a_named_image_has_its_programs_on_its_own_path(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    own, named = tree(tmp_path_factory, None), tree(tmp_path_factory, "redis:7")
    assert image_of(own) == "dunnage/redis:1"
    assert image_of(named) == "redis:7"
    assert command(service().argv, own) == service().argv
    assert command(service().argv, named) == ("redis-server", "/home/redis.conf")
    assert command(("/other/program",), named) == ("/other/program",)


@dataclass
class Scripted:
    """A member that answers its probe as a test says."""

    answers: list[Completed | RunError]
    end: str | None = None
    service: Service = field(default_factory=service)

    def identified(self) -> RunningMember:
        raise AssertionError("nobody asks for the process of a member that is waited for")

    def ended(self) -> str | None:
        return self.end

    def run(self, argv: tuple[str, ...], *, stdin: str, timeout: float) -> Completed:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, RunError):
            raise answer
        return answer

    @property
    def hint(self) -> str:
        return "look"

    def log(self, lines: int) -> str:
        return "\n".join(f"line {n}" for n in range(100, 100 + lines))


PONG = Completed(0, "PONG\n", "")
LOADING = Completed(0, "LOADING\n", "")


def test_a_member_is_ready_when_its_probe_says_what_is_expected() -> None:
    member = Scripted([Completed(1, "", "refused"), RunError("timed out"), LOADING, PONG])
    await_ready(member, Deadline.after(10.0))
    assert member.answers == [PONG]


def test_a_deadline_that_is_over_shows_the_last_answer_and_twenty_lines() -> None:
    with pytest.raises(StayError) as failed:
        await_ready(Scripted([LOADING]), Deadline.after(0.01))
    assert failed.value.where == "redis-1"
    assert "not ready within 0.01 s; its probe last answered: LOADING" in failed.value.what
    assert failed.value.what.count("\nline ") == 20
    assert failed.value.hint


def test_a_member_that_ended_is_not_waited_for() -> None:
    with pytest.raises(StayError, match="ended before it was ready: exit code 3"):
        await_ready(Scripted([LOADING], end="exit code 3"), Deadline.after(60.0))


def test_members_are_given_up_when_another_one_has_failed() -> None:
    given_up = Event()

    def fail() -> None:
        raise StayError("no", where="redis-1")

    waiting = Scripted([LOADING])
    deadline = Deadline.after(60.0, given_up)
    with pytest.raises(StayError, match=r"^redis-1: no$"):
        side_by_side([lambda: await_ready(waiting, deadline), fail], given_up)
    assert given_up.is_set()
    assert not deadline.passed
    with pytest.raises(StayError, match="given up"):
        await_ready(waiting, deadline)


class EndedContainer:
    """Docker's API where a container, and every command in it, ends while the command answers."""

    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()

    def exec_create(self, *_: object, **__: object) -> dict[str, str]:
        return {"Id": "e4"}

    def exec_start(self, *_: object, **__: object) -> socket.socket:
        self.far.close()
        return self.near

    def exec_inspect(self, command: str) -> dict[str, int]:
        raise NotFound(f"No such exec instance: {command}")


def test_a_command_whose_container_ends_meanwhile_was_not_run_and_is_no_error_of_its_own() -> None:
    api = cast("APIClient", EndedContainer())
    done = execute(api, "c1", ["true"], stdin="", timeout=5.0, where="redis-1")
    assert (done.code, done.stderr) == (NOT_RUN, "No such exec instance: e4")


class ToldContainer:
    """A container of which its daemon tells a process id."""

    id = "3f2a"

    def __init__(self, pid: int, ends_after: int | None = None) -> None:
        self.attrs = {"State": {"Pid": pid, "Running": pid > 0}}
        self.left = ends_after

    def reload(self) -> None:
        """It stays as it is, or has ended when it was asked so many times."""
        if self.left == 0:
            self.attrs = {"State": {"Pid": 0, "Running": False}}
        self.left = self.left and self.left - 1


class Kernel:
    """A host whose processes are in known control groups; one of None cannot be read."""

    name, engine = "db-1", "/engine"

    def __init__(self, groups: Mapping[int, str | None]) -> None:
        self.groups = {f"/proc/{pid}": text for pid, text in groups.items()}

    def run(self, argv: list[str]) -> Completed:
        there = argv[-1].removesuffix("/cgroup")
        if argv[0] == "test":
            return Completed(0 if there in self.groups else 1, "", "")
        text = self.groups.get(there)
        return Completed(1, "", "cat: no") if text is None else Completed(0, text, "")


def contained(
    pid: int,
    groups: Mapping[int, str | None],
    *,
    ours: bool = False,
    ends_after: int | None = None,
) -> ContainerMember:
    """A member whose daemon tells a process id, on a host with these processes."""
    host = cast("Host", Kernel(groups))
    container = cast("Container", ToldContainer(pid, ends_after))
    daemon = Daemon("db-1", "unix:///socket", ours=ours)
    return ContainerMember(
        service(), host, cast("Tree", None), daemon, cast("DockerClient", None), container
    )


@pytest.mark.parametrize(
    ("groups", "process"),
    [
        ({7: "0::/host/containers/3f2a\n"}, Seen(7, "/host/containers/3f2a")),
        ({7: "3:cpu:/other\n2:memory:/host/3f2a\n"}, Seen(7, "/host/3f2a")),
        ({7: "3:cpu:/a/3f2a\n2:pids,memory:/b/3f2a\n0::/c/3f2a\n"}, Seen(7, "/b/3f2a")),
        ({7: "3:cpu:/a/3f2a\n2:memory:/\n0::/c/3f2a\n"}, Seen(7, "/c/3f2a")),
        ({7: "3:cpu:/a/3f2a\n2:memory:/\n"}, Seen(7, "/a/3f2a")),
        ({}, OUT_OF_SIGHT),
        ({7: "0::/host/someone/else\n"}, OUT_OF_SIGHT),
    ],
    ids=[
        "here",
        "by its memory",
        "by its memory beside others",
        "by the unified group",
        "by any other group",
        "no such process",
        "another process of that id",
    ],
)
def test_a_containers_process_is_seen_where_the_host_has_it_in_the_containers_group(
    groups: dict[int, str], process: object
) -> None:
    assert contained(7, groups).identified().process == process


def test_a_container_without_a_process_is_not_seen() -> None:
    groups = {0: "0::/host/containers/3f2a\n"}
    assert contained(0, groups).identified().process == OUT_OF_SIGHT


@pytest.mark.parametrize(
    ("out_of_memory", "error", "told"),
    [
        (False, "", "exit code 128"),
        (True, "", "exit code 128, out of memory"),
        (False, "no profile", "exit code 128, its daemon says: no profile"),
    ],
)
def test_a_container_that_its_daemon_could_not_start_ended_with_what_the_daemon_says(
    out_of_memory: bool, error: str, told: str
) -> None:
    member = contained(0, {})
    state = {"Running": False, "OOMKilled": out_of_memory, "ExitCode": 128, "Error": error}
    member.container.attrs = {"State": state}
    assert member.ended() == told


@pytest.mark.parametrize("groups", [{}, {7: "0::/host/someone/else\n"}])
def test_a_living_container_of_our_own_daemon_that_its_host_does_not_see_is_an_error(
    groups: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_member, "_TOLD", 0.0)
    with pytest.raises(StayError, match="runs as process 7, but its host has no such process"):
        contained(7, groups, ours=True).identified()


def test_a_container_of_our_own_daemon_that_has_just_ended_is_no_error_of_sight() -> None:
    member = contained(7, {}, ours=True, ends_after=2)
    assert member.identified().process == OUT_OF_SIGHT


@pytest.mark.parametrize("ours", [True, False])
def test_control_groups_that_cannot_be_read_are_an_error_and_no_process_out_of_sight(
    ours: bool,
) -> None:
    with pytest.raises(StayError, match="control groups of process 7 cannot be read: cat: no"):
        contained(7, {7: None}, ours=ours).identified()


def test_the_address_that_a_daemon_tells_is_that_in_the_range() -> None:
    networks = {"bridge": {"IPAddress": "172.17.0.2"}, "own": {"IPAddress": "10.66.0.3"}}
    container = {"NetworkSettings": {"Networks": {"none": {"IPAddress": ""}, **networks}}}
    assert told_in("10.66.0.0/16", container) == "10.66.0.3"
    assert told_in("10.77.0.0/16", container) is None
    assert told_in("10.77.0.0/16", {"NetworkSettings": {}}) is None
