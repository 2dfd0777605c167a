"""What parity found is readable without a manual."""

from typing import Any

import pytest

from dunnage.model.parity import Aspect, Cause, Difference, Factor, FoundDifference
from dunnage.wording.parity import CAPABILITIES, factor, origin, sentence, shown


def difference(aspect: Aspect, name: str, a: str | None, b: str | None, **more: Any) -> Difference:
    given = {"roles": ("primary",), "cause": Cause.UNDECLARED, **more}
    return Difference(aspect=aspect, name=name, baseline=a, deployment=b, **given)


SECCOMP = difference(Aspect.LIMIT, "seccomp", "0", "2", cause=Cause.INHERENT, comes_with="platform")


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (
            difference(Aspect.LIMIT, "capabilities", "000001ffffffffff", "00000000a80425fb"),
            "primary: kernel capabilities: 14 where the baseline has 41 "
            "(lacks sys_admin, net_admin, sys_nice, ipc_lock and 23 more)",
        ),
        (SECCOMP, "primary: system-call filter (seccomp): off → on"),
        (
            difference(Aspect.LIMIT, "seccomp", "0", f"2:{'ab' * 32}"),
            "primary: system-call filter (seccomp): off → on",
        ),
        (
            difference(Aspect.LIMIT, "seccomp", f"2:{'ab' * 32}", f"2:{'cd' * 32}"),
            "primary: system-call filter (seccomp): rules abababababab → rules cdcdcdcdcdcd",
        ),
        (
            difference(Aspect.LIMIT, "seccomp", "2", f"2:{'cd' * 32}"),
            "primary: system-call filter (seccomp): rules unknown → rules cdcdcdcdcdcd",
        ),
        (
            difference(Aspect.LIMIT, "no_new_privileges", "0", "1"),
            "primary: may gain privileges: yes → no",
        ),
        (
            difference(Aspect.LIMIT, "nofile", "1024", "1048576"),
            "primary: limit nofile: 1024 → 1048576",
        ),
        (difference(Aspect.LIMIT, "seccomp", None, "2"), "primary: limit seccomp: - → 2"),
        (
            difference(Aspect.MAPPED, "/lib/libc.so", "aa", "bb"),
            "primary: another build of /lib/libc.so is loaded (aa → bb)",
        ),
        (
            difference(Aspect.LIMIT, "capabilities", "all", "0f"),
            "primary: limit capabilities: all → 0f",
        ),
        (
            difference(Aspect.MAPPED, "/lib/libc.so", "aa", None),
            "primary: mapped file /lib/libc.so: aa → -",
        ),
        (
            difference(Aspect.MEMBER, "db-3", None, "db-3", roles=()),
            "only this deployment has the member db-3",
        ),
        (
            difference(Aspect.UNREAD, "/etc/redis.conf", "gone", "gone", cause=Cause.UNKNOWN),
            "primary: configuration redis.conf: gone",
        ),
    ],
)
def test_a_difference_is_said_in_plain_words(found: Difference, says: str) -> None:
    assert sentence(found) == says


@pytest.mark.parametrize("aspect", [*Aspect])
def test_every_aspect_has_words_for_two_sides_and_for_one(aspect: Aspect) -> None:
    for sides in (("a", "b"), (None, "b"), ("a", None)):
        assert sentence(difference(aspect, "name", *sides))


def test_capabilities_are_counted_by_bit() -> None:
    assert len(CAPABILITIES) == len(set(CAPABILITIES)) == 41
    assert CAPABILITIES[21] == "sys_admin"
    assert CAPABILITIES[40] == "checkpoint_restore"


def test_the_same_difference_of_two_deployments_is_told_once() -> None:
    argument = difference(Aspect.ARGUMENT, "49", None, "x")
    found = shown(
        [
            FoundDifference(deployment="docker-host", baseline="native", difference=SECCOMP),
            FoundDifference(deployment="docker-bridge", baseline="native", difference=SECCOMP),
            FoundDifference(deployment="docker-bridge", baseline="twin", difference=argument),
        ],
        "native",
    )
    assert [(each.sides, each.comes_with) for each in found] == [
        (("docker-host", "docker-bridge"), "platform"),
        (("docker-bridge from twin",), ""),
    ]


def test_what_could_not_be_compared_is_marked() -> None:
    silent = difference(
        Aspect.UNREAD, "virtual machine", "it does not answer", None, cause=Cause.UNKNOWN
    )
    (found,) = shown([FoundDifference(deployment="d", baseline="n", difference=silent)], "n")
    assert found.what == "primary: virtual machine: it does not answer"
    assert (found.unknown, found.comes_with) == (True, "")
    assert "unknown" in origin(silent) and "platform" in origin(SECCOMP)


def test_a_factor_that_one_side_lacks_is_a_dash() -> None:
    assert factor(Factor(key="limits.cpus", baseline=None, deployment="2")) == "limits.cpus: - → 2"
