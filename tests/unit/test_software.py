"""Software: what is said when it is not available, and images that are the same bytes each time."""

from __future__ import annotations

import platform
import tarfile
from pathlib import Path

import pytest

from dunnage.contracts.docker import DockerBinaries
from dunnage.errors import UnavailableError
from dunnage.kernel_modules import how_to_load
from dunnage.model.layout import Software
from dunnage.model.offer import Support
from dunnage.software import apparmor, docker, engine, iptables
from dunnage.software.cache import Cache
from dunnage.software.cassandra import CASSANDRA_4_1, CASSANDRA_5_0
from dunnage.software.debian import Package
from dunnage.software.image import write_image
from dunnage.software.maven import fetch
from dunnage.software.recipe import JavaRecipe
from dunnage.software.trees import DebianSoftware


def program(directory: Path, name: str, script: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)


def test_unknown_software_is_refused_with_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(
        UnavailableError, match=r"no recipe for redis 6\.2; known are .*`redis 7\.0`"
    ):
        DebianSoftware(Cache(tmp_path)).tree(Software("redis", "6.2"))


def test_without_apt_get_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    store = DebianSoftware(Cache(tmp_path / "cache"))
    support = store.software_support("redis")
    assert not support.met
    assert "`apt-get` is not on PATH" in support.reason
    with pytest.raises(UnavailableError, match="`apt-get` is not on PATH") as caught:
        store.tree(Software("redis", "7.0"))
    assert caught.value.hint


def test_offline_it_repeats_what_apt_get_said_after_one_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, calls = tmp_path / "tools", tmp_path / "calls"
    say = f"echo \"$*\" >> {calls}; echo 'E: Unable to fetch some archives' >&2; exit 100"
    program(tools, "apt-get", say)
    program(tools, "dpkg-deb", "exit 0")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(UnavailableError, match="Unable to fetch some archives") as caught:
        DebianSoftware(Cache(tmp_path / "cache")).tree(Software("redis", "7.0"))
    assert caught.value.hint.startswith("apt-get update && apt-get download")
    verbs = [line.split()[5] for line in calls.read_text().splitlines()]
    assert verbs == ["download", "update", "download"]


def test_what_keeps_floating_addresses_from_being_translated_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    for name in ("dockerd", "containerd", "runc", "iptables"):
        program(tools, name, "exit 0")
    program(tools, "unshare", 'case "$*" in *DNAT*SNAT*) exit 0 ;; esac; exit 1')
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    store = DebianSoftware(Cache(tmp_path / "cache"))
    assert store.translation_support().met
    program(tools, "unshare", "echo 'iptables: No chain/target/match by that name.' >&2; exit 1")
    support = store.translation_support()
    assert not support.met
    assert support.reason == (
        "floating addresses cannot be translated here: "
        "iptables: No chain/target/match by that name."
    )
    assert support.hint == how_to_load("nf_nat", "nf_conntrack", "xt_conntrack")


