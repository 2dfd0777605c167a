"""What a Kubernetes of our own needs of the kernel that all its hosts share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from dunnage.errors import UnavailableError
from dunnage.model.cni import ON_THE_WIRE, plugins_of
from dunnage.model.offer import IP_SETS, IPVS, VXLAN, Capability, Support
from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.choices import Choices, Network

INOTIFY = 10
"""Instances of inotify that its programs need on a host."""


class Kernel(Protocol):
    """What a kernel can do for hosts, found out by trying it."""

    def supports(self) -> Mapping[Capability, Support]:
        """What it is capable of."""

    def inotify_room(self, needed: int) -> Support:
        """Whether there can be so many more instances of inotify at once."""

    def sharing(self, kind: str) -> Support:
        """Whether it has interfaces of a kind that share another one."""


def interfaces(kernel: Kernel, configuration: str) -> list[Support]:
    """Whether it has each kind of interfaces that a configuration's text needs it to have; an empty
    text needs none."""
    called = plugins_of(json.loads(configuration)) if configuration else ()
    return [kernel.sharing(each) for each in called if each in ON_THE_WIRE]


def insist_on_kernel(kernel: Kernel, hosts: int, choices: Choices) -> None:
    """Raise UnavailableError when it lacks something for a Kubernetes on so many hosts."""
    found = [kernel.inotify_room(hosts * INOTIFY)]
    if choices.network is Network.FLANNEL_VXLAN:
        found.append(kernel.supports()[VXLAN])
    if choices.proxy is ProxyMode.IPVS:
        here = kernel.supports()
        found += [here[IPVS], here[IP_SETS]]
    found += interfaces(kernel, choices.configuration)
    for support in found:
        if not support.met:
            raise UnavailableError(support.reason, where="kubernetes", hint=support.hint)
