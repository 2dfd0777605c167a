"""A node: containerd, kubelet and kube-proxy on one host. Pure.

containerd and kubelet live in a mount namespace of their own, below the host's. There they find
directories that their programs have fixed paths for (`/var/lib/cni`, `/var/log/containers`), and
those settings of the kernel that a kubelet insists on, which are all of this machine: what they
would change there is hidden from them by files that read as they want it. A kubelet also finds only
the processors that its host has, and gives no others to pods. It serves nobody without a
certificate; kube-proxy tells of its health to the loopback only, to anybody there. containerd
serves the streams of commands in containers on the loopback, by TLS, each to whom its kubelet told
the word that opens it once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dunnage.contracts.cluster import OF_A_GROUP
from dunnage.contracts.kubernetes import CLIENT_TAINT
from dunnage.model.deployment import QUOTA_PERIOD
from dunnage.model.proxy import ProxyMode
from dunnage.model.study import CLIENT_GROUP
from dunnage.substrates.kubernetes.control_plane import ControlPlane
from dunnage.substrates.kubernetes.place import (
    DOMAIN,
    LOOPBACK,
    NODE,
    NODES,
    SECRET,
    Component,
    Place,
    Written,
)

CONTAINERD = "containerd"
KUBELET = "kubelet"
PROXY = "kube-proxy"
HELD = "/run/kubernetes"
"""Directory of what a node's mount namespace is made of, in memory of the host's own."""
SANDBOX = "docker.io/dunnage/pause:1"
"""The image of pods' sandboxes, by its full name."""
LEASE_SECONDS = 40
"""For how long a node that has told of itself is believed to live; it tells every quarter."""

_KERNEL: Mapping[str, int] = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
"""What a kubelet sets where it finds another value (`setupKernelTunables`)."""

_APART = """
set -e
scratch=$1 held=$2
shift 2
mkdir -p "$held/disk" "$held/upper" "$held/work"
mount --rbind "$scratch" "$held/disk"
mount -t overlay -o "lowerdir=/var/lib,upperdir=$held/upper,workdir=$held/work" overlay /var/lib
mkdir -p "$scratch"
mount --move "$held/disk" "$scratch"
mount -t tmpfs tmpfs /var/log
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status > "$held/online"
mount --bind "$held/online" /sys/devices/system/cpu/online
while read -r name value; do
    if [ "$(cat "/proc/sys/$name")" != "$value" ]; then
        file="$held/sys-$(echo "$name" | tr / -)"
        echo "$value" > "$file"
        mount --bind "$file" "/proc/sys/$name"
    fi
done < "$held/kernel"
exec "$@"
"""
"""Begins the mount namespace of a node, and becomes the command that follows in it."""


