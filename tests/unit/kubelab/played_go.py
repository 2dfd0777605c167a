"""A Go that is played, and modules for it."""

from __future__ import annotations

from pathlib import Path

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
