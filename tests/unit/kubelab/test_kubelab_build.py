"""Kubernetes' programs: how they are built, how far that is, and how it fails."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import pytest
from played_go import program, toolchain

from dunnage.errors import UnavailableError
from dunnage.software import go
from dunnage.software.trees import DebianSoftware


def test_it_is_built_once_for_the_content_of_kubelab_and_then_needs_no_go(
    source: Path, tools: Path, store: DebianSoftware
) -> None:
    calls = toolchain(tools)
    first = store.kubernetes(lambda _: None)
    (tools / "go").unlink()
    assert store.kubernetes_support().met
    assert store.kubernetes(lambda _: None) == first
    (source / "cluster").mkdir()
    (source / "cluster" / "main.go").write_text("package main\n")
    assert not store.kubernetes_support().met
    toolchain(tools)
    assert store.kubernetes(lambda _: None).binaries != first.binaries
    assert calls.read_text().count("./cluster") == 4  # listed and built


@pytest.mark.usefixtures("source")
def test_the_build_is_reproducible_and_told_the_versions_of_official_builds(
    tools: Path, store: DebianSoftware, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = ("GOFLAGS", "CGO_ENABLED", "GOWORK", "GOENV", "GOTOOLCHAIN", "CC", "GOPROXY")
    others = ("GOAMD64", "GOFIPS140", "CGO_CFLAGS", "CXX")
    told = " ".join(f"{name}=${{{name}-}}" for name in seen)
    told += "".join(f" ${{{name}-}}" for name in others)
    calls = toolchain(tools, f'echo "{told}" >> "$NOTES"')
    notes = tools.parent / "notes"
    monkeypatch.setenv("NOTES", str(notes))
    for name in (*seen, *others):
        monkeypatch.setenv(name, "mine")
    store.kubernetes(lambda _: None)
    assert [line.rstrip() for line in notes.read_text().splitlines()] == [
        f"GOFLAGS=-buildvcs=false CGO_ENABLED={c} GOWORK=off GOENV=off GOTOOLCHAIN=local CC=gcc "
        "GOPROXY=https://here.example"
        for c in (0, 1)
    ]
    cluster, flannel = (
        line for line in calls.read_text().splitlines() if line.startswith("build ")
    )
    for build in (cluster, flannel):
        assert " -trimpath -mod=readonly -tags=netgo,osusergo -ldflags -s -w -X " in build
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
            assert f"-X {package}.gitVersion=v1.34.4 -X {package}.gitMajor=1" in build
            assert f"-X {package}.gitMinor=34" in build
        assert "-X github.com/flannel-io/flannel/pkg/version.Version=v0.28.4" in build
    assert cluster.endswith(" ./cluster ./pause")
    assert " -extldflags -static " in flannel
    assert flannel.endswith(" github.com/flannel-io/flannel")


def test_how_far_the_build_is_is_told_while_it_lasts(source: Path, tools: Path) -> None:
    gate = tools.parent / "gate"
    toolchain(tools, f"while [ ! -e {gate} ]; do sleep 0.01; done")
    said: list[str] = []

    def tell(message: str) -> None:
        said.append(message)
        if "2 of at most 3 packages" in message:
            gate.touch()

    built = tools.parent / "built"
    built.mkdir()
    go.find(source).build(("./cluster",), built, (), tell, every=0.05)
    assert said[-1].startswith("cluster: 2 of at most 3 packages, ")
    assert said[-1].endswith("s")
    assert (built / "cluster").is_file()
    assert not list(tools.parent.glob("*.log"))


def test_an_interrupted_build_ends_with_all_its_processes(source: Path, tools: Path) -> None:
    child = tools.parent / "child"
    toolchain(tools, f"sleep 600 & echo $! > {child}; wait")
    built = tools.parent / "built"
    built.mkdir()

    def interrupt(_: str) -> None:
        if child.exists() and child.read_text().endswith("\n"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go.find(source).build(("./cluster",), built, (), interrupt, every=0.05)
    ended = threading.Event()
    for _ in range(1000):
        try:
            state = Path(f"/proc/{child.read_text().strip()}/stat").read_text().split()[2]
        except FileNotFoundError:
            state = "X"
        if state in "XZ":
            ended.set()
            break
        time.sleep(0.01)
    assert ended.is_set()


@pytest.mark.usefixtures("source")
def test_a_build_that_fails_is_told_with_its_last_lines_and_leaves_nothing(
    tools: Path, store: DebianSoftware, tmp_path: Path
) -> None:
    toolchain(tools, "echo '# dunnage/kubelab/cluster' >&2; echo './x.go:1: broken' >&2; exit 1")
    with pytest.raises(UnavailableError) as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.what == "`go build` failed:\n# dunnage/kubelab/cluster\n./x.go:1: broken"
    assert caught.value.where.endswith("/kubelab")
    assert caught.value.hint == f"cd {caught.value.where} && {tools}/go build -v ./..."
    assert list((tmp_path / "cache" / "building").iterdir()) == []


@pytest.mark.parametrize("verb", ["list", "build"])
def test_go_that_never_ends_is_ended(
    verb: str, source: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(go, f"_{verb.upper()}_SECONDS", 0.1)
    program(
        tools,
        "go",
        'case "$1" in version) echo "go version go1.26.6 linux/amd64" ;; env) echo {} ;; '
        f"{verb}) exec sleep 600 ;; esac",
    )
    built = tools.parent / "built"
    built.mkdir()
    with pytest.raises(UnavailableError, match=f"`go {verb}` took more than 100 ms"):
        go.find(source).build(("./cluster",), built, (), lambda _: None, every=0.05)


@pytest.mark.usefixtures("source")
def test_a_build_that_says_nothing_is_told_with_its_exit_code(
    tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools, "exit 7")
    with pytest.raises(UnavailableError, match=r"`go build` failed:\nexit code 7"):
        store.kubernetes(lambda _: None)


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("verb", ["list", "build"])
def test_a_full_disk_is_said_whatever_else_go_says(
    verb: str, tools: Path, store: DebianSoftware, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = "echo 'write /x/y.a: no space left on device' >&2; echo 'go: more' >&2; exit 1"
    monkeypatch.setattr(tempfile, "tempdir", "/of scratch")
    toolchain(tools)
    go_ = tools / "go"
    go_.write_text(go_.read_text().replace(f"\n{verb})", f"\n{verb}) {full} ;;\nnever)"))
    with pytest.raises(UnavailableError, match="the disk is full") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.hint == "df -h '/of go' /of/modules '/of scratch'"