@dataclass(frozen=True)
class Node:
    """One node, on a host with this name, group and address."""

    name: str
    group: str
    address: str
    scratch: str
    pods: str
    """Control group below which those of pods are made, absolute."""
    binaries: Path
    plugins: Path
    place: Place
    control: ControlPlane
    proxy: ProxyMode

    @property
    def cni(self) -> str:
        """Directory of the configuration of the pods' network."""
        return self.place.path("cni")

    def files(self) -> tuple[Written, ...]:
        """What is to be written before anything starts; all keys are made anew."""
        path = self.place.path
        own = self.control.trust.own
        serving = own.server(f"{NODE}{self.name}", (self.name, self.address), (NODES,))
        streams = own.server(CONTAINERD, (LOOPBACK,))
        kubelet = self.control.kubeconfig(f"{NODE}{self.name}", NODES)
        kernel = "".join(f"{name} {value}\n" for name, value in _KERNEL.items())
        return (
            Written(path("authority.crt"), own.certificate),
            Written(path("kubelet.crt"), serving.certificate),
            Written(path("kubelet.key"), serving.key, SECRET),
            Written(path("streams.crt"), streams.certificate),
            Written(path("streams.key"), streams.key, SECRET),
            Written(path(f"{KUBELET}.kubeconfig"), kubelet, SECRET),
            Written(
                path(f"{PROXY}.kubeconfig"), self.control.kubeconfig(f"system:{PROXY}"), SECRET
            ),
            Written(path("containerd.toml"), self._containerd_settings().encode()),
            Written(path("kubelet.json"), _json(self._kubelet_settings())),
            Written(path("proxy.json"), _json(self._proxy_settings())),
            Written(f"{HELD}/kernel", kernel.encode()),
        )

    def containerd(self) -> Component:
        """containerd, in a mount namespace that outlives it: containers and the kubelet are there
        as well."""
        words = ("unshare", "--mount", "--propagation=private", "sh", "-c", _APART, "sh")
        program = str(self.binaries / CONTAINERD)
        return Component(
            CONTAINERD,
            (program, "--config", self.place.path("containerd.toml")),
            around=(*words, self.scratch, HELD),
        )

    def kubelet(self, beside: int) -> Component:
        """The kubelet, in the mount namespace of the process with this id: containerd's.

        It believes the streams of containerd by the authorities of its system, which are ours here.
        """
        taints = {CLIENT_GROUP: f"{CLIENT_TAINT}=:NoSchedule"}
        argv = (
            "nsenter",
            f"--target={beside}",
            "--mount",
            "--",
            str(self.binaries / KUBELET),
            f"--config={self.place.path('kubelet.json')}",
            f"--kubeconfig={self.place.path(f'{KUBELET}.kubeconfig')}",
            f"--root-dir={self.place.path('kubelet')}",
            f"--hostname-override={self.name}",
            f"--node-ip={self.address}",
            f"--node-labels={OF_A_GROUP}={self.group}",
        )
        taint = taints.get(self.group)
        tainted = (f"--register-with-taints={taint}",) if taint else ()
        believed = {"SSL_CERT_FILE": self.place.path("authority.crt")}
        return Component(KUBELET, (*argv, *tainted), believed)

    def kube_proxy(self) -> Component:
        """The proxy, which writes its rules into the host's own network."""
        program = str(self.binaries / PROXY)
        return Component(PROXY, (program, f"--config={self.place.path('proxy.json')}"))

    def _containerd_settings(self) -> str:
        path = self.place.path
        cri = 'plugins."io.containerd.grpc.v1.cri"'
        runc = f"{cri}.containerd.runtimes.runc"
        return f"""version = 2
root = "{path("containerd")}"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
address = "{self.place.socket}"
[debug]
level = "warn"
[{cri}]
sandbox_image = "{SANDBOX}"
restrict_oom_score_adj = true
disable_hugetlb_controller = true
stream_server_address = "{LOOPBACK}"
enable_tls_streaming = true
[{cri}.x509_key_pair_streaming]
tls_cert_file = "{path("streams.crt")}"
tls_key_file = "{path("streams.key")}"
[{cri}.cni]
bin_dir = "{self.plugins}"
conf_dir = "{self.cni}"
max_conf_num = 1
[{cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"
[{runc}]
runtime_type = "io.containerd.runc.v2"
[{runc}.options]
BinaryName = "{self.binaries / "runc"}"
SystemdCgroup = false
[plugins."io.containerd.internal.v1.opt"]
path = "{path("opt")}"
"""

    def _kubelet_settings(self) -> Mapping[str, object]:
        path = self.place.path
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": self.address,
            "readOnlyPort": 0,
            "healthzPort": 0,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": path("authority.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": path("kubelet.crt"),
            "tlsPrivateKeyFile": path("kubelet.key"),
            "containerRuntimeEndpoint": f"unix://{self.place.socket}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": self.pods,
            "failCgroupV1": False,
            "failSwapOn": False,
            "clusterDNS": [self.control.dns],
            "clusterDomain": DOMAIN,
            "resolvConf": "",  # names of this machine's network are none of a pod's
            "podLogsDir": path("pod-logs"),
            "volumePluginDir": path("volume-plugins"),
            "nodeLeaseDurationSeconds": LEASE_SECONDS,
            # A quota means the same as that of a control group of ours.
            "featureGates": {"CustomCPUCFSQuotaPeriod": True},
            "cpuCFSQuotaPeriod": f"{QUOTA_PERIOD}us",
            # This machine's disk is not the host's own, and an image cannot be pulled again.
            "evictionHard": {
                "memory.available": "100Mi",
                "nodefs.available": "0%",
                "nodefs.inodesFree": "0%",
                "imagefs.available": "0%",
                "imagefs.inodesFree": "0%",
            },
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
        }

    def _proxy_settings(self) -> Mapping[str, object]:
        kept: Mapping[str, object] = {  # conntrack's limits are this machine's, and read-only
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        }
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": str(self.proxy),
            "hostnameOverride": self.name,
            "clientConnection": {"kubeconfig": self.place.path(f"{PROXY}.kubeconfig")},
            "clusterCIDR": self.control.ranges.pods,
            "nodePortAddresses": ["primary"],  # nftables' default: the same in both modes
            "conntrack": kept,
            "bindAddress": self.address,
            "healthzBindAddress": f"{LOOPBACK}:10256",
            "metricsBindAddress": f"{LOOPBACK}:10249",
        }


def _json(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()
