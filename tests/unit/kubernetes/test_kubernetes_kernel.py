"""What a Kubernetes of ours needs of a kernel, told before anything of it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from dunnage.errors import UnavailableError
from dunnage.model.cni import text_of
from dunnage.model.offer import IP_SETS, IPVS, VXLAN, Capability, Support
from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.kernel import INOTIFY, insist_on_kernel

TUNNELS = Choices(Network.FLANNEL_VXLAN)
MET = Support(met=True)
NO_TUNNEL = Support(met=False, reason="no VXLAN here", hint="modprobe vxlan")


@dataclass
class Kernel:
    """One with room for some instances of inotify, which notes how many were asked for."""

    room: int
    vxlan: Support = MET
    ipvs: Support = MET
    sets: Support = MET
    asked: list[int] = field(default_factory=list)

    def supports(self) -> Mapping[Capability, Support]:
        return {VXLAN: self.vxlan, IPVS: self.ipvs, IP_SETS: self.sets}

    def inotify_room(self, needed: int) -> Support:
        self.asked.append(needed)
        return Support(met=needed <= self.room, reason=f"{needed} are needed", hint="sysctl x=1")

    def sharing(self, kind: str) -> Support:
        return Support(met=kind == "macvlan", reason=f"no {kind} here", hint=f"modprobe {kind}")


def test_every_host_needs_its_instances_of_inotify() -> None:
    kernel = Kernel(room=3 * INOTIFY)
    insist_on_kernel(kernel, 3, TUNNELS)
    assert kernel.asked == [3 * INOTIFY]
    with pytest.raises(UnavailableError, match=f"{4 * INOTIFY} are needed") as refused:
        insist_on_kernel(kernel, 4, TUNNELS)
    assert (refused.value.where, refused.value.hint) == ("kubernetes", "sysctl x=1")


def test_only_flannels_tunnel_needs_vxlan() -> None:
    kernel = Kernel(room=INOTIFY, vxlan=NO_TUNNEL)
    for network in (Network.BRIDGE, Network.FLANNEL_HOST_GW):
        insist_on_kernel(kernel, 1, Choices(network))
    with pytest.raises(UnavailableError, match="no VXLAN here") as refused:
        insist_on_kernel(kernel, 1, TUNNELS)
    assert refused.value.hint == "modprobe vxlan"


@pytest.mark.parametrize("missing", ["ipvs", "sets"])
def test_only_a_proxy_by_ipvs_needs_it_and_sets_of_addresses(missing: str) -> None:
    able, lacks = Kernel(room=INOTIFY), Support(False, f"no {missing} here", f"modprobe {missing}")
    changed: dict[str, Any] = {missing: lacks}
    kernel = replace(able, **changed)
    for proxy in (ProxyMode.IPTABLES, ProxyMode.NFTABLES):
        insist_on_kernel(kernel, 1, Choices(proxy=proxy))
    insist_on_kernel(able, 1, Choices(proxy=ProxyMode.IPVS))
    with pytest.raises(UnavailableError, match=f"no {missing} here") as refused:
        insist_on_kernel(kernel, 1, Choices(proxy=ProxyMode.IPVS))
    assert refused.value.hint == f"modprobe {missing}"


def test_a_plugin_needs_the_kind_of_interfaces_that_it_makes() -> None:
    kernel = Kernel(room=INOTIFY, vxlan=NO_TUNNEL)
    for plugin in ("ptp", "macvlan"):
        insist_on_kernel(kernel, 1, own(plugin))
    with pytest.raises(UnavailableError, match="no ipvlan here") as refused:
        insist_on_kernel(kernel, 1, own("ipvlan"))
    assert refused.value.hint == "modprobe ipvlan"


def own(plugin: str) -> Choices:
    """A network of the user's own that one plugin makes."""
    return Choices(Network.CNI, configuration=text_of({"plugins": [{"type": plugin}]}))