def test_translation_is_tried_under_a_lock_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual lock is a file of the machine, which a busy Docker holds."""
    tools, told = tmp_path / "tools", tmp_path / "told"
    program(tools, "unshare", f'echo "$XTABLES_LOCKFILE $*" > {told}')
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    assert iptables.refuses_floating({}) is None
    lock, rules = told.read_text().split(maxsplit=1)
    assert not lock.startswith("/run/")
    assert not Path(lock).parent.exists()
    assert rules.count("iptables ") == rules.count("iptables -w 5 ") == 2


def test_docker_is_downloaded_before_translation_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    program(tools, "apt-get", "echo 'E: Unable to fetch some archives' >&2; exit 100")
    program(tools, "dpkg-deb", "exit 0")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    store = DebianSoftware(Cache(tmp_path / "cache"))
    assert store.translation_support().met
    tried = store.translation_tried()
    assert not tried.met
    assert "Unable to fetch some archives" in tried.reason
    assert tried.hint


def test_without_docker_it_is_not_known_whether_floating_addresses_can_be_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    support = DebianSoftware(Cache(tmp_path / "cache")).translation_support()
    assert not support.met
    assert "`dockerd` is not on PATH" in support.reason


def test_a_daemon_on_path_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    for name in ("dockerd", "containerd", "runc", "iptables"):
        program(tools, name, "exit 0")
    monkeypatch.setenv("PATH", str(tools))
    store = DebianSoftware(Cache(tmp_path / "cache"))
    assert store.docker_support().met
    found = store.dockerd()
    assert found.dockerd == tools / "dockerd"
    assert found.environment["PATH"].startswith(str(tools))
    assert found.origin == f"on PATH: {tools / 'dockerd'}"


@pytest.mark.parametrize(
    ("enabled", "parser", "version", "met"),
    [
        (None, False, "20.10.24", True),
        ("N", False, "20.10.24", True),
        ("Y", True, "20.10.24", True),
        ("Y", False, "Docker version 20.10.24+dfsg1, build 297e128\n", False),
        ("Y", False, "docker.io 5:23.0.0-1~debian.12", False),
        ("Y", False, "Docker version 23.0.1, build bc3805a", True),
        ("Y", False, "Docker version 29.1.0, build 1", True),
        ("Y", False, "", True),
    ],
    ids=["no such thing", "off", "on with its parser", "old", "23.0.0", "23.0.1", "new", "untold"],
)
def test_a_kernel_with_apparmor_needs_its_parser_before_an_old_docker_starts_containers(
    tmp_path: Path, enabled: str | None, parser: bool, version: str, met: bool
) -> None:
    tools, sys = tmp_path / "tools", tmp_path / "sys"
    tools.mkdir()
    if enabled is not None:
        (sys / "kernel/security/apparmor").mkdir(parents=True)
        (sys / "module/apparmor/parameters").mkdir(parents=True)
        (sys / "module/apparmor/parameters/enabled").write_text(f"{enabled}\n")
    if parser:
        program(tools, "apparmor_parser", "exit 0")
    found = apparmor.support(str(tools), lambda: version, sys)
    assert found.met is met
    if not met:
        assert found.hint == "apt-get install apparmor"
        assert f"Docker {'20.10.24' if '20.10' in version else '23.0.0'} starts no" in found.reason


def test_the_version_of_a_daemon_is_told_by_itself_its_package_or_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, cache = tmp_path / "tools", Cache(tmp_path / "cache")
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setattr(docker, "on_path", lambda: None)
    program(tools, "apt-cache", "exit 100")
    assert docker.version(cache) == ""
    program(tools, "apt-cache", "printf 'Package: docker.io\\nVersion: 26.1.5+dfsg1-9\\n'")
    assert docker.version(cache) == "26.1.5+dfsg1-9"

    def packed(entry: Path) -> str:
        lines = ("docker.io 20.10.24+dfsg1-1 sha256:1", "containerd 1.6.20 sha256:2")
        (entry / "packages.txt").write_text("\n".join(lines) + "\n")
        return "docker-1"

    cache.obtain(f"docker-debian-recipe1-{platform.machine()}", packed)
    assert docker.version(cache) == "docker.io 20.10.24+dfsg1-1"
    program(tools, "dockerd", "echo 'Docker version 28.0.1, build 1'")
    found = DockerBinaries(tools / "dockerd", {}, "on PATH")
    monkeypatch.setattr(docker, "on_path", lambda: found)
    assert docker.version(cache) == "Docker version 28.0.1, build 1\n"


def test_the_authors_version_stands_without_epoch_and_revision() -> None:
    def upstream(version: str) -> str:
        return Package("p", version, "", Path("p.deb")).upstream

    assert upstream("5:7.0.15-1~deb12u10") == "7.0.15"
    assert upstream("0.14.3-1+b1") == "0.14.3"
    assert upstream("20.10.24+dfsg1-1+deb12u1") == "20.10.24+dfsg1"


def test_the_same_tree_gives_the_same_image(tmp_path: Path) -> None:
    archives = []
    for name, order in (("first", ("a", "b")), ("second", ("b", "a"))):
        tree = tmp_path / name / "tree"
        (tree / "bin").mkdir(parents=True)
        for each in order:
            (tree / "bin" / each).write_text(each)
            (tree / "bin" / each).chmod(0o755)
        archives.append(tmp_path / name / "image.tar")
        write_image(tree, "/run/dunnage/software/thing-1", archives[-1])
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_an_image_holds_the_tree_at_its_prefix_and_little_else(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "bin" / "server").write_text("program")
    (tree / "bin" / "server").chmod(0o755)
    write_image(tree, "/run/dunnage/software/thing-1", tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as tar:
        members = {entry.name: entry for entry in tar.getmembers()}
        server = members["run/dunnage/software/thing-1/bin/server"]
        content = tar.extractfile(server)
        assert content is not None
        assert content.read() == b"program"
    assert server.mode == 0o755
    assert members["tmp"].mode == 0o1777
    assert {name for name, entry in members.items() if entry.isfile()} == {
        "etc/group",
        "etc/nsswitch.conf",
        "etc/passwd",
        "run/dunnage/software/thing-1/bin/server",
    }
    assert {(entry.uid, entry.gid, entry.mtime) for entry in members.values()} == {(0, 0, 0)}


def test_a_tree_in_java_wants_maven_and_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    for name in ("apt-get", "dpkg-deb"):
        program(tools, name, "exit 0")
    monkeypatch.setenv("PATH", str(tools))
    store = DebianSoftware(Cache(tmp_path / "cache"))
    assert store.software_support("redis").met
    there = store.software_support("cassandra")
    assert not there.met
    assert "`mvn` is not on PATH" in there.reason
    assert there.hint == "apt-get install --no-install-recommends maven"
    program(tools, "mvn", "exit 0")
    assert store.software_support("cassandra").met


def test_a_jar_that_is_another_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    program(tools, "mvn", "echo other > known-1.jar; echo new > unknown-2.jar")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    known = {"known-1.jar": "0" * 64, "missing-3.jar": "1" * 64}
    with pytest.raises(UnavailableError, match=r"known-1\.jar, missing-3\.jar, unknown-2\.jar"):
        fetch("group:name:1", known, tmp_path / "jars")


def test_what_maven_says_is_repeated_without_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    program(tools, "mvn", "echo '[ERROR] Cannot resolve (https://mirror.example/a b)'; exit 1")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(UnavailableError, match=r"Cannot resolve \(… b\)$") as caught:
        fetch("group:name:1", {}, tmp_path / "jars")
    assert caught.value.hint == "mvn dependency:get -Dartifact=group:name:1"


def test_a_file_that_is_no_jar_is_fetched_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    asked = tmp_path / "asked"
    program(tools, "mvn", f'echo "$@" > {asked}; cat ../jars.xml >> {asked}')
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    fetch("group:name:1:tar.gz:bin", {}, tmp_path / "jars")
    said = asked.read_text()
    assert "-DexcludeTransitive=true" in said
    assert "<version>1</version><type>tar.gz</type><classifier>bin</classifier>" in said
    fetch("group:name:1", {}, tmp_path / "one" / "jars")
    said = asked.read_text()
    assert "-DexcludeTransitive" not in said
    assert "<type>" not in said


@pytest.mark.parametrize("recipe", [CASSANDRA_5_0, CASSANDRA_4_1], ids=lambda each: each.version)
def test_every_jar_that_a_recipe_names_is_one_that_it_knows(recipe: JavaRecipe) -> None:
    assert all(len(digest) == 64 for digest in recipe.jars.values())
    named = {jar for each in recipe.programs for jar in each.agents}
    assert named and named <= set(recipe.jars)
    assert f"cassandra-all-{recipe.artefact.rpartition(':')[2]}.jar" in recipe.jars


def test_an_engine_that_is_missing_is_made_by_the_verb_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    monkeypatch.setattr(engine, "_HERE", checkout)
    monkeypatch.delenv(engine.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert engine.engine_support().hint.startswith("export DUNNAGE_ENGINE=")
    (checkout / "Makefile").touch()
    assert engine.engine_support().hint == f"make -C '{checkout}' engine"
    monkeypatch.chdir(checkout)
    assert engine.engine_support() == Support(False, "`dunnage-engine` is not built", "make engine")
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    assert engine.engine_support().hint == f"make -C '{checkout}' engine"
    monkeypatch.setenv(engine.VARIABLE, "/nowhere")
    assert engine.engine_support().hint == "unset DUNNAGE_ENGINE"


def test_an_engine_that_cannot_be_executed_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tmp_path / "target" / "here" / "release" / "dunnage-engine"
    built.parent.mkdir(parents=True)
    built.touch(0o755)  # as a full disk leaves it
    (tmp_path / "Makefile").touch()
    monkeypatch.setattr(engine, "_HERE", tmp_path)
    monkeypatch.delenv(engine.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert engine.engine_support() == Support(
        False, f"{built}: it cannot be executed: Exec format error", "make engine"
    )
    monkeypatch.setenv(engine.VARIABLE, str(built))
    with pytest.raises(UnavailableError, match="cannot be executed") as caught:
        engine.engine_path()
    assert caught.value.hint == "unset DUNNAGE_ENGINE"


def test_whether_soft_interrupts_can_be_charged_is_what_the_engine_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engine.VARIABLE, str(tmp_path / "engine"))
    unknown = engine.soft_interrupts_support()
    assert (unknown.met, unknown.follows) == (False, engine.ENGINE)
    program(tmp_path, "engine", 'test "$1" = --version || test "$1" = soft-interrupts')
    assert engine.soft_interrupts_support() == Support(met=True)


@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("the process lacks CAP_BPF", "grep CapEff /proc/self/status"),
        ("the kernel does not tell its types: no such file", "ls /sys/kernel/btf/vmlinux"),
        ("the kernel takes no programs: Operation not permitted", "uname -r"),
    ],
)
def test_each_reason_why_soft_interrupts_cannot_be_charged_has_a_command_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, hint: str
) -> None:
    monkeypatch.setenv(engine.VARIABLE, str(tmp_path / "engine"))
    says = f"echo 'dunnage-engine: {reason}' >&2; exit 1"
    program(tmp_path, "engine", f'test "$1" = --version && exit 0; {says}')
    refused = engine.soft_interrupts_support()
    assert (refused.met, refused.reason) == (False, reason)
    assert refused.hint.startswith(hint)
