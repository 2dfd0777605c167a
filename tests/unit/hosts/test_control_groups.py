"""Control groups of both versions, on directories that look like the kernel's."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from dunnage.errors import RunError, UnavailableError
from dunnage.hosts.control_groups import version_1
from dunnage.hosts.control_groups.groups import Shape
from dunnage.hosts.control_groups.here import control_groups, mounted
from dunnage.hosts.control_groups.version_1 import VersionOne
from dunnage.hosts.control_groups.version_2 import VersionTwo

V1_FILES = {
    "cpu": ("cpu.shares", "cpu.cfs_period_us", "cpu.cfs_quota_us"),
    "cpuset": ("cpuset.cpus", "cpuset.mems", "cgroup.clone_children"),
    "memory": ("memory.limit_in_bytes",),
    "pids": ("pids.max",),
    "freezer": ("freezer.state",),
}
V2_FILES = (
    "cgroup.freeze",
    "cgroup.events",
    "cpu.weight",
    "cpu.max",
    "cpuset.cpus",
    "memory.max",
    "memory.swap.max",
    "pids.max",
)
HYBRID = """
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/devices cgroup rw,relatime,devices 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
""".strip()
UNIFIED = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0"


def fill(directory: Path, names: Sequence[str]) -> None:
    directory.mkdir(parents=True)
    for name in names:
        (directory / name).write_text("")


@pytest.fixture
def legacy(tmp_path: Path) -> VersionOne:
    for controller, files in V1_FILES.items():
        for group in ("lab", "lab/host"):
            fill(tmp_path / controller / group, files)
    for name in ("cpuset.cpus", "cpuset.mems"):
        (tmp_path / "cpuset" / name).write_text("0-3" if name.endswith("cpus") else "0")
    return VersionOne({controller: tmp_path / controller for controller in V1_FILES})


@pytest.fixture
def unified(tmp_path: Path) -> VersionTwo:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu memory pids hugetlb")
    (tmp_path / "cgroup.subtree_control").write_text("")
    fill(tmp_path / "lab", V2_FILES)
    return VersionTwo(tmp_path)


def test_version_one_is_used_where_its_controllers_are_mounted() -> None:
    assert control_groups(HYBRID).version == 1
    assert control_groups(UNIFIED).version == 2


def test_shared_hierarchies_and_those_of_others_are_told_apart() -> None:
    found = mounted(HYBRID)
    assert found.controllers["cpu"] == found.controllers["cpuacct"]
    assert {place.name for place in found.others} == {"unified", "systemd", "devices"}


def test_a_machine_without_control_groups_is_told_how_to_get_them() -> None:
    with pytest.raises(UnavailableError) as refused:
        control_groups("proc /proc proc rw 0 0")
    assert refused.value.hint.startswith("mount ")


def test_version_one_writes_limits_quota_and_cores(legacy: VersionOne, tmp_path: Path) -> None:
    legacy.make("/lab", Shape())
    legacy.make("/lab/host", Shape(cores=(1, 3), memory=2**20, cpus=0.5, pids=9, weight=0.05))

    def said(controller: str, name: str) -> str:
        return (tmp_path / controller / "lab/host" / name).read_text()

    assert said("cpuset", "cpuset.cpus") == "1,3"
    assert said("cpuset", "cpuset.mems") == "0"
    assert said("memory", "memory.limit_in_bytes") == "1048576"
    assert said("cpu", "cpu.cfs_period_us") == "10000"
    assert said("cpu", "cpu.cfs_quota_us") == "5000"
    assert said("cpu", "cpu.shares") == "51"
    assert said("pids", "pids.max") == "9"


def test_version_one_inherits_cores_and_lifts_limits(legacy: VersionOne, tmp_path: Path) -> None:
    legacy.make("/lab", Shape(memory=5, pids=5))
    legacy.make("/lab", Shape())
    assert (tmp_path / "cpuset/lab/cpuset.cpus").read_text() == "0-3"
    assert (tmp_path / "memory/lab/memory.limit_in_bytes").read_text() == "-1"
    assert (tmp_path / "pids/lab/pids.max").read_text() == "max"
    assert (tmp_path / "cpu/lab/cpu.cfs_quota_us").read_text() == "-1"


def test_version_one_joins_every_hierarchy_by_thread(legacy: VersionOne, tmp_path: Path) -> None:
    assert set(legacy.join_files("/lab")) == {tmp_path / one / "lab/tasks" for one in V1_FILES}


def test_version_one_waits_until_all_is_frozen(legacy: VersionOne, tmp_path: Path) -> None:
    legacy.freeze("/lab")
    state = tmp_path / "freezer/lab/freezer.state"
    assert state.read_text() == "FROZEN"
    legacy.thaw("/lab")
    assert state.read_text() == "THAWED"


@dataclass
class Halfway:
    """The state of a group whose processes freeze only if all were let go so often."""

    thaws: int
    state: str = "THAWED"

    def write_text(self, text: str) -> None:
        self.thaws -= self.state != text == "THAWED"
        self.state = "FREEZING" if text == "FROZEN" and self.thaws > 0 else text

    def read_text(self) -> str:
        return f"{self.state}\n"


@pytest.mark.parametrize(("thaws", "state"), [(0, "FROZEN"), (2, "FROZEN"), (99, "THAWED")])
def test_version_one_lets_a_group_go_that_stays_halfway_and_tries_again(
    legacy: VersionOne, monkeypatch: pytest.MonkeyPatch, thaws: int, state: str
) -> None:
    halfway = Halfway(thaws)
    monkeypatch.setattr(version_1, "_TRY", 0.01)
    monkeypatch.setattr(legacy, "_file", lambda *_: halfway)
    if state == "FROZEN":
        legacy.freeze("/lab")
    else:
        with pytest.raises(RunError, match="/lab: its processes cannot be frozen"):
            legacy.freeze("/lab")
    assert halfway.state == state


def test_version_two_hands_controllers_down_and_writes_limits(
    unified: VersionTwo, tmp_path: Path
) -> None:
    unified.make("/lab", Shape(cores=(0, 2), memory=2**20, cpus=1.5, pids=7, weight=0.05))
    said = {name: (tmp_path / "lab" / name).read_text() for name in V2_FILES}
    assert said["cpuset.cpus"] == "0,2"
    assert said["memory.max"] == "1048576"
    assert said["memory.swap.max"] == "0"
    assert said["cpu.max"] == "15000 10000"
    assert said["cpu.weight"] == "5"
    assert said["pids.max"] == "7"
    # The file shows what was written last: each controller is handed down by a write of its own.
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+hugetlb"


def test_version_two_takes_processes_into_a_group_beside_those_of_container_runtimes(
    unified: VersionTwo, tmp_path: Path
) -> None:
    (tmp_path / "lab" / "container").mkdir()
    expected = (tmp_path / "lab" / "own" / "cgroup.procs",)
    assert unified.join_files("/lab") == expected
    assert expected[0].parent.is_dir()
    assert unified.join_files("/lab") == expected


def test_version_two_without_limits_says_so(unified: VersionTwo, tmp_path: Path) -> None:
    unified.make("/lab", Shape())
    assert (tmp_path / "lab/cpu.max").read_text() == "max 10000"
    assert (tmp_path / "lab/memory.max").read_text() == "max"


def test_version_two_returns_from_freezing_when_the_kernel_says_frozen(
    unified: VersionTwo, tmp_path: Path
) -> None:
    events = tmp_path / "lab/cgroup.events"
    events.write_text("populated 1\nfrozen 0\n")
    kernel = threading.Timer(0.05, events.write_text, ["populated 1\nfrozen 1\n"])
    kernel.start()
    unified.freeze("/lab")
    kernel.join()
    assert (tmp_path / "lab/cgroup.freeze").read_text() == "1"
    assert "frozen 1" in events.read_text()


def test_groups_are_removed_children_first_in_every_hierarchy(tmp_path: Path) -> None:
    others = tmp_path / "devices"
    for root in (tmp_path / "cpu", tmp_path / "memory", others):
        (root / "lab/host/unit").mkdir(parents=True)
    groups = VersionOne({"cpu": tmp_path / "cpu", "memory": tmp_path / "memory"}, [others])
    assert groups.children("/lab") == ("host",)
    assert groups.remove("/lab")
    assert groups.children("") == ()
    assert groups.remove("/lab")


def test_a_group_is_removed_as_empty_only_when_it_is(tmp_path: Path) -> None:
    (tmp_path / "lab/host").mkdir(parents=True)
    groups = VersionTwo(tmp_path)
    groups.remove_empty("/lab")
    assert groups.children("/lab") == ("host",)
    groups.remove_empty("/lab/host")
    groups.remove_empty("/lab")
    assert groups.children("") == ()
