"""What every platform must do."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
from cases import DEADLINE, Ground, unique

from dunnage.contracts.platform import Crashable, KeepsData, Platform, RunningMember, Seen, Unseen
from dunnage.errors import StayError
from dunnage.hosts.fake.testbed import FakeTestbed
from dunnage.model.choices import ClientPlace
from dunnage.model.late import unfilled
from dunnage.model.layout import ENGINE, Reservation, Stage
from dunnage.model.path import HopKind
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form, take


@contextmanager
def stay(grounds: Ground) -> Iterator[Platform]:
    """A platform for one stay, down at its end whatever happened in it."""
    platform = grounds.platform(unique())
    try:
        yield platform
    finally:
        platform.down()


@pytest.fixture
def platform(grounds: Ground) -> Iterator[Platform]:
    with stay(grounds) as platform:
        yield platform


def reserve(grounds: Ground, platform: Platform) -> Reservation:
    return platform.reserve(grounds.case.database().layout(grounds.case.spec))


def stages(grounds: Ground, reservation: Reservation) -> tuple[Stage, ...]:
    return grounds.case.database().stages(grounds.case.spec, reservation)


def formed_from(grounds: Ground, platform: Platform, reservation: Reservation) -> Reservation:
    walk = partial(stages, grounds)
    return form(platform, walk, reservation, grounds.testbed.clock, DEADLINE).reservation


def bring_up(grounds: Ground, platform: Platform) -> Reservation:
    return formed_from(grounds, platform, reserve(grounds, platform))


def lives(grounds: Ground, member: RunningMember) -> bool:
    """Whether the member's process is there, whoever sees it."""
    if isinstance(member.process, Unseen):
        assert isinstance(grounds.testbed, FakeTestbed)
        servers = grounds.testbed.world.servers.values()
        return any(each.member == member.member and each.process.alive for each in servers)
    argv = [member.host.engine, "inspect", "--pid", str(member.process.pid), "--data", "/"]
    return member.host.run(argv).code == 0


def keeping(platform: Platform) -> KeepsData:
    """The platform as one that keeps data; a test of a platform that does not is skipped."""
    if not isinstance(platform, KeepsData):
        pytest.skip("this platform does not offer to keep data")
    return platform


Formed = tuple[Platform, Reservation]


@pytest.fixture(scope="class")
def formed(grounds: Ground) -> Iterator[Formed]:
    """A stay that is formed once for tests which only look at it."""
    with stay(grounds) as platform:
        yield platform, bring_up(grounds, platform)


