"""What every database must say, and that it says the same each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from cases import DatabaseCase, unique

from dunnage.contracts.database import HasSnapshot
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.late import late_host
from dunnage.model.layout import (
    Address,
    Addresses,
    Layout,
    Place,
    Reservation,
    Step,
)
from dunnage.model.study import TestbedSpec as Testbed
from dunnage.platforms import places


def early(member: str, slot: int, port: int) -> Addresses:
    address = Address(f"192.0.2.{slot + 1}", port)
    return Addresses(bind=address, peer=address, contact=address, advertised=address)


def late(member: str, slot: int, port: int) -> Addresses:
    own = Address(late_host(member), port)
    told = Address(f"192.0.2.{slot + 1}", port)
    return Addresses(bind=own, peer=own, contact=told, advertised=told)


def named(member: str, slot: int, port: int) -> Addresses:
    name, own = Address(f"{member}.members", port), Address(late_host(member), port)
    return Addresses(bind=own, peer=name, contact=name, advertised=own)


@pytest.fixture(params=[early, late, named], ids=["early", "late", "named"])
def reservation(request: pytest.FixtureRequest, database_case: DatabaseCase) -> Reservation:
    layout: Layout = database_case.database().layout(database_case.spec)
    return Reservation(
        tuple(
            Place(
                member=seat.member,
                role=seat.role,
                host=f"db-{seat.slot + 1}",
                home=f"/scratch/{seat.member}",
                data=f"/scratch/{seat.member}/data",
                prefix="/opt/tree",
                ports={
                    name: request.param(seat.member, seat.slot, port)
                    for name, port in seat.ports.items()
                },
            )
            for seat in layout.seats
        )
    )


class TestDatabase:
    def test_members_have_names_of_their_own(self, database_case: DatabaseCase) -> None:
        seats = database_case.database().layout(database_case.spec).seats
        assert seats
        assert len({seat.member for seat in seats}) == len(seats)

    @pytest.mark.parametrize("hosts", [1, 2, 3])
    def test_members_that_share_a_host_get_ports_of_their_own(
        self, database_case: DatabaseCase, hosts: int
    ) -> None:
        layout = database_case.database().layout(database_case.spec)
        spec = Testbed(kind="fake", hosts={"db": hosts})
        with open_fake(spec, name=unique()) as testbed:
            reservation = places.reserve(layout, testbed.group("db"), "/opt/tree")
        addresses = [each for place in reservation.places for each in place.ports.values()]
        told = [str(each.contact) for each in addresses]
        assert len(set(told)) == len(told)

    def test_stages_start_every_member_exactly_once(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        stages = database_case.database().stages(database_case.spec, reservation)
        started = [service.member for stage in stages for service in stage.services]
        assert sorted(started) == sorted(place.member for place in reservation.places)

    def test_a_step_is_taken_on_a_member_that_is_up_by_then(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        up: set[str] = set()
        for stage in database_case.database().stages(database_case.spec, reservation):
            up |= {service.member for service in stage.services}
            assert {step.member for step in stage.steps} <= up

    def test_files_lie_below_the_home_of_their_member(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        for stage in database_case.database().stages(database_case.spec, reservation):
            for service in stage.services:
                home = reservation.place(service.member).home
                assert all(path.startswith(f"{home}/") for path in service.files)

    def test_clients_begin_at_contacts_and_go_on_where_members_say_that_they_are(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        target = database_case.database().target(database_case.spec, reservation)
        addresses = [each for place in reservation.places for each in place.ports.values()]
        contacts = {each.contact for each in addresses}
        assert target.addresses
        assert set(target.addresses) <= contacts
        assert target.endpoint <= contacts | {each.advertised for each in addresses}
        assert set(target.addresses) <= target.endpoint
        assert set(target.storing) <= set(target.options)

    def test_the_same_question_has_the_same_answer(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        first, second = database_case.database(), database_case.database()
        spec = database_case.spec
        assert first.layout(spec) == second.layout(spec)
        assert first.target(spec, reservation) == second.target(spec, reservation)
        for one, two in zip(
            first.stages(spec, reservation), second.stages(spec, reservation), strict=True
        ):
            assert one.services == two.services
            assert list(map(asked, one.steps)) == list(map(asked, two.steps))

    def test_facts_reset_and_settling_are_asked_of_its_own_members(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        database, spec = database_case.database(), database_case.spec
        members = {place.member for place in reservation.places}
        for ask in (database.facts, database.reset, database.settle):
            steps = ask(spec, reservation)
            assert steps
            assert {step.member for step in steps} <= members

    def test_a_snapshot_is_of_files_below_the_data_of_its_own_members(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        database = database_case.database()
        if not isinstance(database, HasSnapshot):
            pytest.skip("this database has no snapshot")
        snapshot = database.snapshot(database_case.spec, reservation)
        members = {place.member for place in reservation.places}
        assert snapshot.files
        assert snapshot.files.keys() <= members
        for files in snapshot.files.values():
            assert files
            for path in map(PurePosixPath, files):
                assert not path.is_absolute()
                assert path.parts
                assert ".." not in path.parts
        assert snapshot.complete
        assert {step.member for step in (*snapshot.adopt, *snapshot.complete)} <= members

    def test_the_files_of_a_snapshot_are_the_same_wherever_members_are(
        self, database_case: DatabaseCase, reservation: Reservation
    ) -> None:
        database, spec = database_case.database(), database_case.spec
        if not isinstance(database, HasSnapshot):
            pytest.skip("this database has no snapshot")
        elsewhere = Reservation(
            tuple(
                replace(
                    place,
                    host="elsewhere",
                    home=f"/elsewhere/{place.member}",
                    data=f"/elsewhere/{place.member}/data",
                    prefix="/opt/elsewhere",
                    ports={
                        name: early(place.member, 40 + number, addresses.contact.port)
                        for name, addresses in place.ports.items()
                    },
                )
                for number, place in enumerate(reservation.places)
            )
        )
        here, there = (database.snapshot(spec, each) for each in (reservation, elsewhere))
        assert here.files == there.files


def asked(step: Step) -> tuple[object, ...]:
    """What of a step can be compared: its functions cannot."""
    return step.name, step.member, step.argv, step.stdin, step.deadline
