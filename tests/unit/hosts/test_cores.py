"""Which processors each group of hosts gets."""

from __future__ import annotations

import pytest

from dunnage.hosts.namespace.cores import mask, partition, processors
from dunnage.model.choices import Cores

GROUPS = ("db", "client")


def plain(count: int) -> list[tuple[int, ...]]:
    return [(number,) for number in range(count)]


def test_on_two_cores_client_and_servers_have_one_each() -> None:
    parted = partition(plain(2), GROUPS)
    assert parted.groups == {"db": (1,), "client": (0,)}
    assert parted.apart
    assert not parted.siblings_parted


def test_on_one_core_all_share_and_it_is_said() -> None:
    parted = partition(plain(1), GROUPS)
    assert parted.groups == {"db": (0,), "client": (0,)}
    assert not parted.apart


@pytest.mark.parametrize("count", range(2, 20))
def test_no_core_is_shared_or_left_and_the_client_has_a_third(count: int) -> None:
    parted = partition(plain(count), GROUPS)
    client, servers = parted.groups["client"], parted.groups["db"]
    assert sorted([*client, *servers]) == list(range(count))
    assert len(client) == max(1, count // 3)


def test_threads_of_one_core_stay_together() -> None:
    parted = partition([(0, 4), (1, 5), (2, 6), (3, 7)], GROUPS)
    assert parted.groups == {"client": (0, 4), "db": (1, 2, 3, 5, 6, 7)}


def test_a_single_core_with_two_threads_is_parted_and_it_is_said() -> None:
    parted = partition([(0, 1)], GROUPS)
    assert parted.groups == {"client": (0,), "db": (1,)}
    assert parted.siblings_parted


def test_a_control_group_shares_the_clients_cores() -> None:
    parted = partition(plain(6), ("db", "client", "control"))
    assert parted.groups["control"] == parted.groups["client"] == (0, 1)


def test_groups_of_servers_share_the_same_cores() -> None:
    parted = partition(plain(3), ("small", "large", "client"))
    assert parted.groups["small"] == parted.groups["large"] == (1, 2)


def test_without_clients_everything_is_the_servers() -> None:
    parted = partition(plain(4), ("db",))
    assert parted.groups == {"db": (0, 1, 2, 3)}
    assert not parted.apart


def test_the_kernels_lists_of_processors_are_read() -> None:
    assert processors("0-2,5\n") == (0, 1, 2, 5)
    assert processors("7") == (7,)
    assert processors("\n") == ()


def test_masks_are_written_in_words_of_32_bits() -> None:
    assert mask([0]) == "1"
    assert mask([1, 4]) == "12"
    assert mask([0, 32]) == "1,00000001"
    assert mask([65]) == "2,00000000,00000000"
    assert mask([]) == "0"


def test_shared_cores_are_everybodys() -> None:
    shared = partition(plain(4), GROUPS, Cores.SHARED)
    assert set(shared.groups.values()) == {(0, 1, 2, 3)}
    assert not shared.apart and not shared.siblings_parted
