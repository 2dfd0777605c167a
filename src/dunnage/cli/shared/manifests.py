"""The Kubernetes objects of a study, as YAML or JSON, with what is not known yet."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from dunnage import catalog
from dunnage.cli.shared.terminal import Format, out, say, show_json, typed
from dunnage.errors import UsageError
from dunnage.hosts.namespace.planned import LAB
from dunnage.hosts.nodes.planned import TESTBED
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan, StayPlan
from dunnage.model.study import Study
from dunnage.platforms.kubernetes.foreseen import ForeseenObject
from dunnage.runner.substrates import testbed_of
from dunnage.secrets.files import masked_data
from dunnage.software.foreseen import HASH
from dunnage.study.matrix import deployments
from dunnage.wording.terms import listed

_STANDS_FOR = {
    catalog.STAY_NUMBER: "eight hexadecimal digits of each stay's own, in names and labels",
    LAB: "the name of the lab, which it is given when it is made",
    TESTBED: "what the testbed is called in the cluster, which is drawn when it is opened",
    HASH: "what software is named by, once it was made",
}
_AGENTS = "The testbed: what it creates before the first stay, in this order."
_ELSE = "Where the cluster refuses privileged pods, objects are as `--restricted` shows them."
_CONFINED = "Objects are as they are where the cluster refuses privileged pods."
_PLAIN = re.compile(r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z/][\w./:-]*(?<!:)")
"""Texts that no reader of YAML takes for anything else; `kubectl` reads YAML 1.1."""


def show_manifests(
    study: Study, plan: Plan, format_: Format, path: Path, *, restricted: bool
) -> None:
    """Write the objects of one stay of each deployment on Kubernetes; `restricted` are those of a
    cluster that refuses privileged pods.

    Raises UsageError where there is none, or a lab's Kubernetes is asked for that.
    """
    chosen = [each for each in plan.deployments if catalog.family(each) == "kubernetes"]
    if not chosen:
        raise UsageError(
            "no deployment of this plan is on Kubernetes, so it creates no objects there",
            where=str(path),
            hint=typed("plan", path),
        )
    hosts = testbed_of(study, deployments(study, catalog.OFFER))
    if restricted and catalog.OFFER.testbeds[hosts.kind].here:
        raise UsageError(
            "the Kubernetes of a lab takes privileged pods: `--restricted` is for one that exists",
            where=str(path),
            hint=typed("plan", path, "--manifests"),
        )
    found = [
        (each, stay, catalog.foreseen_objects(each, hosts, stay, confined=restricted))
        for each in chosen
        for stay in [_first_stay(plan, each)]
    ]
    agents = catalog.foreseen_agents(hosts, study.name, confined=restricted)
    if format_ is Format.JSON:
        first = [_plain("", "", agents)] if agents else []
        show_json(first + [_plain(each.name, stay.id, made) for each, stay, made in found])
    else:
        which = _CONFINED if restricted else _ELSE
        texts = [_yaml(f"{_AGENTS} {which}", agents)] if agents else []
        out.write("\n".join(texts + [_yaml(_of(*each), each[2]) for each in found]))
    if others := [each.name for each in plan.deployments if each not in chosen]:
        say(f"not on Kubernetes: {listed(others)}")


def _first_stay(plan: Plan, deployment: Deployment) -> StayPlan:
    stays = (stay for block in plan.blocks for stay in block.stays)
    return next(stay for stay in stays if stay.deployment == deployment.name)


def _plain(deployment: str, stay: str, objects: Sequence[ForeseenObject]) -> dict[str, Any]:
    """For programs; what the testbed creates before any stay is of no deployment."""
    made = [
        {
            "object": each.manifest,
            "host": each.host,
            "needs": each.needs,
            "carried": each.carried,
            "unknown": [{"at": where, "why": why} for where, why in each.unknown.items()],
        }
        for each in objects
    ]
    return {
        "deployment": deployment,
        "stay": stay,
        "stands_for": _standing(objects),
        "objects": made,
    }


def _standing(objects: Sequence[ForeseenObject]) -> dict[str, str]:
    """The words in these objects that stand for others, and what for."""
    written = "".join(f"{each.manifest} {each.needs} {each.carried}" for each in objects)
    return {word: meaning for word, meaning in _STANDS_FOR.items() if word in written}


def _of(deployment: Deployment, stay: StayPlan, _: Sequence[ForeseenObject]) -> str:
    return f"Deployment {deployment.name}: what its stay {stay.id} creates, in this order."


def _yaml(title: str, objects: Sequence[ForeseenObject]) -> str:
    lines = [title]
    lines += [f"{word} stands for {meaning}." for word, meaning in _standing(objects).items()]
    head = "".join(f"# {line}\n" for line in lines)
    return head + "".join(f"---\n{_needed(each)}{_document(each)}" for each in objects)


def _needed(each: ForeseenObject) -> str:
    lines = [f"# put on {each.host} before: {need}\n" for need in each.needs]
    lines += [f"# written into its pod before its member starts: {one}\n" for one in each.carried]
    return "".join(lines)


def _document(each: ForeseenObject) -> str:
    node = _node(masked_data(each.manifest))
    for where, why in each.unknown.items():
        above = node
        for step in where[:-1]:
            above = above[step]
        above.yaml_add_eol_comment(f"unknown yet: {why}", where[-1], column=0)
    yaml = YAML()
    yaml.width = sys.maxsize  # a comment ends its line
    stream = io.StringIO()
    yaml.dump(node, stream)
    return stream.getvalue()


def _node(value: Any) -> Any:
    """The same with places for comments, and with quotes round what could be misread."""
    if isinstance(value, dict):
        return CommentedMap({key: _node(below) for key, below in value.items()})
    if isinstance(value, list | tuple):
        return CommentedSeq(map(_node, value))
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        return DoubleQuotedScalarString(value)
    return value
