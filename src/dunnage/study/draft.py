"""The usable parts of a study file that may be malformed elsewhere.

One mistake must not hide the others, so the rules check every part that can be understood.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dunnage.model.choices import Data
from dunnage.model.load_spec import LoadSpec
from dunnage.model.study import (
    DatabaseSpec,
    DeploymentSpec,
    QuestionSpec,
    SamplerSpec,
    Study,
    SubstrateSpec,
    TestbedSpec,
    WorkloadSpec,
    spelled_out,
)
from dunnage.model.value import Scalar
from dunnage.study.document import Path, holds
from dunnage.study.grammar import Finding, findings

_Key = TypeVar("_Key")
_Spec = TypeVar("_Spec", bound=BaseModel)


@dataclass(frozen=True)
class Draft:
    """What could be understood. None, or an absent name, is a part with problems of its own."""

    testbed: TestbedSpec | None
    substrates: Mapping[str, SubstrateSpec]
    """Those of the families that are specified and can be understood."""
    database: DatabaseSpec | None
    deployments: Mapping[str, Mapping[str, object]]
    """Usable keys of every usable deployment, as the file says them."""
    broken: tuple[str, ...]
    """Deployments that are there but cannot be understood."""
    factors: Mapping[str, tuple[Scalar, ...]]
    workloads: Mapping[int, WorkloadSpec]
    records: int
    data: Data
    load: LoadSpec | None
    repetitions: int
    """Blocks times repeats."""
    questions: Mapping[str, QuestionSpec]
    twin: str | None
    generator: str | None
    sampler: SamplerSpec | None
    keys: frozenset[str]
    """The top-level keys of the file."""
    wrong: frozenset[Path]
    """Where the shape is wrong already."""
    stored: bool = False
    """It is of a result: bounds of today do not hold for it."""

    @property
    def groups(self) -> Mapping[str, int] | None:
        """Hosts in each group, where all of that can be understood."""
        if self.testbed is None or self.touched("testbed", "hosts"):
            return None
        return self.testbed.hosts

    def touched(self, *path: str | int) -> bool:
        """Whether something at or below a place is wrong, so that less can be said of it."""
        return any(place[: len(path)] == path for place in self.wrong)

    def place(self, origin: str, *keys: str | int) -> Path:
        """Where the file says a key of one variant: in its deployment or among the factors."""
        for length in range(len(keys), 0, -1):
            factor = ".".join(str(key) for key in keys[:length])
            if factor in self.factors:
                return ("factors", factor)
        return ("deployments", origin, *keys)


def draft(data: Mapping[str, Any], wrong: list[Finding], *, stored: bool = False) -> Draft:
    """Keep what is usable of `data`, given everything that is wrong with its shape."""
    usable = _without(data, wrong)

    def said(key: str) -> Any:
        return usable.get(key, Study.model_fields[key].default)

    deployments = {
        name: keys
        for name, keys in usable.get("deployments", {}).items()
        if _read(DeploymentSpec, keys) is not None
    }
    workloads = map(spelled_out, usable.get("workloads", []))
    return Draft(
        testbed=_read(TestbedSpec, usable.get("testbed")),
        substrates=_understood(SubstrateSpec, usable.get("substrate", {})),
        database=_read(DatabaseSpec, usable.get("database")),
        deployments=deployments,
        broken=tuple(name for name in _deployments(data) if name not in deployments),
        factors={key: tuple(values) for key, values in usable.get("factors", {}).items()},
        workloads=_understood(WorkloadSpec, dict(enumerate(workloads))),
        records=said("records"),
        data=Data(said("data")),
        load=_read(LoadSpec, usable.get("load")),
        repetitions=said("blocks") * said("repeat"),
        questions=_understood(QuestionSpec, usable.get("questions", {})),
        twin=said("twin"),
        generator=said("generator"),
        sampler=_read(SamplerSpec, usable.get("sampler", {})),
        keys=frozenset(map(str, data)),
        wrong=frozenset(finding.path for finding in wrong),
        stored=stored,
    )


def _without(data: Mapping[str, Any], wrong: list[Finding]) -> dict[str, Any]:
    """Return a copy without the keys that are wrong; a list with a wrong item goes as a whole.

    Workloads are an exception: a wrong one becomes None, so that the others keep their places.
    What is left may lack a key, but none has a wrong type.
    """
    usable = copy.deepcopy(dict(data))
    for path in sorted((finding.path for finding in wrong), key=len, reverse=True):
        inside = 2 if path[:1] == ("workloads",) else 0
        lists = [at for at, step in enumerate(path) if at >= inside and isinstance(step, int)]
        _remove(usable, path[: lists[0]] if lists else path)
    return usable


def _remove(data: Any, path: Path) -> None:
    for step in path[:-1]:
        if not holds(data, step):
            return
        data = data[step]
    last: Any = path[-1] if path else None
    if not holds(data, last):
        return
    if isinstance(data, list):
        data[last] = None
    else:
        del data[last]


def _read(model: type[_Spec], data: object) -> _Spec | None:
    try:
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError:
        return None


def _understood(model: type[_Spec], data: Mapping[_Key, object]) -> dict[_Key, _Spec]:
    """Those of several values that can be understood."""
    read = {key: _read(model, each) for key, each in data.items()}
    return {key: spec for key, spec in read.items() if spec is not None}


def _deployments(data: Mapping[str, Any]) -> Mapping[str, Any]:
    said = data.get("deployments")
    return said if isinstance(said, dict) else {}


def shape(
    data: Mapping[str, Any], model: type[BaseModel], *, stored: bool = False
) -> list[Finding]:
    """Return what is wrong with the shape of a study, keys that override the database included.

    `stored`: it is that of a result, for which bounds of today do not hold.
    """
    wrong = findings(model, data, stored=stored)
    for name, keys in _deployments(data).items():
        override = keys.get("database") if isinstance(keys, dict) else None
        if isinstance(override, dict):
            # `kind` may be left to the study here; any kind will do for judging the shape.
            whole = {"kind": "any", **override}
            wrong += findings(DatabaseSpec, whole, ("deployments", name, "database"))
    return wrong
