"""Kubernetes, built of its modules: every program is there and says its version."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.software import go, kubernetes
from dunnage.software.go import module_version
from dunnage.software.trees import DebianSoftware

Seen = TypeVar("Seen")

pytestmark = [pytest.mark.live, pytest.mark.build, pytest.mark.timeout(180, func_only=True)]
_SECONDS = 30.0


@pytest.fixture(scope="module")
def made() -> KubernetesBinaries:
    """From the cache; on a new machine this takes minutes, which no test's own time counts."""
    return DebianSoftware().kubernetes(print)


def said(made: KubernetesBinaries, *argv: str) -> str:
    """What a program says on both of its streams."""
    done = subprocess.run(
        ["env", *argv],
        env={**os.environ, **made.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, (argv, done.stdout)
    return done.stdout


@pytest.mark.parametrize(
    "name",
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"],
)
def test_each_server_says_the_version_of_kubernetes(name: str, made: KubernetesBinaries) -> None:
    assert said(made, name, "--version") == f"Kubernetes v{made.version}\n"


@pytest.mark.parametrize(
    ("argv", "module", "words"),
    [
        (("etcd", "--version"), "go.etcd.io/etcd/server/v3", "etcd Version: {}\n"),
        (("coredns", "-version"), "github.com/coredns/coredns", "CoreDNS-{}\n"),
        (("kubectl", "version", "--client"), "k8s.io/kubernetes", "Client Version: v{}\n"),
        (("flanneld", "--version"), "github.com/flannel-io/flannel", "v{}\n"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_what_is_built_beside_it_says_the_version_of_its_module(
    argv: tuple[str, ...], module: str, words: str, made: KubernetesBinaries
) -> None:
    version = module_version(kubernetes.SOURCE, module).removeprefix("v")
    assert words.format(version) in said(made, *argv)


@pytest.mark.parametrize(
    ("name", "program", "module"),
    [
        ("kubernetes", "cluster", "k8s.io/kubernetes"),
        ("etcd", "cluster", "go.etcd.io/etcd/server/v3"),
        ("coredns", "cluster", "github.com/coredns/coredns"),
        ("flannel", "flanneld", "github.com/flannel-io/flannel"),
    ],
)
def test_each_program_was_compiled_of_the_module_that_is_recorded(
    name: str, program: str, module: str, made: KubernetesBinaries
) -> None:
    told = go.find(kubernetes.SOURCE).program_facts(made.binaries / program)
    found = told.modules[module]
    facts = json.loads((made.binaries.parent / "facts.json").read_text())
    assert (f"v{facts[name]}", facts[f"{name}.sum"]) == (found.version, found.sum)
    assert found.sum == go.module_sum(kubernetes.SOURCE, module, found.version)
    assert facts["go"] == told.go
    assert facts[f"{program}.settings"].split() == [f"{k}={v}" for k, v in told.settings.items()]


def test_coredns_has_the_plugins_of_a_labs_corefile_and_asks_no_other_server(
    made: KubernetesBinaries,
) -> None:
    plugins = said(made, "coredns", "-plugins").split()
    assert {"bind", "cache", "errors", "kubernetes", "ready"} <= set(plugins)
    assert not {"forward", "health", "hosts", "log", "loop", "reload"} & set(plugins)


def test_the_binary_under_another_name_says_which_it_has(made: KubernetesBinaries) -> None:
    done = subprocess.run(
        [made.binaries / "cluster"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("cluster: there is no program `cluster`")
    assert ", ".join(kubernetes.NAMES) in done.stderr


@pytest.mark.parametrize("name", ["containerd", "containerd-shim-runc-v2", "ctr", "runc"])
def test_debians_containerd_and_what_it_calls_start(name: str, made: KubernetesBinaries) -> None:
    argument = "-v" if name == "containerd-shim-runc-v2" else "--version"
    package = "runc" if name == "runc" else "containerd"
    found = re.search(rf"\b{package} (\S+?)-", made.origin)
    assert found
    assert found[1] in said(made, name, argument)


@pytest.mark.parametrize(
    "command",
    [
        "nft add table ip thing && nft list tables",
        "iptables -t nat -S",
        "ip6tables -t nat -S",
        "iptables-save -V",
        "iptables-restore -V",
        "conntrack -V",
    ],
)
def test_what_kube_proxy_and_flannel_call_works_in_a_network_namespace(
    command: str, made: KubernetesBinaries
) -> None:
    assert said(made, "unshare", "--net", "sh", "-c", command)


@pytest.mark.parametrize(
    "name", ["bridge", "host-local", "loopback", "macvlan", "portmap", "ptp", "static"]
)
def test_the_reference_plugins_say_which_versions_they_speak(
    name: str, made: KubernetesBinaries
) -> None:
    done = subprocess.run(
        [made.plugins / name],
        input='{"cniVersion": "1.0.0"}',
        env={"CNI_COMMAND": "VERSION"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "1.0.0" in json.loads(done.stdout)["supportedVersions"]


def test_pause_runs_alone_in_its_root_reaps_and_ends_when_it_is_told_to(
    made: KubernetesBinaries, tmp_path: Path
) -> None:
    with tarfile.open(made.sandbox) as archive:
        manifest = archive.extractfile("manifest.json")
        assert manifest is not None
        (image,) = json.load(manifest)
        archive.extract(image["Layers"][0], tmp_path, filter="data")
    root = tmp_path / "root"
    with tarfile.open(tmp_path / image["Layers"][0]) as layer:
        layer.extract("pause", root, filter="data")
    # As the first process of its namespace it inherits an orphan.
    script = f"(sleep 600 &) ; exec chroot {root} /pause"
    pause = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", script])
    try:
        (first,) = until("unshare has a child", lambda: children(pause.pid))
        executed = Path(f"/proc/{first}/exe")
        until("the child is pause", lambda: executed.readlink().name == "pause")
        (orphan,) = until("pause has inherited the orphan", lambda: children(first))
        os.kill(orphan, signal.SIGKILL)
        until("pause has reaped the orphan", lambda: not children(first))
        os.kill(first, signal.SIGTERM)
        assert pause.wait(30) == 0
    finally:
        pause.kill()
        pause.wait()


def children(of: int) -> list[int]:
    """The children of a process, zombies included."""
    return [int(child) for child in Path(f"/proc/{of}/task/{of}/children").read_text().split()]


def until(what: str, look: Callable[[], Seen]) -> Seen:
    """What is seen once there is something to see; fails with `what` if there is nothing."""
    deadline = time.monotonic() + _SECONDS
    while not (seen := look()):
        assert time.monotonic() < deadline, f"after {_SECONDS:.0f} s it is not so that {what}"
        time.sleep(0.01)
    return seen
