"""`dunnage lab up` and `lab status`: what is asked for, and what is told of it."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any, NoReturn

import pytest
from command import Command

from dunnage import catalog, lab_tool
from dunnage.cli.lab import up
from dunnage.errors import ExitCode, UnavailableError
from dunnage.hosts import standing
from dunnage.hosts.first_process import Identity, identity
from dunnage.hosts.lab import Owner
from dunnage.hosts.namespace import supports as kernel
from dunnage.hosts.standing import StandingHost, StandingLab
from dunnage.model.offer import VXLAN, Support
from dunnage.model.proxy import ProxyMode
from dunnage.model.study import TestbedSpec
from dunnage.runner.standing_lab import Made
from dunnage.study.document import read_document
from dunnage.substrates.kubernetes.choices import Choices, Network

KUBECONFIG = Path("/run/dunnage/labs/0123abcd/kubernetes/kubeconfig")


def lab(plane: Path | None = None) -> StandingLab:
    first = Identity(1, 1)
    hosts = (
        StandingHost("db-1", "10.77.0.1", first, Path("/s/docker/sock")),
        StandingHost("control-1", "10.77.0.2", first, None, plane),
    )
    return StandingLab("0123abcd", "lab up", True, hosts)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the lab was asked to be; it stands with an exposed Kubernetes if it is to be exposed."""
    found: list[Any] = []

    def stand_up(
        hosts: int,
        wanted: Collection[str],
        *,
        choices: Choices,
        expose: bool,
        tell: Callable[[str], None],
    ) -> Made:
        found.append((hosts, list(wanted), choices, expose))
        tell("kubernetes")
        proxy = "nftables" if "kubernetes" in wanted else None
        return Made("0123abcd", kubeconfig=KUBECONFIG if expose else None, proxy=proxy)

    monkeypatch.setattr(up, "stand_up", stand_up)
    made = lab(Path("/s/control-1/kubernetes"))
    monkeypatch.setattr(lab_tool, "chosen_lab", lambda _: made)
    monkeypatch.setattr(lab_tool, "standing_labs", lambda: (made,))
    return found


def test_a_kubernetes_is_made_as_it_was_asked_for(dunnage: Command, asked: list[Any]) -> None:
    shown = dunnage("lab", "up", "--kubernetes", "--network", "flannel-vxlan")
    assert asked == [(3, ["kubernetes"], Choices(Network.FLANNEL_VXLAN), False)]
    assert "a Kubernetes of them, every node ready" in shown.err
    assert "services:     led to pods by nftables, as db-1 tells" in shown.err
    assert "dunnage lab shell control-1 -- kubectl get nodes" in shown.err
    dunnage("lab", "up", "--swarm", "--kubernetes", "--proxy", "nftables", "--hosts", "2")
    assert asked[1] == (2, ["swarm", "kubernetes"], Choices(proxy=ProxyMode.NFTABLES), False)


def test_an_exposed_one_is_reached_by_the_users_own_kubectl(
    dunnage: Command, asked: list[Any]
) -> None:
    shown = dunnage("lab", "up", "--kubernetes", "--expose")
    assert f"kubectl --kubeconfig {KUBECONFIG} get nodes" in " ".join(shown.err.split())
    told = json.loads(dunnage("lab", "up", "--kubernetes", "--expose", "--format", "json").out)
    assert told["kubeconfig"] == str(KUBECONFIG)
    assert told["contexts"] is None
    assert told["proxy"] == "nftables"


def test_nothing_is_exposed_where_nothing_is_asked_for(dunnage: Command, asked: list[Any]) -> None:
    shown = dunnage("lab", "up", "--expose")
    assert shown.code == ExitCode.USAGE
    assert "neither a Docker daemon nor a Kubernetes" in shown.err
    assert asked == []


KNOWN = "cniVersion: 1.0.0\nname: mine\nplugins: "
TOO_LARGE = "9" * 20
CNI = {"cniVersion": "1.0.0", "name": "mine", "plugins": [{"type": "ptp", "subnet": "$SUBNET"}]}


