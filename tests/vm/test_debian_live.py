"""Debian 12 as people have it: its own kernel, with control groups version 2, in QEMU.

Its processors are emulated, so whether things work is seen here and never how fast they are.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from debian_image import image
from emulated_machine import SLOWED, Done, Machine, booted
from handed_in import CHECKOUT, hand_in, taking
from machine_agent import TOO_LONG

from dunnage.errors import ExitCode
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
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine with a fresh clone, and the software that it would download."""
    software = DebianSoftware()
    for name, version in (("redis", "7.0"), ("cassandra", "5.0")):
        software.tree(Software(name, version))
    software.dockerd()
    place = tmp_path_factory.mktemp("vm")
    with booted(image(), hand_in(place, CACHED), place) as running:
        taken = running.run(taking(), 30)
        assert taken.code == 0, taken.said
        yield running


def in_clone(machine: Machine, *words: str, minutes: float = 30, errors: str = "&1") -> Done:
    """What a command of the clone's virtual environment says; its errors may go elsewhere."""
    command = shlex.join((f"{CHECKOUT}/.venv/bin/{words[0]}", *words[1:]))
    return machine.run(f"cd {CHECKOUT} && exec {command} 2>{errors}", minutes)


def answered(machine: Machine, *words: str, minutes: float = 30) -> Any:
    """The answer of a command as a program reads it, be it trustworthy or not."""
    typed = ("dunnage", *words, "--format", "json")
    done = in_clone(machine, *typed, minutes=minutes, errors="/run/errors")
    may = (ExitCode.OK, ExitCode.UNTRUSTWORTHY, ExitCode.UNAVAILABLE)
    assert done.code in may, machine.run("cat /run/errors", 5).said
    return json.loads(done.said)


def test_debians_own_kernel_has_control_groups_version_2(machine: Machine) -> None:
    asked = "uname -r; stat --file-system --format=%T /sys/fs/cgroup; . /etc/os-release; echo $ID"
    done = machine.run(f"{asked}; echo $VERSION_ID", 5)
    kernel, kind, *debian = done.said.split()
    assert kernel.endswith("-cloud-amd64")
    assert kind == "cgroup2fs"
    assert debian == ["debian", "12"]


def test_its_seconds_are_longer_than_ours_and_a_command_ends_with_its_time(
    machine: Machine,
) -> None:
    began = time.monotonic()
    assert machine.run("sleep 5", 5).code == 0
    assert time.monotonic() - began > 0.9 * 5 * SLOWED
    assert machine.run("sleep 600", 0.2).code == TOO_LONG


def test_what_a_lab_needs_is_there_and_the_module_that_is_not_loaded_is_named(
    machine: Machine,
) -> None:
    found = answered(machine, "doctor")["capabilities"]
    missing = {name: each["hint"] for name, each in found.items() if not each["met"]}
    assert missing.keys() <= {"ipvs", "kubernetes", "software"}
    assert missing["ipvs"] == "modprobe ip_vs"


def test_the_first_command_has_nothing_left_to_build(machine: Machine) -> None:
    target = f"CARGO_BUILD_TARGET={engine_path().parents[1].name}"  # no compiler is there to ask
    done = machine.run(f"cd {CHECKOUT} && {target} make --dry-run quickstart", 10)
    assert done.code == 0, done.said
    assert "cargo build" not in done.said
    assert done.said.splitlines()[-1] == ".venv/bin/dunnage quickstart"


@pytest.mark.timeout(9600)
def test_the_study_of_the_first_command_answers_at_a_tenth_of_its_size(
    machine: Machine, record_property: Callable[[str, object], None]
) -> None:
    words = ("run", "studies/quickstart.yaml", "--scale", "10%")
    answer = answered(machine, *words, minutes=120)
    analysis = answer["analysis"]
    assert analysis["environment"]["hosts.cgroups"] == 2
    assert analysis["environment"][ACCELERATOR] == TCG
    assert analysis["missing"] == 0
    runs = ", ".join(f"{analysis[each]} {each}" for each in ("valid", "invalid", "unknown"))
    record_property("seen", f"of {analysis['planned']} runs {runs}; {ACCELERATOR}: {TCG}")


@pytest.mark.timeout(9600)
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
    machine: Machine, tests: str, record_property: Callable[[str, object], None]
) -> None:
    marks = "live and not proof and not kubernetes"
    done = in_clone(machine, "python", *PYTEST, marks, tests, minutes=150)
    told = done.said.splitlines()
    record_property("seen", told[-1] if told else "nothing")
    assert done.code == 0, "\n".join(told[-200:])
