"""Debian 12 as people have it: its own kernel, with control groups version 2, in QEMU.

Its processors are emulated, so whether things work is seen here and never how fast they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from clone import Clone, cloned
from emulated_machine import SLOWED
from handed_in import CHECKOUT
from machine_agent import TOO_LONG

from dunnage.model.accelerator import ACCELERATOR, TCG
from dunnage.model.layout import Software
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware

pytestmark = [
    pytest.mark.live,
    pytest.mark.proof,
    pytest.mark.quiet,
    pytest.mark.vm,
    pytest.mark.timeout(3600),
]

CACHED = ("redis-", "cassandra-5.0-", "docker-", "patchelf-")
"""How requests begin of what was made outside."""
HOURS = pytest.mark.timeout(3 * 3600)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    software = DebianSoftware()
    for name, version in (("redis", "7.0"), ("cassandra", "5.0")):
        software.tree(Software(name, version))
    software.dockerd()
    with cloned(tmp_path_factory.mktemp("vm"), CACHED) as made:
        yield made


def test_debians_own_kernel_has_control_groups_version_2(clone: Clone) -> None:
    asked = "uname -r; stat --file-system --format=%T /sys/fs/cgroup; . /etc/os-release; echo $ID"
    done = clone.machine.run(f"{asked}; echo $VERSION_ID", 5)
    kernel, kind, *debian = done.said.split()
    assert kernel.endswith("-cloud-amd64")
    assert kind == "cgroup2fs"
    assert debian == ["debian", "12"]


def test_its_seconds_are_longer_than_ours_and_a_command_ends_with_its_time(clone: Clone) -> None:
    began = time.monotonic()
    assert clone.machine.run("sleep 5", 5).code == 0
    assert time.monotonic() - began > 0.9 * 5 * SLOWED
    assert clone.machine.run("sleep 600", 0.2).code == TOO_LONG


def test_what_a_lab_needs_is_there_and_the_command_that_is_named_for_ipvs_helps(
    clone: Clone,
) -> None:
    missing = clone.lacks()
    assert missing.keys() <= {"ipvs", "kubernetes", "cassandra"}  # the last for its version 4.1
    assert missing["ipvs"] == "modprobe ip_vs"
    done = clone.machine.run(missing["ipvs"], 5)
    assert done.code == 0, done.said
    assert "ipvs" not in clone.lacks()


def test_the_first_command_has_nothing_left_to_build(clone: Clone) -> None:
    target = f"CARGO_BUILD_TARGET={engine_path().parents[1].name}"  # no compiler is there to ask
    done = clone.machine.run(f"cd {CHECKOUT} && {target} make --dry-run quickstart", 10)
    assert done.code == 0, done.said
    assert "cargo build" not in done.said
    assert done.said.splitlines()[-1] == ".venv/bin/dunnage quickstart"


@HOURS
def test_the_study_of_the_first_command_answers_at_a_tenth_of_its_size(
    clone: Clone, record_property: Callable[[str, object], None]
) -> None:
    words = ("run", "studies/quickstart.yaml", "--scale", "10%")
    analysis = clone.answer(*words, minutes=120)["analysis"]
    assert analysis["environment"]["hosts.cgroups"] == 2
    assert analysis["environment"][ACCELERATOR] == TCG
    assert analysis["missing"] == 0
    runs = ", ".join(f"{analysis[each]} {each}" for each in ("valid", "invalid", "unknown"))
    record_property("seen", f"of {analysis['planned']} runs {runs}; {ACCELERATOR}: {TCG}")


@HOURS
@pytest.mark.parametrize(
    "tests",
    [
        "tests/contract/test_contract_host.py",
        "tests/live/test_supports_live.py",
        "tests/live/test_namespace_live.py",
        "tests/contract/test_contract_sampler.py",
        "tests/live/test_sampler_truth_live.py",
        "tests/live/test_parity_live.py",
        "tests/live/test_platforms_live.py",
        "tests/live/studies/test_turns_live.py",
        "tests/live/studies/test_interrupted_study_live.py",
        "tests/live/test_bare_machine_live.py",
    ],
)
def test_what_holds_elsewhere_holds_on_version_2(
    clone: Clone, tests: str, record_property: Callable[[str, object], None]
) -> None:
    record_property("seen", clone.tested(tests, "live and not proof and not kubernetes", 150))
