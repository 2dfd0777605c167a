"""Real packages and jars: trees run from their prefix, nothing from outside; Docker's tools run."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile

import pytest

from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.layout import Software
from dunnage.model.study import TestbedSpec
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware

pytestmark = pytest.mark.live

# Runs in a mount namespace of its own: puts the tree at its prefix, starts the server there and
# prints the files that it maps.
IN_NAMESPACE = """
import pathlib, subprocess, sys
source, prefix = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
pathlib.Path(prefix).mkdir(parents=True)
subprocess.run(["mount", "--bind", source, prefix], check=True)
print(subprocess.run([prefix + "/bin/redis-server", "--version"], check=True,
                     capture_output=True, text=True).stdout.strip())
server = subprocess.Popen([prefix + "/bin/redis-server", "--port", "0", "--save", "",
                           "--unixsocket", "/run/redis.sock", "--dir", "/run"],
                          stdout=subprocess.PIPE, text=True)
try:
    for line in server.stdout:
        if "ready to accept" in line.lower():
            break
    answer = subprocess.run([prefix + "/bin/redis-cli", "-s", "/run/redis.sock", "ping"],
                            capture_output=True, text=True, timeout=10)
    print(answer.stdout.strip())
    maps = pathlib.Path(f"/proc/{server.pid}/maps").read_text().split("\\n")
    for path in sorted({line.split()[5] for line in maps if len(line.split()) == 6}):
        print(path)
finally:
    server.kill()
    server.wait()
"""


def test_redis_runs_from_its_prefix_and_maps_nothing_from_outside() -> None:
    tree = DebianSoftware().tree(Software("redis", "7.0"))
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", IN_NAMESPACE, str(tree.source), tree.prefix],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},  # another locale would map its own files
    )
    assert done.returncode == 0, done.stderr
    version, answer, *mapped = done.stdout.splitlines()
    assert f"v={tree.facts['version']}" in version
    assert answer == "PONG"
    files = [path for path in mapped if path.startswith("/")]
    assert f"{tree.prefix}/bin/redis-server" in files
    assert any("/ld-linux" in path for path in files)
    assert any(path.endswith("/libc.so.6") for path in files)
    assert [path for path in files if not path.startswith(tree.prefix + "/")] == []


def test_the_image_holds_the_very_files_of_the_tree() -> None:
    tree = DebianSoftware().tree(Software("redis", "7.0"))
    with tarfile.open(tree.archive) as tar:
        for path in sorted(tree.source.rglob("*")):
            if path.is_file():
                name = f"{tree.prefix}/{path.relative_to(tree.source)}".lstrip("/")
                content = tar.extractfile(name)
                assert content is not None
                assert content.read() == path.read_bytes()
    assert tree.tag == f"dunnage/redis:{tree.prefix.rpartition('redis-')[2]}"


def test_docker_and_what_it_calls_start_and_iptables_works_in_a_namespace() -> None:
    docker = DebianSoftware().dockerd()
    environment = {**os.environ, **docker.environment}
    for program in ("dockerd", "containerd", "runc", "docker-proxy", "docker-init"):
        done = subprocess.run(
            ["env", program, "--version"] if program != "docker-proxy" else ["which", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (program, done.stderr)
    for family in ("iptables", "ip6tables"):
        listed = subprocess.run(
            ["unshare", "--net", family, "-t", "nat", "-L", "-n"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert listed.returncode == 0, listed.stderr
        assert "POSTROUTING" in listed.stdout


@pytest.mark.parametrize("version", ["5.0", "4.1"])
def test_cassandras_tree_starts_java_and_nodetool_on_a_host_with_their_archives(
    version: str,
) -> None:
    tree = DebianSoftware().tree(Software("cassandra", version))
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    with open_namespace(spec, name="java", engine=engine_path(), keep=False) as testbed:
        (host,) = testbed.hosts
        host.put_tree(tree.source, tree.prefix)
        java = f"{tree.prefix}/bin/java"
        # With `-Xshare:on` Java ends when it cannot use the archive, instead of starting slowly.
        started = host.run([java, "-Xshare:on", f"@{tree.prefix}/lib/jvm.args", "-version"])
        assert started.code == 0, started.stderr
        assert 'openjdk version "17' in started.stderr
        assert ", sharing" in started.stderr
        told = host.run([java, "-Xshare:on", f"@{tree.prefix}/lib/nodetool.args", "help"])
        assert told.code == 0, told.stderr
        assert "usage: nodetool" in told.stdout
        assert told.stdout.startswith("usage: nodetool"), "nothing else is written there"
    assert tree.facts["version"] == {"5.0": "5.0.6", "4.1": "4.1.9"}[version]
    known = {path.name for path in (tree.source / "lib" / "cassandra").iterdir()}
    assert {f"jar.{name}" for name in known} <= tree.facts.keys()
