"""Whom the engine asks in a ring of three, as the members count it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from coordinators import any_member_coordinates, the_member_with_the_record_coordinates
from own_cassandra import MEMBERS, Ring, of_one_copy

pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ring]:
    """Three members, of which each record is on one."""
    home = Ring(tmp_path_factory.mktemp("three"), (*MEMBERS, "127.0.0.3"))
    try:
        of_one_copy(home)
        yield home
    finally:
        home.close()


def test_each_of_three_members_coordinates_the_operations_on_its_own_records(three: Ring) -> None:
    the_member_with_the_record_coordinates(three)


def test_each_of_three_members_coordinates_a_third_where_any_may(three: Ring) -> None:
    any_member_coordinates(three)
