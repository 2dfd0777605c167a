"""What goes together on a network of the user's own CNI configuration. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dunnage.errors import shown
from dunnage.model.cni import (
    CNI,
    CONFIGURATION,
    ON_THE_WIRE,
    configuration_of,
    mistakes,
    plugins_of,
)
from dunnage.model.deployment import Deployment
from dunnage.model.offer import OF_HOSTS, Mistake
from dunnage.model.study import DeploymentSpec
from dunnage.platforms.offered import NODE_PORT, SERVICE_IP

_AT = ("network_options", CONFIGURATION)
_BY_ITS_HOST = frozenset({*OF_HOSTS, NODE_PORT})
"""Endpoints by which a client goes to a member's own host first."""
_DRIVERS = {"bridge": "bridge", "macvlan": "macvlan", "ipvlan": "ipvlan", "ptp": "veth"}
"""Plugin → the driver by which pods are connected that it makes the interface of."""


def driver_of(deployment: Deployment) -> dict[str, str]:
    """The driver that must be in force, by the first plugin of a deployment's configuration.

    Nothing where there is none, or where it is not known what the plugin makes. Raises
    UnavailableError where network and options do not go together.
    """
    configuration = configuration_of(deployment)
    first = plugins_of(json.loads(configuration))[0] if configuration else ""
    return {"driver": _DRIVERS[first]} if first in _DRIVERS else {}


def misfits(spec: DeploymentSpec, endpoint: str) -> Iterator[Mistake]:
    """What keeps a configuration from being used, or an endpoint from being reached by it."""
    configuration = spec.network_options.get(CONFIGURATION)
    if configuration is None:
        what = f"network {shown(CNI)} needs the option `{CONFIGURATION}`, a CNI configuration"
        yield _AT, what, f"write `{CONFIGURATION}: {{cniVersion: …, name: …, plugins: […]}}`"
        return
    wrong = tuple(mistakes(configuration))
    yield from (((*_AT, *keys), what, advice) for keys, what, advice in wrong)
    if not wrong and isinstance(configuration, Mapping):
        yield from _unreachable(configuration, endpoint)


def _unreachable(configuration: Mapping[str, Any], endpoint: str) -> Iterator[Mistake]:
    """The first plugin makes the interface of a pod, and the others add to it."""
    plugins = configuration["plugins"]
    kind = plugins[0]["type"]
    if kind in ON_THE_WIRE and endpoint in _BY_ITS_HOST:
        yield (
            ("endpoint",),
            f"endpoint {shown(endpoint)} goes by the member's own host, which cannot reach pods of "
            f"the plugin {shown(kind)}",
            f"write `endpoint: {SERVICE_IP}`",
        )
    elif endpoint in OF_HOSTS and not any(map(_publishes, plugins)):
        yield (
            ("endpoint",),
            f"endpoint {shown(endpoint)} needs a plugin that publishes ports, and no plugin of "
            f"`{CONFIGURATION}` has the capability `portMappings`",
            "add `{type: portmap, capabilities: {portMappings: true}}` to its `plugins`",
        )


def _publishes(plugin: Mapping[str, Any]) -> bool:
    able = plugin.get("capabilities")
    return isinstance(able, Mapping) and able.get("portMappings") is True
