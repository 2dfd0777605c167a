"""Kubernetes: its own servers, built of the Go modules in `kubelab/`, and Debian's containerd.

bin/cluster          etcd, the control plane, kubelet, kube-proxy, CoreDNS and kubectl: what it
                     is depends on the name by which it is called; every name is a link to it
bin/flanneld         flannel
bin/                 containerd, its shim, ctr, runc, nft, conntrack, ipset, iptables' programs
cni/                 the reference CNI plugins
lib/                 the libraries of Debian's programs, and iptables' extensions
iptables-nft/, iptables-legacy/     names for the two ways of iptables
images/pause.tar     the image that holds a pod's namespaces
facts.json           versions and hashes of all that
"""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.errors import UnavailableError
from dunnage.image_archive import write_archive
from dunnage.model.offer import Support
from dunnage.model.value import Scalar
from dunnage.software import debian, go, iptables
from dunnage.software.cache import Cache
from dunnage.software.docker import search_path
from dunnage.software.go_program import Module
from dunnage.software.image import write_image

SOURCE = Path(__file__).parents[3] / "kubelab"
"""The Go modules."""

PAUSE = "dunnage/pause:1"
"""Name of the image that holds a pod's namespaces."""

NAMES = (
    "coredns",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
)
"""The programs that `cluster` is."""

_RECIPE = 3
_KUBERNETES = "k8s.io/kubernetes"
_FLANNEL = "github.com/flannel-io/flannel"
_MODULES = {
    "kubernetes": _KUBERNETES,
    "etcd": "go.etcd.io/etcd/server/v3",
    "coredns": "github.com/coredns/coredns",
    "flannel": _FLANNEL,
}
_PACKAGES = (
    "containerd",
    "runc",
    "containernetworking-plugins",
    "nftables",
    "conntrack",
    "ipset",
    *iptables.PACKAGES,
    "libbsd0",
    "libedit2",
    "libgmp10",
    "libipset13",
    "libjansson4",
    "libmd0",
    "libnftables1",
    "libseccomp2",
    "libtinfo6",
)
_TOLD = 3
"""Of these packages the first are named to who reads."""
_PROGRAMS = {
    "usr/bin/containerd": "containerd",
    "usr/bin/containerd-shim-runc-v2": "containerd",
    "usr/bin/ctr": "containerd",
    "usr/sbin/runc": "runc",
    "usr/sbin/nft": "nftables",
    "usr/sbin/conntrack": "conntrack",
    "usr/sbin/ipset": "ipset",
    "usr/sbin/xtables-nft-multi": "iptables",
    "usr/sbin/xtables-legacy-multi": "iptables",
}
"""Each program's path, with the package that has it."""
_PLUGINS = "usr/lib/cni"
_EXTENSION = "**/libxt_tcp.so"


def unpacked(cache: Cache, tell: Callable[[str], None]) -> KubernetesBinaries:
    """Kubernetes from the cache, built on first use, of which `tell` hears; once for a `kubelab/`.

    Raises UnavailableError when it cannot be built, or when its iptables cannot work here.
    """
    kubelab = _digest(SOURCE)
    entry = cache.obtain(_request(kubelab), partial(_make, kubelab=kubelab, tell=tell))
    facts = json.loads((entry / "facts.json").read_text())
    return KubernetesBinaries(
        binaries=entry / "bin",
        plugins=entry / "cni",
        sandbox=entry / "images/pause.tar",
        environment=iptables.working(partial(_environment, entry), "kubernetes"),
        version=facts["kubernetes"],
        origin=_origin(facts),
    )


def support(cache: Cache) -> Support:
    """Whether it is in the cache or can be built."""
    if SOURCE.is_dir() and cache.find(_request(_digest(SOURCE))) is not None:
        return Support(met=True)
    wanted = (go.support(SOURCE), go.compiler_support(), debian.support())
    return next((each for each in wanted if not each.met), Support(met=True))


def _request(kubelab: str) -> str:
    """By what is compiled of `kubelab/`, which pins every module; the version of Go is a fact."""
    return f"kubernetes-{kubelab[:12]}-recipe{_RECIPE}-{platform.machine()}"


def _origin(facts: Mapping[str, Scalar]) -> str:
    """`Go modules: kubernetes 1.34.4, …, built by go 1.26.8; Debian: containerd …, runc …`."""
    modules = ", ".join(f"{name} {facts[name]}" for name in _MODULES)
    packages = (
        f"{name} {str(facts[f'package.{name}']).partition(' ')[0]}" for name in _PACKAGES[:_TOLD]
    )
    return f"Go modules: {modules}, built by go {facts['go']}; Debian: {', '.join(packages)}"


