"""Which factors two deployments differ in: what a study means them to differ in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TypeVar

from dunnage.model.cni import label
from dunnage.model.deployment import Deployment
from dunnage.model.parity import Factor

T = TypeVar("T")
_BESIDE = frozenset({"name", "title", "twin_of", "parts", "guess"})
"""What a deployment and its parts are called, and guesses of their time, are no factors."""
_OPTIONS = "network_options."
"""How keys of options of a network begin, whatever is above them."""
IMAGE = "image"
"""Stands among the factors where containers run an image that a user named: other software."""


def factors(a: Deployment, b: Deployment) -> tuple[Factor, ...]:
    """Factors in which two deployments differ, `a` as the baseline; twins have none."""
    return tuple(
        Factor(key=key, baseline=_text(one), deployment=_text(other))
        for key, (one, other) in unequal(_flat(a), _flat(b))
    )


def declared(a: Deployment, b: Deployment) -> frozenset[str]:
    """Keys of the factors of two deployments, and the image that a user named for one of them."""
    named = keys(factors(a, b))
    image = a.platform != b.platform and (a.database.image or b.database.image)
    return named | {IMAGE} if image else named


def keys(differing: Iterable[Factor]) -> frozenset[str]:
    """What `factors` are of: `limits.cpus` is of the factor `limits`."""
    return frozenset(factor.name for factor in differing)


def unequal(
    a: Mapping[str, T], b: Mapping[str, T]
) -> Iterator[tuple[str, tuple[T | None, T | None]]]:
    """Every key, in order, whose values differ, with both; None where a side lacks the key."""
    for key in sorted(a.keys() | b.keys()):
        if a.get(key) != b.get(key):
            yield key, (a.get(key), b.get(key))


def leaves(
    tree: Mapping[str, object], above: str = "", *, labelled: bool = False
) -> Iterator[tuple[str, object]]:
    """Everything in a tree of mappings under its full key, such as `limits.cpus`.

    A mapping that is empty is a leaf. With `labelled`, a configuration among the options of a
    network is one too, by its label: it is one factor, whatever is in it.
    """
    for key, item in tree.items():
        if not isinstance(item, Mapping) or not item:
            yield f"{above}{key}", item
        elif labelled and above.endswith(_OPTIONS):
            yield f"{above}{key}", label(item)
        else:
            yield from leaves(item, f"{above}{key}.", labelled=labelled)


def word(value: object) -> str:
    """A value as a difference shows it."""
    if value is None:
        return "-"
    return str(value.value if isinstance(value, Enum) else value)


def _text(value: object) -> str | None:
    return None if value is None else word(value)


def _flat(deployment: Deployment) -> dict[str, object]:
    known = deployment.model_dump(mode="json", exclude=set(_BESIDE))
    return {key: value for key, value in leaves(known, labelled=True) if value != {}}
