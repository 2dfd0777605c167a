"""First steps where something is missing, by the real command: what is said, and what goes on."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bare_machine import (
    CHECKOUT,
    NOBODYS_CHECKOUT,
    READ_ONLY_GROUPS,
    WITHOUT_DOCKERD,
    cache_of_redis,
    installed_docker,
    programs,
    typed,
    typed_by_nobody,
)

from dunnage.errors import ExitCode

pytestmark = pytest.mark.live

QUICKSTART = Path("studies/quickstart.yaml")
NATIVE, IN_DOCKER = ("native", "native-twin"), ("docker-host", "docker-bridge")
"""The quickstart's deployments."""
ONLY_ROOT = "only root can create hosts on this machine"
NO_APT = "`apt-get` is not on PATH, and software comes from Debian's packages"
NO_DOCKER = f"`dockerd` is not on PATH, and Debian's is not available: {NO_APT}"
PUT_DOCKER = "put dockerd, containerd, runc and iptables on PATH"
DEBIAN = ("apt-get", "dockerd")
"""Without them nothing can be had of Debian's packages, and no Docker is there."""


def missing(shown: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Each reason why the quickstart cannot run, with the command that is to help."""
    assert shown.returncode == ExitCode.UNAVAILABLE, shown.stderr
    assert "dunnage: the quickstart cannot run here, but it can run with fakes" in shown.stderr
    return dict(re.findall(r"^missing: (.+); to get it: (.+)$", shown.stderr, re.MULTILINE))


def document(shown: subprocess.CompletedProcess[str], code: ExitCode) -> dict[str, Any]:
    """The answer as a program reads it."""
    assert shown.returncode == code, shown.stderr
    answer: dict[str, Any] = json.loads(shown.stdout)
    return answer


def unmet(shown: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Each capability that `doctor` found to be missing, with the reason."""
    found = document(shown, ExitCode.UNAVAILABLE)["capabilities"]
    assert found["engine"]["met"]
    return {name: each["reason"] for name, each in found.items() if not each["met"]}


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with all that this machine has, but no `sudo`."""
    return programs(tmp_path_factory.mktemp("ordinary") / "bin", without={"sudo"})


@pytest.fixture
def without_debian(tmp_path: Path) -> dict[str, str]:
    """A PATH without `apt-get` and `dockerd`, and an empty cache."""
    path = programs(tmp_path / "bin", without=DEBIAN)
    return {"PATH": path, "DUNNAGE_CACHE": str(tmp_path / "cache")}


@pytest.mark.parametrize(("sudo", "way"), [(False, "su -"), (True, "sudo -s")])
def test_without_root_it_is_said_how_to_become_root_and_nothing_else(
    sudo: bool, way: str, tmp_path: Path
) -> None:
    path = programs(tmp_path / "bin", without={"sudo"})
    if sudo:
        (tmp_path / "bin" / "sudo").symlink_to("/bin/false")  # it is there; nobody calls it
    assert missing(typed_by_nobody(path, "quickstart")) == {ONLY_ROOT: way}


def test_without_root_the_command_that_is_named_instead_gives_an_answer(ordinary: str) -> None:
    refused = typed_by_nobody(ordinary, "quickstart", "--format", "json")
    hint = document(refused, ExitCode.UNAVAILABLE)["error"]["hint"]
    assert hint.startswith("dunnage ")
    shown = typed_by_nobody(ordinary, *shlex.split(hint)[1:], "--format", "json")
    answer = document(shown, ExitCode.OK)
    assert answer["result"].startswith("results/fake/")
    assert answer["page"]


def test_without_root_a_study_is_planned_and_not_run(ordinary: str) -> None:
    study = NOBODYS_CHECKOUT / QUICKSTART
    planned = document(typed_by_nobody(ordinary, "plan", study, "--format", "json"), ExitCode.OK)
    assert planned["missing"] == dict.fromkeys((*NATIVE, *IN_DOCKER), ONLY_ROOT)
    refused = typed_by_nobody(ordinary, "run", study, "--format", "json")
    error = document(refused, ExitCode.UNAVAILABLE)["error"]
    assert error["what"].endswith(f": {ONLY_ROOT}")
    assert error["hint"] == "su -"
    assert "result: " not in refused.stderr


@pytest.mark.parametrize("words", ["lab up", "lab status", "clean"])
def test_what_only_root_can_do_is_refused_to_others(words: str, ordinary: str) -> None:
    refused = typed_by_nobody(ordinary, *words.split())
    assert refused.returncode == ExitCode.UNAVAILABLE, refused.stderr
    assert re.search("^dunnage: .*only root can ", refused.stderr, re.MULTILINE)
    assert refused.stderr.endswith("  try: su -\n")


def test_without_root_the_doctor_tells_what_needs_none(ordinary: str) -> None:
    found = unmet(typed_by_nobody(ordinary, "doctor", "--format", "json"))
    names = ("namespaces", "cgroups", "vxlan", "ipvs", "ip-sets", "soft-interrupts")
    tried = dict.fromkeys(names, "only root can test this")
    assert {**found, **tried, "root": ONLY_ROOT} == found
    assert "docker" not in found
    assert "software" not in found


@pytest.mark.parametrize(
    ("program", "package"),
    [("ip", "iproute2"), ("nsenter", "util-linux"), ("unshare", "util-linux")],
)
def test_a_program_that_is_not_on_path_is_named_with_its_package(
    program: str, package: str, tmp_path: Path
) -> None:
    path = programs(tmp_path / "bin", without={program})
    shown = typed("quickstart", "--results", tmp_path / "results", PATH=path)
    assert missing(shown) == {f"`{program}` is not on PATH": f"apt-get install {package}"}
    assert not (tmp_path / "results").exists()


def test_without_docker_and_debians_packages_both_are_named(
    without_debian: dict[str, str], tmp_path: Path
) -> None:
    words = ("quickstart", "--results", tmp_path / "results")
    found = missing(typed(*words, within=WITHOUT_DOCKERD, **without_debian))
    assert set(found) == {NO_DOCKER, NO_APT}
    assert found[NO_DOCKER] == PUT_DOCKER


def test_only_what_needs_docker_is_missing_where_redis_was_made_before(
    without_debian: dict[str, str], tmp_path: Path
) -> None:
    cache_of_redis(Path(without_debian["DUNNAGE_CACHE"]))

    def shown(*words: object) -> subprocess.CompletedProcess[str]:
        return typed(*words, within=WITHOUT_DOCKERD, **without_debian)

    results = ("--results", tmp_path / "results")
    assert missing(shown("quickstart", *results)) == {NO_DOCKER: PUT_DOCKER}
    study = CHECKOUT / QUICKSTART
    planned = document(shown("plan", study, "--format", "json"), ExitCode.OK)
    assert planned["missing"] == dict.fromkeys(IN_DOCKER, NO_DOCKER)
    refused = document(shown("run", study, *results, "--format", "json"), ExitCode.UNAVAILABLE)[
        "error"
    ]
    assert refused["what"] == f"cannot run here: `docker-host`, `docker-bridge`: {NO_DOCKER}"
    assert refused["hint"] == PUT_DOCKER
    assert not (tmp_path / "results").exists()


def test_docker_that_is_installed_needs_neither_packages_nor_the_cache(
    without_debian: dict[str, str], tmp_path: Path
) -> None:
    installed = installed_docker(tmp_path / "layer")
    without_debian["PATH"] += f":{tmp_path}/layer/bin"  # the links are of what was there before
    found = unmet(typed("doctor", "--format", "json", within=installed, **without_debian))
    assert found["software"] == NO_APT
    assert "docker" not in found
    assert "floating" not in found  # which is tried by the iptables that is there


@pytest.mark.parametrize(
    ("privilege", "words"),
    [
        ("net_admin", "RTNETLINK answers: Operation not permitted"),
        ("sys_admin", "unshare: unshare failed: Operation not permitted"),
    ],
)
def test_root_that_lacks_a_capability_is_told_what_the_kernel_says(
    privilege: str, words: str, tmp_path: Path
) -> None:
    lacking = ("setpriv", f"--bounding-set=-{privilege}", f"--inh-caps=-{privilege}")
    shown = typed("quickstart", "--results", tmp_path / "results", within=lacking)
    ((reason, hint),) = missing(shown).items()
    assert reason == f"namespaces, bridges or veth pairs cannot be created here: {words}"
    assert hint.startswith("capsh --print")
    assert not (tmp_path / "results").exists()


def test_root_that_may_not_charge_soft_interrupts_is_told_so_and_needs_it_for_nothing_else() -> (
    None
):
    lost = "-sys_admin,-bpf,-perfmon"
    # Namespaces cannot be made either: who may make them may do all that others need rights for.
    lacking = ("setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}")
    found = unmet(typed("doctor", "--format", "json", within=lacking))
    assert found["soft-interrupts"] == "the process lacks CAP_BPF and CAP_PERFMON"
    assert "engine" not in found


def test_control_groups_that_are_read_only_are_told_and_the_command_that_is_named_helps(
    tmp_path: Path,
) -> None:
    words = ("quickstart", "--results", tmp_path / "results")
    ((reason, hint),) = missing(typed(*words, within=READ_ONLY_GROUPS)).items()
    assert reason.startswith("control groups cannot be created: [Errno 30] Read-only file system: ")
    mended = (*READ_ONLY_GROUPS, "sh", "-c", f'{hint} && exec "$0" "$@"')
    healthy = document(typed("doctor", "--format", "json", within=mended), ExitCode.OK)
    assert healthy["capabilities"]["cgroups"]["met"]
    assert not (tmp_path / "results").exists()
