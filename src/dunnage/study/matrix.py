"""A study's deployments, workloads and levels with every default filled in. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from dunnage.model.deployment import Deployment, Guess, PartNames, Workload
from dunnage.model.level import Level
from dunnage.model.load_spec import LoadSpec
from dunnage.model.offer import DatabaseOffer, Offer, PlatformOffer
from dunnage.model.plan import Plan
from dunnage.model.study import DatabaseSpec, DeploymentSpec, Study, WorkloadSpec
from dunnage.model.value import Scalar
from dunnage.study.keys import scalars

TWIN_SUFFIX = "-twin"

FACTORS = tuple(scalars(DeploymentSpec))
"""Keys of a deployment that may have several values; a dot leads into a mapping."""


@dataclass(frozen=True)
class Variant:
    """One combination of a deployment with the values of all factors, not yet resolved."""

    name: str
    origin: str
    """The deployment of the study file that it was made from."""
    keys: Mapping[str, object]
    """The deployment as the study file could have said it."""


def variants(
    written: Mapping[str, Mapping[str, object]], factors: Mapping[str, tuple[Scalar, ...]]
) -> tuple[Variant, ...]:
    """Multiply deployments, as the file says them, by every combination of factor values.

    Names grow by the last word of the factor and its value: `docker-storage-volume`.
    """
    return tuple(
        Variant(
            "-".join((name, *(_word(key, value) for key, value in chosen))),
            name,
            _with(keys, chosen),
        )
        for name, keys in written.items()
        for chosen in product(*([(key, value) for value in factors[key]] for key in factors))
    )


def _word(key: str, value: Scalar) -> str:
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{key.rpartition('.')[2]}-{re.sub(r'[^A-Za-z0-9_.]+', '-', said).strip('-')}"


def _with(
    keys: Mapping[str, object], chosen: tuple[tuple[str, Scalar], ...]
) -> Mapping[str, object]:
    for path, value in chosen:
        keys = _set(keys, path.split("."), value)
    return keys


def _set(keys: Mapping[str, object], path: list[str], value: Scalar) -> Mapping[str, object]:
    if len(path) == 1:
        return {**keys, path[0]: value}
    inner = keys.get(path[0], {})
    inner = inner if isinstance(inner, Mapping) else {}
    return {**keys, path[0]: _set(inner, path[1:], value)}


def merged_database(study: DatabaseSpec, override: Mapping[str, object]) -> DatabaseSpec:
    """Return the study's database with a deployment's own keys over it.

    Another kind of database inherits nothing but the number of members. Raises
    pydantic.ValidationError for keys that do not fit; `read_study` has excluded them.
    """
    own = study.model_dump(mode="json", exclude_unset=True)
    if override.get("kind", study.kind) != study.kind:
        own = {"members": study.members}
    combined = {**own, **override}
    for key in ("consistency", "settings"):
        above, below = override.get(key), own.get(key)
        if isinstance(above, Mapping) and isinstance(below, Mapping):
            combined[key] = {**below, **above}
    return DatabaseSpec.model_validate(combined)


def deployments(study: Study, offer: Offer) -> tuple[Deployment, ...]:
    """Return every deployment of a study, in its order, a twin behind its original.

    The study must have been read against the same offer: KeyError otherwise.
    """
    written = {
        name: spec.model_dump(mode="json", exclude_unset=True)
        for name, spec in study.deployments.items()
    }
    resolved: list[Deployment] = []
    for variant in variants(written, study.factors):
        spec = DeploymentSpec.model_validate(variant.keys)
        original = deployment(variant.name, spec, study, offer)
        resolved.append(original)
        if original.name == study.twin:
            twin = {"name": original.name + TWIN_SUFFIX, "twin_of": original.name}
            resolved.append(original.model_copy(update=twin))
    return tuple(resolved)


def named(plan: Plan, offer: Offer) -> Plan:
    """The plan with names and guesses of its parts, where an older Dunnage made it without."""
    resolved = tuple(_named(each, offer) for each in plan.deployments)
    calibration = plan.calibration
    if calibration is not None:
        found = _named(calibration.deployment, offer)
        calibration = calibration.model_copy(update={"deployment": found})
    return plan.model_copy(update={"deployments": resolved, "calibration": calibration})


def _named(found: Deployment, offer: Offer) -> Deployment:
    platform = offer.platforms.get(found.platform)
    database = offer.databases.get(found.database.kind)
    if found.guess != Guess() or platform is None or database is None:
        return found
    if found.network not in platform.networks:
        return found
    return found.model_copy(update=_of_parts(platform, found.network, database))


def _of_parts(platform: PlatformOffer, network: str, database: DatabaseOffer) -> dict[str, object]:
    """The names that the parts of a deployment bring, and guesses of their time."""
    phrase = platform.networks[network].phrase
    up = platform.stay_seconds + database.guess.up
    return {
        "parts": PartNames(platform=platform.name, network=phrase, database=database.name),
        "guess": database.guess.model_copy(update={"up": up}),
    }


def deployment(name: str, spec: DeploymentSpec, study: Study, offer: Offer) -> Deployment:
    """Fill in what one deployment leaves to the study, its platform and its database."""
    platform = offer.platforms[spec.platform]
    database = offer.databases[study.database.kind]
    network = spec.network or next(iter(platform.networks))
    endpoint = spec.endpoint or next(iter(platform.networks[network].endpoints))
    return Deployment.model_validate(
        {
            **dict(spec),
            "name": name,
            "title": platform.title_of(offer.testbeds[study.testbed.kind].title, network, endpoint),
            "network": network,
            "endpoint": endpoint,
            "database": with_defaults(merged_database(study.database, spec.database), offer),
            **_of_parts(platform, network, database),
        }
    )


def with_defaults(spec: DatabaseSpec, offer: Offer) -> DatabaseSpec:
    """Fill in the version and topology that a database has by default."""
    database = offer.databases[spec.kind]
    return spec.model_copy(
        update={
            "version": spec.version or database.versions[0],
            "topology": spec.topology or database.topologies[0],
        }
    )


def workload(spec: WorkloadSpec, study: Study) -> Workload:
    """Fill in the number of records that a workload leaves to the study."""
    return Workload(
        name=spec.name, core=spec.core, phase=spec.phase, records=spec.records or study.records
    )


def levels(load: LoadSpec, of: str | None = None) -> tuple[Level, ...]:
    """Return the load settings of a study, as it orders them; shares are of deployment `of`."""
    return (
        *(Level(threads=threads) for threads in load.threads),
        *(
            Level(rate=rate.number) if rate.share is None else Level(share=rate.share, of=of)
            for rate in load.rate
        ),
        *((Level(search=load.search),) if load.search is not None else ()),
    )


def shares(load: LoadSpec) -> bool:
    """Whether some rate is a share of the baseline's capacity."""
    return any(rate.share is not None for rate in load.rate)


def baseline(study: Study) -> str | None:
    """Return the deployment to compare with; rates are shares of its capacity.

    The first question's baseline, else the twin's original. The baseline of a question may be the
    twin, which then means its original. None where the study has neither.
    """
    asked = next((question.baseline for question in study.questions.values()), study.twin)
    is_twin = study.twin is not None and asked == study.twin + TWIN_SUFFIX
    return study.twin if is_twin else asked
