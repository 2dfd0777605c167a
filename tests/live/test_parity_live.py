"""Parity on real processes: whatever makes two sides unequal is provoked, and must be caught."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from living import deployed
from parity_lab import (
    JAVA,
    MEBIBYTE,
    TREES,
    WITHOUT_HUGE_PAGES,
    Changed,
    Lab,
    caught,
    java,
    living,
    replaced,
    rewritten,
    undeclared,
)

from dunnage.contracts.platform import Seen
from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import factors, keys
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import Storage
from dunnage.model.deployment import QUOTA_PERIOD
from dunnage.model.layout import Service, Software
from dunnage.model.parity import Cause
from dunnage.model.record import StayRecord
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.substrates.daemons import open_daemons
from dunnage.wording.parity import sentence

pytestmark = pytest.mark.live

NATIVE = deployed(
    "native",
    "host",
    "host-port",
    name="native",
    database=DatabaseSpec(kind="redis", version="7.0", topology="single", members=1),
)

DOCKER = NATIVE.model_copy(update={"name": "docker", "platform": "docker"})


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    with (
        open_namespace(spec, name="parity", engine=engine_path(), keep=False) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate,
    ):
        yield Lab(testbed, substrate)


@pytest.fixture(scope="module")
def native(lab: Lab) -> StayRecord:
    with living(lab, NATIVE) as (_, record):
        return record()


@pytest.fixture(scope="module")
def docker(lab: Lab) -> StayRecord:
    with living(lab, DOCKER) as (_, record):
        return record()


def test_twins_and_a_container_differ_in_nothing_that_could_be_avoided(
    lab: Lab, native: StayRecord, docker: StayRecord
) -> None:
    twin = NATIVE.model_copy(update={"name": "twin", "twin_of": "native"})
    with living(lab, twin) as (_, record):
        assert compare(native, record(), ()) == ()
    found = compare(native, docker, keys(factors(NATIVE, DOCKER)))
    assert found and {each.cause for each in found} == {Cause.INHERENT}
    assert [dict(stay.processes[0].absent) for stay in (native, docker)] == [{}, {}]
    filters = [stay.processes[0].limits["seccomp"] for stay in (native, docker)]
    assert filters[0] == "0"
    assert re.fullmatch("2:[0-9a-f]{64}", filters[1])


VARIANTS = [
    pytest.param(
        {"storage": Storage.TMPFS}, ("data directory, file_system:", "tmpfs"), id="file system"
    ),
    pytest.param(
        {"limits": Limits(memory=64 * MEBIBYTE)}, ("limit memory_limit:", "67108864"), id="memory"
    ),
    pytest.param({"limits": Limits(cpus=0.5)}, ("limit cpu_quota:", "0.5"), id="quota"),
    pytest.param({"limits": Limits(pids=50)}, ("limit pids_limit:", "50"), id="processes"),
    pytest.param(
        {"database": NATIVE.database.model_copy(update={"settings": {"hz": 50}})},
        ("configuration redis.conf:", "hz 50"),
        id="configuration",
    ),
]


@pytest.mark.parametrize(("changed", "words"), VARIANTS)
def test_what_a_study_varies_is_its_factor_and_else_undeclared(
    lab: Lab, native: StayRecord, changed: dict[str, object], words: tuple[str, ...]
) -> None:
    variant = NATIVE.model_copy(update={"name": "variant", **changed})
    with living(lab, variant) as (_, record):
        seen = record()
    assert caught(undeclared(native, seen), *words)
    explained = compare(native, seen, keys(factors(NATIVE, variant)))
    assert {found.cause for found in explained} == {Cause.FACTOR}, explained


def test_data_on_the_containers_own_layers_is_caught(lab: Lab, docker: StayRecord) -> None:
    inside = DOCKER.model_copy(update={"name": "inside", "storage": Storage.CONTAINER})
    with living(lab, inside) as (_, record):
        seen = record()
    assert caught(undeclared(docker, seen), "data directory, file_system:", "overlay")
    explained = compare(docker, seen, keys(factors(DOCKER, inside)))
    assert {found.cause for found in explained} == {Cause.FACTOR}, explained


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param(
            ("prlimit", "--nofile=512:512", "--pid"),
            ("limit max_open_files:", "512:512"),
            id="files",
        ),
        pytest.param(
            ("prlimit", "--memlock=65536:65536", "--pid"),
            ("limit max_locked_memory:",),
            id="locked",
        ),
        pytest.param(
            ("taskset", "--cpu-list", "--pid", "0"), ("limit cpus_allowed:",), id="processors"
        ),
        pytest.param(("renice", "--priority", "5", "--pid"), ("limit nice:", "5"), id="niceness"),
        pytest.param(("chrt", "--batch", "--pid", "0"), ("limit scheduler:",), id="scheduler"),
    ],
)
def test_what_was_changed_behind_our_back_is_caught(
    lab: Lab, native: StayRecord, command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    with living(lab, NATIVE) as (platform, record):
        (member,) = platform.running()
        assert undeclared(native, record()) == []
        assert isinstance(member.process, Seen)
        done = lab.host.run([*command, str(member.process.pid)])
        assert done.code == 0, done.stderr
        assert caught(undeclared(native, record()), *words)


SOFT = str(128 * MEBIBYTE)

CONTROL_GROUPS = [
    pytest.param(
        "cpu",
        {"cpu.shares": "512"},
        {"cpu.weight": "512"},
        ("limit cpu_weight:", "512"),
        id="weight",
    ),
    pytest.param(
        "memory",
        {"memory.soft_limit_in_bytes": SOFT},
        {"memory.high": SOFT},
        (f"limit memory_soft_limit: unlimited → {SOFT}",),
        id="soft limit",
    ),
    pytest.param(
        "cpuset",
        {"cpuset.cpus": "0"},
        {"cpuset.cpus": "0"},
        ("limit cpuset_cpus:",),
        id="processors",
    ),
]


@pytest.mark.parametrize(("controller", "one", "two", "words"), CONTROL_GROUPS)
def test_what_its_control_group_was_given_behind_our_back_is_caught(
    lab: Lab,
    native: StayRecord,
    controller: str,
    one: Mapping[str, str],
    two: Mapping[str, str],
    words: tuple[str, ...],
) -> None:
    with living(lab, NATIVE) as (platform, record):
        (member,) = platform.running()
        assert undeclared(native, record()) == []
        with rewritten(member, controller, one, two):
            seen = record()
    assert caught(undeclared(native, seen), *words)


def test_the_same_quota_dealt_out_in_another_period_is_caught(lab: Lab) -> None:
    quota, period = str(QUOTA_PERIOD), str(2 * QUOTA_PERIOD)
    one = {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota}
    limited = NATIVE.model_copy(update={"limits": Limits(cpus=0.5)})
    with living(lab, limited) as (platform, record):
        known = record()
        (member,) = platform.running()
        with rewritten(member, "cpu", one, {"cpu.max": f"{quota} {period}"}):
            (found,) = undeclared(known, record())
    assert "limit cpu_period: 0.01 → 0.02" in found


def test_another_environment_is_caught(lab: Lab, native: StayRecord) -> None:
    def given(service: Service) -> Service:
        return replace(service, env={**service.env, "MALLOC_ARENA_MAX": "1"})

    with living(lab, NATIVE, change=given) as (_, record):
        seen = record()
    (found,) = undeclared(native, seen)
    assert "environment variable MALLOC_ARENA_MAX: nothing → `1`" in found


def test_an_environment_that_a_server_has_written_over_is_unknown(lab: Lab) -> None:
    def titled(service: Service) -> Service:
        ours, other = "set-proc-title no", "set-proc-title yes"
        files = {path: text.replace(ours, other) for path, text in service.files.items()}
        return replace(service, files=files)

    with living(lab, NATIVE, change=titled) as (_, record):
        seen = record()
    (found,) = compare(seen, seen, ())
    assert found.cause is Cause.UNKNOWN
    assert "environment: the process has overwritten them" in sentence(found)


def test_configuration_that_was_changed_after_it_was_put_there_is_caught(
    lab: Lab, native: StayRecord
) -> None:
    with living(lab, NATIVE) as (_, record):
        (path,) = record().processes[0].files
        lab.host.put(path, lab.host.get(path) + b"hz 50\n")
        assert caught(undeclared(native, record()), "configuration redis.conf:", "hz 50")
        lab.host.remove(path)
        (found,) = compare(native, record(), ())
    assert found.cause is Cause.UNKNOWN
    assert "configuration redis.conf" in sentence(found)


def test_other_huge_pages_are_caught(lab: Lab, native: StayRecord) -> None:
    def without(service: Service) -> Service:
        # A host has a /tmp of its own, where a virtual environment below ours would be missing.
        python = str(Path(sys.executable).resolve())
        return replace(service, argv=(python, "-c", WITHOUT_HUGE_PAGES, *service.argv))

    with living(lab, NATIVE, change=without) as (_, record):
        seen = record()
    (found,) = undeclared(native, seen)
    assert "limit transparent_hugepages:" in found
    assert "switched off by the process" in found


def test_other_arguments_are_caught(lab: Lab, native: StayRecord) -> None:
    def told(service: Service) -> Service:
        return replace(service, argv=(*service.argv, "--maxmemory", "100mb"))

    with living(lab, NATIVE, change=told) as (_, record):
        seen = record()
    # Redis rewrites the line that the kernel shows, so it is what the server says that tells.
    assert caught(undeclared(native, seen), "server:", "maxmemory", "104857600")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("bin/redis-server", ("another executable:",)),
        ("lib/libc.so.6", ("another build of", "libc.so.6")),
    ],
)
def test_another_binary_at_the_same_path_is_caught(
    lab: Lab, native: StayRecord, tmp_path: Path, file: str, words: tuple[str, ...]
) -> None:
    known = TREES.tree(Software("redis", "7.0"))
    shutil.copytree(known.source, tmp_path / "tree")
    with (tmp_path / "tree" / file).open("ab") as binary:
        binary.write(b"\0")
    try:
        with living(lab, NATIVE, Changed(tmp_path / "tree")) as (_, record):
            seen = record()
    finally:
        lab.host.run(["umount", known.prefix])
    assert caught(undeclared(native, seen), *words)


def test_another_heap_collector_or_machine_is_caught_by_asking_java_itself(lab: Lab) -> None:
    heap, g1 = "-Xmx64m", "-XX:+UseG1GC"
    with java(lab, "known", heap, g1) as known:
        process = known.processes[0]
        assert "cpus" in process.runtime, process.absent
        assert process.runtime["flag.MaxHeapSize"] == str(64 * MEBIBYTE)
        assert {Path(path).parts[1:4] for path in process.mapped} == {
            ("run", "dunnage", "software")
        }
    with java(lab, "same", heap, g1) as seen:
        assert undeclared(known, seen) == []
    with java(lab, "smaller", "-Xmx32m", g1) as seen:
        assert caught(undeclared(known, seen), "argument 1:", "-Xmx32m")
        assert caught(undeclared(known, seen), "virtual machine, flag.MaxHeapSize:", "33554432")
    # Not in any argument.
    with java(lab, "hidden", heap, g1, tools="-XX:MaxHeapFreeRatio=60") as seen:
        found = undeclared(known, seen)
        assert caught(found, "environment variable JAVA_TOOL_OPTIONS:")
        assert caught(found, "virtual machine, flag.MaxHeapFreeRatio:", "60")
        assert not caught(found, "argument")
    with java(lab, "collector", heap, "-XX:+UseSerialGC") as seen:
        assert caught(undeclared(known, seen), "virtual machine, flag.UseSerialGC:", "true")
    with java(lab, "machine", heap, g1, limits=Limits(cpus=0.5, memory=2**28)) as seen:
        assert caught(undeclared(known, seen), "virtual machine, memory:", "256M")


def test_a_java_that_cannot_be_asked_is_unknown_and_never_equal(lab: Lab) -> None:
    # It neither listens nor handles the signal that would make it listen.
    with java(lab, "silent", "-Xrs", "-XX:+DisableAttachMechanism") as silent:
        (found,) = compare(silent, silent, ())
    assert found.cause is Cause.UNKNOWN
    assert (
        "virtual machine: it was started with an option that lets nothing attach to it"
        in sentence(found)
    )
    with java(lab, "asked") as asked:
        one_sided = compare(asked, silent, ())
    assert {each.cause for each in one_sided} == {Cause.UNKNOWN, Cause.UNDECLARED}
    assert not caught([sentence(each) for each in one_sided], "flag.")


def test_another_class_data_archive_or_none_is_caught(lab: Lab) -> None:
    tree = TREES.tree(JAVA)
    archive = f"{tree.prefix}/lib/cassandra.jsa"
    options = (f"@{tree.prefix}/lib/jvm.args", "-Xmx64m")
    with java(lab, "archive", *options) as known:
        mapped = known.processes[0].mapped
    assert mapped[archive] == tree.facts["archive.cassandra.jsa"]
    assert f"{tree.prefix}/lib/modules" in mapped
    with java(lab, "same-archive", *options) as seen:
        assert undeclared(known, seen) == []
    with replaced(lab, archive), java(lab, "another-archive", *options) as seen:
        assert caught(undeclared(known, seen), f"another build of {archive}", mapped[archive][:12])
    with java(lab, "no-archive", *options, "-Xshare:off") as seen:
        assert caught(undeclared(known, seen), f"mapped file {archive}:", "→ -")