def _digest(directory: Path) -> str:
    """By the files that Go reads there, and no other: an editor may have left some beside them."""
    files = [directory / "go.mod", directory / "go.sum", *directory.rglob("*.go")]
    told = [
        f"{path.relative_to(directory)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(files)
        if path.is_file() and not path.name.startswith((".", "_"))
    ]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _make(entry: Path, *, kubelab: str, tell: Callable[[str], None]) -> str:
    toolchain, compiler = go.find(SOURCE), go.compiler_support()
    if not compiler.met:
        raise UnavailableError(compiler.reason, where=str(SOURCE), hint=compiler.hint)
    versions = {name: go.module_version(SOURCE, module) for name, module in _MODULES.items()}
    packages = _debian(entry)
    tell(
        f"Kubernetes {versions['kubernetes']} is built of its Go modules, once: up to 25 minutes "
        "on two processors"
    )
    built = entry / "built"
    built.mkdir()
    flags = _flags(versions)
    toolchain.build(("./cluster", "./pause"), built, ("-ldflags", flags), tell)
    static = ("-ldflags", f"{flags} -extldflags -static")
    toolchain.build((_FLANNEL,), built, static, tell, with_c=True)
    _pause(built / "pause", entry)
    (built / "cluster").rename(entry / "bin/cluster")
    (built / "flannel").rename(entry / "bin/flanneld")
    shutil.rmtree(built)
    for name in NAMES:
        (entry / "bin" / name).symlink_to("cluster")
    if _digest(SOURCE) != kubelab:
        raise UnavailableError(
            "its files changed while Kubernetes was built of them",
            where=str(SOURCE),
            hint=shlex.join(["git", "-C", str(SOURCE), "status", "."]),
        )
    facts: dict[str, Scalar] = {
        **_built(toolchain, entry, versions),
        "kubelab": f"sha256:{kubelab}",
        "recipe": _RECIPE,
        **{f"package.{package.name}": package.identity for package in packages},
    }
    (entry / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
    key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return f"kubernetes-{facts['kubernetes']}-{key[:12]}"


def _built(toolchain: go.Go, entry: Path, versions: Mapping[str, str]) -> Mapping[str, Scalar]:
    """What the programs themselves say of their making.

    Raises UnavailableError where that is not what `go.mod` and `go.sum` ask for.
    """
    programs = {
        name: toolchain.program_facts(entry / "bin" / name) for name in ("cluster", "flanneld")
    }
    facts: dict[str, Scalar] = {}
    for name, module in _MODULES.items():
        program = "flanneld" if name == "flannel" else "cluster"
        wanted = Module(versions[name], go.module_sum(SOURCE, module, versions[name]))
        found = programs[program].modules.get(module)
        if found != wanted:
            has = f"{found.version} {found.sum}" if found else "none"
            raise UnavailableError(
                f"`{program}` was to be built of {module} {wanted.version} {wanted.sum}, "
                f"and has {has}",
                where=str(SOURCE),
                hint=toolchain.typed("mod", "verify"),
            )
        facts[name] = found.version.removeprefix("v")
        facts[f"{name}.sum"] = found.sum
    facts["go"] = programs["cluster"].go
    for name, told in programs.items():
        facts[f"{name}.settings"] = " ".join(f"{key}={each}" for key, each in told.settings.items())
    return facts


def _debian(entry: Path) -> tuple[debian.Package, ...]:
    """Put Debian's part into its places."""
    packages = debian.download(_PACKAGES, entry / "packages")
    root = entry / "debian"
    debian.unpack(packages, root)
    for name in ("bin", "lib", "images"):
        (entry / name).mkdir()
    for program, package in _PROGRAMS.items():
        _there(root, program, package).rename(entry / "bin" / Path(program).name)
    _there(root, _PLUGINS, "containernetworking-plugins").rename(entry / "cni")
    for library in sorted(root.rglob("lib*.so.*")):
        library.rename(entry / "lib" / library.name)
    _there(root, _EXTENSION, "iptables").parent.rename(entry / "lib/xtables")
    iptables.link(entry, "bin")
    for leftover in (entry / "packages", root):
        shutil.rmtree(leftover)
    return packages


def _there(root: Path, path: str, package: str) -> Path:
    """The first file or directory of a path or pattern; raises UnavailableError without one."""
    found = next(root.glob(path), None)
    if found is None:
        raise UnavailableError(
            f"Debian's package lacks `{path}`",
            where=package,
            hint=f"apt-get download {package} && dpkg-deb -c {package}_*.deb",
        )
    return found


def _flags(versions: Mapping[str, str]) -> str:
    """Without symbols, and with the versions that official builds would tell."""
    major, minor, _ = versions["kubernetes"].removeprefix("v").split(".", 2)
    told = {"gitVersion": versions["kubernetes"], "gitMajor": major, "gitMinor": minor}
    told["gitTreeState"] = "clean"
    values = [
        f"{package}.{name}={value}"
        for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        for name, value in told.items()
    ]
    values.append(f"{_FLANNEL}/pkg/version.Version={versions['flannel']}")
    return " ".join(["-s", "-w", *(f"-X {value}" for value in values)])


def _pause(program: Path, entry: Path) -> None:
    tree, layer = entry / "pause", entry / "pause-layer.tar"
    tree.mkdir()
    program.rename(tree / "pause")
    write_image(tree, "/", layer)
    write_archive(layer, PAUSE, ("/pause",), entry / "images/pause.tar")
    shutil.rmtree(tree)
    layer.unlink()


def _environment(entry: Path, variant: str) -> Mapping[str, str]:
    programs = (entry / "bin", iptables.directory(entry, variant))
    return {
        "PATH": ":".join([*map(str, programs), search_path()]),
        "LD_LIBRARY_PATH": str(entry / "lib"),
        "XTABLES_LIBDIR": str(entry / "lib/xtables"),
    }
