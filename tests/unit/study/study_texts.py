"""A study that is good, and what is told of it when it was changed."""

from __future__ import annotations

import pytest

from dunnage.errors import Problem, StudyError
from dunnage.study.read import read_study
from offers import OFFER

GOOD = """\
dunnage: 1
name: good
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  docker: {platform: docker, network: bridge}
workloads: [A, C]
load: {threads: [32], duration: 4s}
twin: native
questions:
  Q1: {baseline: native, against: [docker, native-twin], metric: service.p95}
"""


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(StudyError) as raised:
        read_study(text, "study.yaml", OFFER)
    return raised.value.problems


def only_problem(text: str) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)