class TestFormedPlatform:
    def test_members_of_a_formed_database_run_and_answer(
        self, grounds: Ground, formed: Formed
    ) -> None:
        platform, reservation = formed
        running = platform.running()
        assert {member.member for member in running} == {p.member for p in reservation.places}
        assert (platform.ended(), platform.silent(10.0)) == ({}, {})
        for member in running:
            assert member.host.name == reservation.place(member.member).host
            assert isinstance(member.process, Seen) == grounds.case.seen
            if isinstance(member.process, Seen):
                assert member.process.pid > 0
                assert member.process.control_group
            else:
                assert member.process.reason
        steps = grounds.case.database().facts(grounds.case.spec, reservation)
        assert take(platform, steps, grounds.testbed.clock)

    def test_a_command_beside_a_member_gives_its_output_and_its_exit_code(
        self, grounds: Ground, formed: Formed
    ) -> None:
        platform, reservation = formed
        step = grounds.case.database().facts(grounds.case.spec, reservation)[0]
        done = platform.run(step.member, step.argv, stdin=step.stdin, timeout=10.0)
        assert done.code == 0
        assert step.parse(done.stdout)
        # Only the database's own programs are sure to be in a container.
        wrong = (step.argv[0], "--no-such-option")
        assert platform.run(step.member, wrong, stdin="", timeout=10.0).code != 0

    def test_the_hosts_engine_answers_beside_every_member(self, formed: Formed) -> None:
        platform, reservation = formed
        for place in reservation.places:
            asked = platform.run(place.member, (ENGINE, "--version"), stdin="", timeout=10.0)
            assert asked.code == 0
            assert asked.stdout.startswith("dunnage-engine")
            refused = platform.run(place.member, (ENGINE, "no-such-verb"), stdin="", timeout=10.0)
            assert refused.code != 0

    def test_a_member_has_a_log(self, formed: Formed) -> None:
        platform, reservation = formed
        member = reservation.places[0].member
        assert platform.log(member)
        assert len(platform.log(member, lines=1).splitlines()) == 1

    def test_the_network_in_force_is_read_back(self, formed: Formed) -> None:
        platform, _ = formed
        assert platform.network()

    def test_the_way_to_every_member_leads_from_the_client_to_its_process(
        self, grounds: Ground, formed: Formed
    ) -> None:
        platform, reservation = formed
        (host,) = grounds.testbed.group("client")
        paths = platform.paths(platform.client(host))
        assert [path.member for path in paths] == [place.member for place in reservation.places]
        for path, place in zip(paths, reservation.places, strict=True):
            assert bool(path.unknown) == (not grounds.case.seen)
            if path.unknown:
                continue
            first, *_, last = path.hops
            assert (first.kind, first.host) == (HopKind.CLIENT, host.name)
            assert (last.kind, last.host) == (HopKind.MEMBER, place.host)
            assert path.address in {str(each.contact) for each in place.ports.values()}

    def test_a_client_is_a_host_on_the_clients_own_host(
        self, grounds: Ground, formed: Formed
    ) -> None:
        platform, _ = formed
        (host,) = grounds.testbed.group("client")
        client = platform.client(host)
        assert (client is host) == (grounds.case.client is ClientPlace.HOST)
        path = f"{client.scratch}/there"
        client.put(path, b"1")
        assert client.get(path) == b"1"
        client.remove(path)
        with pytest.raises(FileNotFoundError):
            client.get(path)
        assert client.run([client.engine, "--version"]).stdout.startswith("dunnage-engine")

    def test_no_address_is_late_once_the_database_is_formed(self, formed: Formed) -> None:
        platform, reservation = formed
        addresses = [each for place in reservation.places for each in place.ports.values()]
        told = [f"{each.bind} {each.peer} {each.contact} {each.advertised}" for each in addresses]
        assert not any(map(unfilled, told))
        assert set(platform.late()) <= {place.member for place in reservation.places}

    def test_a_client_resolves_the_endpoint_to_addresses(
        self, grounds: Ground, formed: Formed
    ) -> None:
        platform, reservation = formed
        clients = [platform.client(host) for host in grounds.testbed.group("client")]
        target = grounds.case.database().target(grounds.case.spec, reservation)
        endpoint = allowed(target, resolved(target, clients))
        assert len(endpoint) >= len(target.addresses)
        for each in endpoint:
            assert ipaddress.ip_address(each.rpartition(":")[0])


