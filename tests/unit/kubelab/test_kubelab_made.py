"""Kubernetes' programs: what they are built of, and what is made of them."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from played_go import DPKG_DEB, TOLD, program, toolchain

from dunnage.errors import UnavailableError
from dunnage.image_archive import write_archive
from dunnage.software import go, go_program, kubernetes
from dunnage.software.program import run
from dunnage.software.trees import DebianSoftware


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
