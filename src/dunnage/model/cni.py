"""A CNI configuration of the user's own, as a study holds it. Pure.

What its keys mean is the plugins' matter. Only what every configuration has is looked at.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from dunnage.errors import UnavailableError, shown
from dunnage.model.deployment import Deployment
from dunnage.model.offer import Keys, Mistake

CNI = "cni"
"""The network that it makes."""
CONFIGURATION = "configuration"
"""Its name among that network's options."""
ON_THE_WIRE = frozenset({"macvlan", "ipvlan"})
"""Plugins, and kinds of interfaces that they make, which share one of the host's: the host itself
exchanges nothing with pods on them."""
PLACEHOLDERS = ("SUBNET", "PODS", "SERVICES", "NUMBER")
"""What `$SUBNET` and the others stand for differs from node to node, or from lab to lab."""
_COPY = "copy the JSON of a `.conflist` file, without quotes around it: JSON is YAML"
_DIGITS = 8
"""Of a hash, enough to tell two configurations of one name apart."""
_TEXTS = {"cniVersion": '`cniVersion: "1.0.0"`', "name": "`name: mine`"}
"""Keys of a configuration that hold text, and how to write them."""


@dataclass(frozen=True)
class NodeNetwork:
    """What placeholders stand for on one node."""

    subnet: str
    """Range of addresses of the node's own pods."""
    pods: str
    """Range of addresses of all pods."""
    services: str
    """Range of addresses of services."""
    number: int
    """The node's number among the hosts of the Kubernetes, from 1."""


def mistakes(configuration: object) -> Iterator[Mistake]:
    """Everything that keeps a configuration from being one, by the keys inside it.

    No text of it is repeated: anywhere in it may be a secret.
    """
    if not isinstance(configuration, Mapping):
        yield (), f"a CNI configuration must be a mapping, not {_kind(configuration)}", _COPY
        return
    for key, example in _TEXTS.items():
        if key not in configuration:
            yield (key,), f"`{key}` is missing in the CNI configuration", f"write {example}"
        elif not isinstance(configuration[key], str):
            told = shown(configuration[key])
            yield (key,), f"`{key}` must be text, not {told}", f"write for example {example}"
    yield from _plugins(configuration)
    yield from _placeholders(configuration)


def text_of(configuration: Mapping[str, object]) -> str:
    """It as JSON: the same text for the same configuration, whatever the order of its keys."""
    return json.dumps(configuration, indent=1, sort_keys=True) + "\n"


def label(configuration: Mapping[str, object]) -> str:
    """What tells it from others: its name, and the first digits of the hash of its text."""
    name = shown(configuration.get("name")).strip("`")
    digest = hashlib.sha256(text_of(configuration).encode()).hexdigest()
    return f"{name} ({digest[:_DIGITS]})"


def filled(text: str, node: NodeNetwork) -> str:
    """The text of a configuration as one node has it."""
    return Template(text).substitute(
        SUBNET=node.subnet, PODS=node.pods, SERVICES=node.services, NUMBER=node.number
    )


def plugins_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the plugins that it calls, each once, those for addresses too.

    It must be one in which there are no mistakes.
    """
    found: dict[str, None] = {}
    for plugin in configuration["plugins"]:
        found[plugin["type"]] = None
        addresses = plugin.get("ipam")
        if isinstance(addresses, Mapping) and "type" in addresses:
            found[str(addresses["type"])] = None
    return tuple(found)


def configuration_of(deployment: Deployment) -> str:
    """The text of what a deployment on the network `cni` asks for; empty on any other network.

    Raises UnavailableError where it has none there, or one on another network.
    """
    given = deployment.network_options.get(CONFIGURATION)
    if deployment.network != CNI and given is None:
        return ""
    if deployment.network == CNI and isinstance(given, Mapping):
        return text_of(given)
    raise UnavailableError(
        f"the option `{CONFIGURATION}` and the network `{CNI}` go together",
        where=deployment.name,
        hint="dunnage schema study",
    )


def _plugins(configuration: Mapping[str, object]) -> Iterator[Mistake]:
    plugins = configuration.get("plugins")
    example = "write for example `plugins: [{type: ptp, …}]`"
    if "plugins" not in configuration:
        alone = "type" in configuration
        advice = "put this plugin into a list: `plugins: [{type: …}]`" if alone else example
        yield ("plugins",), "`plugins` is missing in the CNI configuration", advice
    elif not isinstance(plugins, list):
        yield ("plugins",), f"`plugins` must be a list, not {_kind(plugins)}", example
    elif not plugins:
        yield ("plugins",), "`plugins` is empty", example
    else:
        for number, plugin in enumerate(plugins):
            if not isinstance(plugin, Mapping) or not isinstance(plugin.get("type"), str):
                what = f"plugin number {number + 1} has no `type` that is text"
                yield ("plugins", number), what, "name the plugin's program: `{type: ptp, …}`"


def _placeholders(configuration: Mapping[str, object]) -> Iterator[Mistake]:
    known = ", ".join(f"`${name}`" for name in PLACEHOLDERS)
    advice = f"known: {known}; write `$$` for the sign itself"
    for keys, text in _texts(configuration):
        template = Template(text)
        if not template.is_valid() or not {*PLACEHOLDERS}.issuperset(template.get_identifiers()):
            key = next(each for each in reversed(keys) if isinstance(each, str))
            yield keys, f"{shown(key)} has a `$` that begins no placeholder", advice


def _kind(value: object) -> str:
    """What a value is, without telling it."""
    return "text" if isinstance(value, str) else shown(value)


def _texts(value: object, keys: Keys = ()) -> Iterator[tuple[Keys, str]]:
    """Every text in it, keys too, with where it is."""
    if isinstance(value, str):
        yield keys, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield (*keys, key), key
            yield from _texts(each, (*keys, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, (*keys, number))