class TestPlatform:
    def test_reserving_gives_every_seat_a_place_and_is_stable(
        self, grounds: Ground, platform: Platform
    ) -> None:
        layout = grounds.case.database().layout(grounds.case.spec)
        reservation = platform.reserve(layout)
        assert platform.reserve(layout) == reservation
        assert [p.member for p in reservation.places] == [s.member for s in layout.seats]
        hosts = [host.name for host in grounds.testbed.group("db")]
        for seat, place in zip(layout.seats, reservation.places, strict=True):
            assert place.host == hosts[seat.slot % len(hosts)]
            assert place.ports.keys() == seat.ports.keys()
            assert place.home.startswith("/")
            assert place.data.startswith("/")

    def test_reserving_starts_nothing(self, grounds: Ground, platform: Platform) -> None:
        reserve(grounds, platform)
        assert platform.running() == ()

    def test_a_member_that_is_never_ready_ends_the_stay_with_its_log(
        self, grounds: Ground, platform: Platform
    ) -> None:
        first = stages(grounds, reserve(grounds, platform))[0].services[0]
        probe = replace(first.ready, expect="an answer that no server gives")
        with pytest.raises(StayError, match=first.member) as caught:
            platform.up([replace(first, ready=probe)], 1.0)
        silent = platform.silent(1.0)
        assert silent.keys() == {first.member}
        assert silent[first.member]
        last = platform.log(first.member, lines=1).strip()
        assert last
        assert last in str(caught.value)

    def test_a_member_that_ends_at_once_ends_the_stay(
        self, grounds: Ground, platform: Platform
    ) -> None:
        first = stages(grounds, reserve(grounds, platform))[0].services[0]
        with pytest.raises(StayError, match=first.member):
            platform.up([replace(first, argv=("false",))], DEADLINE)

    def test_a_crashed_member_is_noticed_and_named(
        self, grounds: Ground, platform: Platform
    ) -> None:
        if not isinstance(platform, Crashable):
            pytest.skip("this platform does not offer to crash a member")
        member = bring_up(grounds, platform).places[-1].member
        platform.crash(member)
        grounds.testbed.clock.sleep(0.5)
        with pytest.raises(StayError, match=member):
            platform.running()
        how = platform.ended()
        assert how.keys() == {member}
        assert how[member]
        assert member not in platform.silent(10.0)  # they are asked that live

    def test_down_leaves_no_process_and_no_file(self, grounds: Ground) -> None:
        with stay(grounds) as platform:
            reservation = bring_up(grounds, platform)
            running = platform.running()
            assert [lives(grounds, member) for member in running] == [True] * len(running)
        assert [lives(grounds, member) for member in running] == [False] * len(running)
        hosts = {host.name: host for host in grounds.testbed.hosts}
        for stage in stages(grounds, reservation):
            for service in stage.services:
                for path in service.files:
                    with pytest.raises(FileNotFoundError):
                        hosts[reservation.place(service.member).host].get(path)

    def test_the_same_hosts_take_the_next_stay(self, grounds: Ground) -> None:
        seen = []
        for _ in range(2):
            with stay(grounds) as platform:
                seen.append(len(bring_up(grounds, platform).places))
                assert len(platform.running()) == seen[0]
        assert seen[0] == seen[1]

    def test_members_of_another_stay_start_with_what_was_kept(self, grounds: Ground) -> None:
        name, hosts = unique(), {host.name: host for host in grounds.testbed.hosts}
        with stay(grounds) as platform:
            reservation = bring_up(grounds, platform)
            files = {place.member: ("alone", "below") for place in reservation.places}
            for place in reservation.places:
                hosts[place.host].put(f"{place.data}/alone", b"alone")
                hosts[place.host].put(f"{place.data}/below/it/lies", place.member.encode())
            keeping(platform).keep(name, files)
        with stay(grounds) as platform:
            reservation = reserve(grounds, platform)
            keeping(platform).restore(name, files)
            for place in reservation.places:
                host = hosts[place.host]
                assert host.get(f"{place.data}/alone") == b"alone"
                assert host.get(f"{place.data}/below/it/lies") == place.member.encode()
            formed_from(grounds, platform, reservation)
            assert len(platform.running()) == len(reservation.places)

    def test_what_is_kept_again_takes_the_place_of_what_was_kept(self, grounds: Ground) -> None:
        name, hosts = unique(), {host.name: host for host in grounds.testbed.hosts}
        with stay(grounds) as platform:
            place = bring_up(grounds, platform).places[0]
            for file in ("first", "second"):
                hosts[place.host].put(f"{place.data}/{file}", file.encode())
                keeping(platform).keep(name, {place.member: (file,)})
        with stay(grounds) as platform:
            place = reserve(grounds, platform).places[0]
            keeping(platform).restore(name, {place.member: ("second",)})
            assert hosts[place.host].get(f"{place.data}/second") == b"second"
            with pytest.raises(StayError, match=place.member):
                keeping(platform).restore(name, {place.member: ("first",)})

    def test_what_is_not_there_can_be_neither_kept_nor_restored(
        self, grounds: Ground, platform: Platform
    ) -> None:
        place = bring_up(grounds, platform).places[0]
        with pytest.raises(StayError, match=place.member):
            keeping(platform).keep(unique(), {place.member: ("nothing",)})
        with pytest.raises(StayError, match=place.member):
            keeping(platform).restore(unique(), {place.member: ("nothing",)})

    def test_down_works_after_a_start_that_failed(self, grounds: Ground) -> None:
        with stay(grounds) as platform:
            first = stages(grounds, reserve(grounds, platform))[0].services[0]
            with pytest.raises(StayError):
                platform.up([replace(first, argv=("false",))], DEADLINE)
        with stay(grounds) as after:
            bring_up(grounds, after)
            assert after.running()

    def test_down_works_when_nothing_was_started(self, grounds: Ground) -> None:
        with stay(grounds) as platform:
            reserve(grounds, platform)
        assert platform.running() == ()