def test_a_network_may_be_a_configuration_in_a_file(
    dunnage: Command, asked: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / "10-mine.conflist"
    file.write_text(json.dumps(CNI))
    dunnage("lab", "up", "--kubernetes", "--network", "cni", "--cni", str(file))
    ((_, _, choices, _),) = asked
    assert choices.network is Network.CNI
    assert json.loads(choices.configuration) == CNI


def test_a_configuration_with_tabs_is_read_as_a_study_reads_it_between_spaces(
    dunnage: Command, asked: list[Any], tmp_path: Path
) -> None:
    file, text = tmp_path / "10-mine.conflist", json.dumps(CNI, indent="\t")
    file.write_text(text)
    dunnage("lab", "up", "--kubernetes", "--network", "cni", "--cni", str(file))
    ((_, _, choices, _),) = asked
    assert json.loads(choices.configuration) == CNI
    pasted = read_document(f"configuration:\n{indent(text, '  ')}\n")
    assert (pasted.problems, pasted.data) == ((), {"configuration": CNI})


@pytest.mark.parametrize("words", [("--network", "cni"), ("--cni", "mine.conflist")])
def test_a_configuration_and_its_network_go_together(
    dunnage: Command, asked: list[Any], words: tuple[str, ...]
) -> None:
    shown = dunnage("lab", "up", "--kubernetes", *words)
    assert (shown.code, asked) == (ExitCode.USAGE, [])
    assert "`--network cni` and `--cni FILE` go together" in shown.err


@pytest.mark.parametrize("families", [(), ("--docker",), ("--swarm", "--expose")])
def test_a_configuration_without_a_kubernetes_is_refused(
    dunnage: Command, asked: list[Any], tmp_path: Path, families: tuple[str, ...]
) -> None:
    file = tmp_path / "mine.conflist"
    file.write_text(json.dumps(CNI))
    shown = dunnage("lab", "up", *families, "--network", "cni", "--cni", str(file))
    assert (shown.code, asked) == (ExitCode.USAGE, [])
    said = " ".join(shown.err.split())
    assert "`--network cni` is for pods, and no Kubernetes is asked for" in said
    assert f"dunnage lab up --kubernetes --network cni --cni {file}" in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cniVersion: 1.0.0\nname: mine\nplugins: []\n", "line 3: `plugins` is empty"),
        ("cniVersion: 1.0.0\nname: mine\n", "line 1: `plugins` is missing"),
        ("{name: mine", "line 1: this is not YAML"),
        ("mine\n", "line 1: a CNI configuration must be a mapping, not text"),
        (f"{KNOWN}[{{type: ptp}}]\ntoken: {TOO_LARGE}\n", "line 4: `•••` is too large a number"),
        ("", "the file is empty"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_line(
    dunnage: Command, asked: list[Any], tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "cni"
    file.write_text(text)
    shown = dunnage("lab", "up", "--kubernetes", "--network", "cni", "--cni", str(file))
    assert (shown.code, asked) == (ExitCode.USAGE, [])
    assert told in " ".join(shown.err.split())
    assert f"cat -n {file}" in " ".join(shown.err.split())


def test_a_file_that_is_not_there_is_told(
    dunnage: Command, asked: list[Any], tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "nowhere")
    shown = dunnage("lab", "up", "--kubernetes", "--network", "cni", "--cni", nowhere)
    assert (shown.code, asked) == (ExitCode.USAGE, [])
    assert "the CNI configuration cannot be read" in shown.err


@pytest.mark.parametrize("words", [("--network", "flannel-vxlan"), ("--proxy", "nftables")])
def test_what_is_for_pods_is_refused_where_there_are_none(
    dunnage: Command, asked: list[Any], words: tuple[str, str]
) -> None:
    shown = dunnage("lab", "up", "--swarm", *words)
    assert shown.code == ExitCode.USAGE
    assert f"`{' '.join(words)}` is for pods, and no Kubernetes is asked for" in shown.err
    assert f"dunnage lab up --kubernetes {' '.join(words)}" in shown.err
    assert asked == []


def test_where_another_lab_stands_each_command_names_its_own(
    dunnage: Command, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--lab" not in dunnage("lab", "up", "--kubernetes").err
    other = replace(lab(), name="9999ffff")
    study = replace(other, name="8888eeee", kept=False)
    for labs, named in (((lab(), study), False), ((lab(), study, other), True)):
        monkeypatch.setattr(lab_tool, "standing_labs", lambda labs=labs: labs)
        shown = dunnage("lab", "up", "--kubernetes").err
        for command in ("shell --lab 0123abcd db-1", "shell --lab 0123abcd control-1 --", "down"):
            assert (f"dunnage lab {command}" in shown) is (named or command == "down")
        assert ("dunnage lab down --lab 0123abcd" in shown) is named
    assert len(asked) == 3


def test_a_daemon_that_is_gone_is_told_and_one_that_listens_can_be_reached(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch, short: Path
) -> None:
    sockets = [short / "db-1", short / "db-2"]
    with ExitStack() as stack:
        for file in sockets:
            taken = stack.enter_context(socket.socket(socket.AF_UNIX))
            taken.bind(str(file))
            if file == sockets[1]:
                taken.listen()
        first = Identity(1, 1)
        hosts = tuple(StandingHost(file.name, "10.77.0.1", first, file) for file in sockets)
        known = StandingLab("0123abcd", "lab up", True, hosts)
        monkeypatch.setattr(lab_tool, "standing_labs", lambda: (known,))
        shown = dunnage("lab", "status")
        told = json.loads(dunnage("lab", "status", "--format", "json").out)
    rows = [line.split() for line in shown.out.splitlines()]
    assert [row[-1] for row in rows[1:3]] == ["gone", "up"]
    assert shown.out.endswith(f"\n  docker --host unix://{sockets[1]} info\n")
    assert [host["daemon_alive"] for host in told[0]["hosts"]] == [False, True]


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory whose files can be sockets: the kernel takes 107 bytes of a path."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def test_a_host_that_is_gone_is_told_with_its_lab() -> None:
    gone = replace(lab(), hosts=(StandingHost("db-1", "10.77.0.1", Identity(1, 0), None),))
    with pytest.raises(UnavailableError, match="the host is gone") as caught:
        standing.enter(gone, gone.hosts[0], ())
    assert caught.value.hint == "dunnage lab down --lab 0123abcd"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("lab", "up", "--swarn"), "dunnage lab up -h"),
        (("lab", "--nothing"), "dunnage lab -h"),
        (("lab", "upp"), "dunnage lab -h"),
        (("plan", "--nothing"), "dunnage plan -h"),
    ],
)
def test_a_mistake_leads_to_the_help_that_tells_of_it(
    dunnage: Command, words: tuple[str, ...], hint: str
) -> None:
    shown = dunnage(*words)
    assert shown.code == ExitCode.USAGE
    assert shown.err.splitlines()[-1].strip() == f"try: {hint}"


def test_the_status_tells_where_a_control_plane_is(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = Path("/s/control-1/kubernetes")
    monkeypatch.setattr(lab_tool, "standing_labs", lambda: (lab(plane),))
    lines = dunnage("lab", "status").out.splitlines()
    assert [("control plane" in line) for line in lines] == [False, False, True]
    (told,) = json.loads(dunnage("lab", "status", "--format", "json").out)
    assert [host["kubeconfig"] for host in told["hosts"]] == [
        None,
        str(plane / "admin.kubeconfig"),
    ]
    assert told["kubeconfig"] is None


def test_the_status_tells_how_a_kubernetes_is_reached_from_this_machine(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(standing, "LABS", tmp_path)
    monkeypatch.setattr(lab_tool, "standing_labs", lambda: (lab(),))
    file = tmp_path / "0123abcd" / "kubernetes" / "kubeconfig"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    told = "".join(dunnage("lab", "status").out.split())
    assert f"kubectl--kubeconfig{file}getnodes" in told
    (found,) = json.loads(dunnage("lab", "status", "--format", "json").out)
    assert found["kubeconfig"] == str(file)


def test_a_shell_finds_kubectl_on_the_control_host_and_ctr_on_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[dict[str, str]] = []

    def become(_: str, __: list[str], environment: dict[str, str]) -> NoReturn:
        entered.append(dict(environment))
        raise SystemExit(0)

    class Groups:
        def make(self, *_: object) -> None: ...

        def join_files(self, _: str) -> tuple[Path, ...]:
            return ()

    monkeypatch.setattr(os, "execve", become)
    monkeypatch.setattr(standing, "control_groups", Groups)
    monkeypatch.setattr(standing, "LABS", tmp_path / "labs")
    monkeypatch.setattr(standing, "SCRATCH", tmp_path / "scratch")
    me = identity(os.getpid())
    directory = tmp_path / "labs" / "0123abcd"
    directory.mkdir(parents=True)
    first = {"control-1": me, "db-1": me, "switch": me}
    owner = Owner("lab up", me, first, True)
    (directory / "owner.json").write_text(owner.text())
    (directory / "hosts").write_text("10.77.0.1 db-1\n10.77.0.2 control-1\n")
    plane = tmp_path / "scratch" / "0123abcd" / "control-1" / "kubernetes"
    plane.mkdir(parents=True)
    (plane / "admin.kubeconfig").write_text("{}")
    node = tmp_path / "scratch" / "0123abcd" / "db-1" / "kubernetes"
    node.mkdir(parents=True)
    monkeypatch.chdir(node)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as containerd:
        containerd.bind("containerd.sock")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (known,) = standing.standing()
    assert [host.kubernetes for host in known.hosts] == [plane, None]
    for host in known.hosts:
        with pytest.raises(SystemExit):
            standing.enter(known, host, ("true",))
    control, member = entered
    assert control["KUBECONFIG"] == str(plane / "admin.kubeconfig")
    assert control["PATH"].split(":")[-1] == str(plane / "bin")
    assert "KUBECONFIG" not in member
    assert member["CONTAINERD_ADDRESS"] == str(node / "containerd.sock")
    assert member["CONTAINERD_NAMESPACE"] == "k8s.io"
    assert member["PATH"].split(":")[-1] == str(node / "bin")
    assert "CONTAINERD_ADDRESS" not in control


@pytest.mark.parametrize(
    ("wanted", "families", "control"),
    [
        ([], (), False),
        (["docker"], ("docker",), False),
        (["docker", "swarm"], ("docker", "swarm"), True),
        (["swarm", "kubernetes"], ("docker", "swarm", "kubernetes"), True),
        (["kubernetes"], ("kubernetes",), True),
    ],
)
def test_what_is_asked_for_comes_with_what_it_stands_on(
    wanted: list[str], families: tuple[str, ...], control: bool
) -> None:
    assert lab_tool.standing_families(wanted) == families
    assert lab_tool.needs_control(families) is control


def test_a_kernel_that_lacks_something_is_said_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_room = Support(False, "50 inotify instances are needed", "sysctl x=1")
    no_tunnel = Support(False, "no VXLAN here", "modprobe vxlan")
    monkeypatch.setattr(kernel, "supports", lambda: {VXLAN: no_tunnel})
    monkeypatch.setattr(kernel, "inotify_room", lambda _: no_room)

    def opened(choices: Choices | None) -> None:
        spec = TestbedSpec(kind="fake", hosts={"db": 1, "control": 1})
        with catalog.open_testbed(spec, "opened", keep=False) as testbed:
            catalog.open_substrate(
                "kubernetes", {}, testbed, testbed.hosts, keep=False, choices=choices
            )

    with pytest.raises(UnavailableError, match="50 inotify instances") as refused:
        opened(None)
    assert refused.value.hint == "sysctl x=1"
    monkeypatch.setattr(kernel, "inotify_room", lambda _: Support(True))
    with pytest.raises(UnavailableError, match="no VXLAN here"):
        opened(Choices(Network.FLANNEL_VXLAN))
