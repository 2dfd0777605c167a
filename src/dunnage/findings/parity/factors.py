"""Which factors two deployments differ in: what a study means them to differ in."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from dunnage.findings.parity.unequal import leaves, unequal
from dunnage.model.deployment import Deployment
from dunnage.model.parity import Factor

_BESIDE = frozenset({"name", "title", "twin_of", "parts", "guess"})
"""What a deployment and its parts are called, and guesses of their time, are no factors."""
IMAGE = "image"
"""Stands among the factors where containers run an image that a user named: other software."""


def factors(a: Deployment, b: Deployment) -> tuple[Factor, ...]:
    """Factors in which two deployments differ, `a` as the baseline; twins have none."""
    return tuple(
        Factor(key=key, baseline=_text(one), deployment=_text(other))
        for key, (one, other) in unequal(_flat(a), _flat(b))
    )


def keys(differing: Iterable[Factor]) -> frozenset[str]:
    """What `factors` are of: `limits.cpus` is of the factor `limits`."""
    return frozenset(factor.name for factor in differing)


def declared(a: Deployment, b: Deployment) -> frozenset[str]:
    """Keys of the factors of two deployments, and the image that a user named for one of them."""
    named = keys(factors(a, b))
    image = a.platform != b.platform and (a.database.image or b.database.image)
    return named | {IMAGE} if image else named


def _flat(deployment: Deployment) -> dict[str, object]:
    known = deployment.model_dump(mode="json", exclude=set(_BESIDE))
    return {key: value for key, value in leaves(known) if value != {}}


def _text(value: object) -> str | None:
    return None if value is None else word(value)


def word(value: object) -> str:
    """A value as a difference shows it."""
    if value is None:
        return "-"
    return str(value.value if isinstance(value, Enum) else value)
