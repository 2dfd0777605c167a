"""A made-up study, its plan and its stays."""

from __future__ import annotations

import random
from typing import Any

from dunnage.model.choices import ClientPlace, Peers, Phase, Storage
from dunnage.model.deployment import Deployment, PartNames, Workload
from dunnage.model.level import Level
from dunnage.model.plan import Block, Plan, RunPlan, Skipped, StayPlan
from dunnage.model.process import ProcessFacts
from dunnage.model.record import StayRecord
from dunnage.model.study import DatabaseSpec, Limits, Study
from report_paths import paths

PHRASES = {
    "host": "with host networking",
    "bridge": "with a bridge network",
    "user-defined": "with a user-defined network",
}

EFFECTS = {
    "native": (0.0, 0.0, 0.0, 0.004),
    "native-twin": (0.001, -0.002, 0.0, 0.004),
    "docker-host": (-0.004, 0.005, 0.011, 0.006),
    "docker-bridge": (-0.11, 0.132, 0.221, 0.008),
    "docker-tuned": (0.064, -0.05, -0.041, 0.007),
    "docker-noisy": (-0.025, 0.03, 0.028, 0.021),
}
"""Deployment → true effect on each headline metric, and the noise of a run."""


def study_of(blocks: int) -> tuple[Study, str]:
    source = f"""dunnage: 1
name: what-docker-costs-redis
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}}}
database: {{kind: redis, topology: primary-replicas, members: 3}}
deployments:
  native: {{platform: native}}
  docker-host: {{platform: docker, network: host}}
  docker-bridge: {{platform: docker, network: bridge, endpoint: host-port}}
workloads: [A, C]
load: {{threads: [32], duration: 4s}}
blocks: {blocks}
twin: native
"""
    variants = {
        "native": {"platform": "native"},
        "docker-host": {"platform": "docker", "network": "host"},
        "docker-bridge": {"platform": "docker", "network": "bridge", "endpoint": "host-port"},
        "docker-tuned": {"platform": "docker", "network": "user-defined"},
        "docker-noisy": {"platform": "docker", "network": "bridge", "storage": "container"},
    }
    study = Study.model_validate(
        {
            "dunnage": 1,
            "name": "what-docker-costs-redis",
            "testbed": {"kind": "namespace"},
            "database": {"kind": "redis", "topology": "primary-replicas", "members": 3},
            "deployments": variants,
            "workloads": ["A", "C"],
            "load": {"threads": [32], "duration": 4.0},
            "blocks": blocks,
            "twin": "native",
            "questions": {
                "docker": {
                    "baseline": "native",
                    "against": ["docker-host", "docker-bridge", "docker-tuned", "docker-noisy"],
                    "metric": "throughput",
                    "tolerance": 0.03,
                },
                "tail": {
                    "baseline": "native",
                    "against": ["docker-bridge"],
                    "metric": "service.p95",
                    "tolerance": 0.05,
                },
            },
        }
    )
    return study, source


def plan_of(study: Study) -> Plan:
    dice = random.Random(11)
    names = list(EFFECTS)
    blocks: list[Block] = []
    position = 0
    for index in range(1, study.blocks + 1):
        dice.shuffle(names)
        stays = []
        for name in names:
            runs = []
            for workload in study.workloads:
                run = RunPlan(
                    id=f"b{index:02d}-{name}-{workload.name}-t32",
                    block=index,
                    deployment=name,
                    workload=workload_of(workload.name),
                    level=Level(threads=32),
                    repeat=1,
                    position=position,
                    seed=position,
                )
                runs.append(run)
                position += 1
            stay = f"b{index:02d}-{name}"
            stays.append(StayPlan(id=stay, block=index, deployment=name, runs=tuple(runs)))
        blocks.append(Block(index=index, stays=tuple(stays)))
    return Plan(
        study=study.name,
        seed=1,
        deployments=tuple(_deployment(name, study.database) for name in EFFECTS),
        blocks=tuple(blocks),
        skipped=(Skipped(deployment="swarm", reason="IPVS is missing in this kernel"),),
    )


def _deployment(name: str, database: DatabaseSpec) -> Deployment:
    network = {
        "docker-host": "host",
        "docker-bridge": "bridge",
        "docker-tuned": "user-defined",
        "docker-noisy": "bridge",
    }.get(name, "host")
    titles = {
        "docker-host": "HostDockerHostNetwork",
        "docker-bridge": "HostDockerBridgeHostPort",
        "docker-tuned": "HostDockerContainerDns",
        "docker-noisy": "HostDockerBridgeHostPort",
    }
    return Deployment(
        name=name,
        title=titles.get(name, "HostNative"),
        twin_of="native" if name == "native-twin" else None,
        platform="docker" if name.startswith("docker") else "native",
        network=network,
        endpoint="host-port",
        storage=Storage.CONTAINER if name == "docker-noisy" else Storage.BIND,
        peers=Peers.ENDPOINT,
        client=ClientPlace.HOST,
        hosts="db",
        limits=Limits(),
        slowdown=0.0,
        database=database,
        parts=PartNames(
            platform="Docker" if name.startswith("docker") else "",
            network=PHRASES[network] if name.startswith("docker") else "",
            database="Redis",
        ),
    )


def workload_of(name: str) -> Workload:
    core: Any = name
    return Workload(name=name, core=core, phase=Phase.RUN, records=10_000)


def stays_of(plan: Plan) -> tuple[StayRecord, ...]:
    return tuple(
        StayRecord(
            stay=stay.id,
            block=stay.block,
            deployment=stay.deployment,
            started=1_700_000_000.0 + 60 * number,
            ready=1_700_000_000.8 + 60 * number,
            stages={"members": 0.6, "replicate": 0.2},
            facts={"version": "7.0.15", "role": "master", "connected_slaves": 2},
            processes=(
                ProcessFacts(
                    member="redis-1",
                    role="primary",
                    executable="/opt/redis/bin/redis-server",
                    executable_sha256="0" * 64,
                    mapped={},
                    argv=("/opt/redis/bin/redis-server", "/etc/redis.conf"),
                    files={"/etc/redis.conf": 'save ""\nappendonly no\n'},
                    limits={"memory.max": "2147483648", "cpuset": "1-3"},
                    data={"type": "ext4", "options": "rw,relatime"},
                    kernel={"release": "6.1.0-37-amd64"},
                    user="redis",
                ),
            ),
            endpoint=("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"),
            network={"driver": stay.deployment, "mtu": "1500"},
            paths=paths(stay.deployment),
        )
        for number, stay in enumerate(stay for block in plan.blocks for stay in block.stays)
    )
