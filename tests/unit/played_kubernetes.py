"""A Kubernetes that takes every object, and hosts on which all that is asked for is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import Client, KubeConfig, SingleConfig
from lightkube.config.models import User

from dunnage.contracts.database import Database
from dunnage.contracts.host import Completed, Host
from dunnage.contracts.kubernetes import ApiServer, ContainerRuntime
from dunnage.contracts.software import Tree
from dunnage.databases.cassandra.database import Cassandra
from dunnage.databases.redis.database import Redis
from dunnage.hosts.fake.host import FakeHost
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Software
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.platforms import hosted_members
from dunnage.platforms.kubernetes import platform as made_here
from dunnage.platforms.kubernetes.addresses import Served

REDIS = DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=3)
RING = DatabaseSpec(kind="cassandra", version="5.0", members=2)
DATABASES: Mapping[str, Database] = {"redis": Redis(), "cassandra": Cassandra()}
HOSTS = TestbedSpec(kind="fake", hosts={"db": 2, "client": 2})
"""Three members on two hosts: two of them share one, and must not have the same ports."""


def deployed(network: str, endpoint: str, **changes: Any) -> Deployment:
    known: dict[str, Any] = {
        "name": "d",
        "title": "D",
        "platform": "kubernetes",
        "network": network,
        "endpoint": endpoint,
        "storage": Storage.BIND,
        "peers": Peers.ENDPOINT,
        "client": ClientPlace.HOST,
        "hosts": "db",
        "limits": Limits(memory=2**28, cpus=0.5),
        "slowdown": 0.0,
        "database": REDIS,
    }
    return Deployment(**(known | changes))


class Trees:
    """Trees that are nowhere."""

    def tree(self, software: Software) -> Tree:
        name = f"{software.name}-{software.version}"
        return Tree(software, Path(name), f"/trees/{name}", Path(name), f"dunnage/{name}:1", {})


class Nodes:
    """A Kubernetes of all hosts."""

    api = ApiServer(Path("nowhere"))

    def asking(self, words: str) -> str:
        return f"kubectl --context theirs {words}"

    def node(self, host: str) -> str:
        return f"node-{host}"

    def runtime(self, host: str) -> ContainerRuntime:
        return ContainerRuntime((f"ctr-{host}",), {})


def substrate() -> Any:
    return Nodes()


class Cluster:
    """Takes every object and starts every pod; what it was asked and given, and what it chose."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.given: list[dict[str, Any]] = []
        self.chosen: dict[str, Served] = {}
        self.phases = {"persistentvolumes": "Available", "persistentvolumeclaims": "Bound"}

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        self.asked.append(f"{request.method} {path}")
        if request.method == "DELETE":
            return httpx2.Response(200, json={"kind": "Status"})
        if request.method == "GET":
            return self._seen(path)
        given = json.loads(request.content)
        self.given.append(json.loads(request.content))
        if given["kind"] == "Service" and "ports" in given["spec"]:
            self._choose(given["spec"], given["metadata"]["labels"]["dunnage.member"])
        return httpx2.Response(201, json=given)

    def _seen(self, path: str) -> httpx2.Response:
        if f"DELETE {path}" in self.asked:
            return httpx2.Response(404, json={"kind": "Status", "code": 404})
        *_, kind, name = path.split("/")
        if name in self.phases:  # all of them: none is left
            return httpx2.Response(200, json={"items": [], "metadata": {}})
        if name == "services":
            made = [each for each in self.given if each["kind"] == "Service"]
            return httpx2.Response(200, json={"items": made, "metadata": {}})
        return httpx2.Response(200, json=self._stored(kind, name) or self._pod(name))

    def _choose(self, spec: dict[str, Any], member: str) -> None:
        number = len(self.chosen) + 1
        spec["clusterIP"] = f"10.68.0.{number}"
        for at, port in enumerate(spec["ports"]):
            port["nodePort"] = 31000 + 10 * number + at
        ports = {each["port"]: each["nodePort"] for each in spec["ports"]}
        self.chosen[member] = Served(spec["clusterIP"], ports)

    def _stored(self, kind: str, name: str) -> dict[str, Any]:
        if kind not in self.phases:
            return {}
        return {"metadata": {"name": name}, "status": {"phase": self.phases[kind]}}

    def _pod(self, name: str) -> dict[str, Any]:
        known = {"name": "member", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
        running = {**known, "containerID": f"containerd://{name}", "state": {"running": {}}}
        status = {"podIP": "10.67.0.9", "containerStatuses": [running]}
        metadata = {"name": name, "uid": name}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status}


def played(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """What the platform speaks to, with hosts on which all that it asks for is there."""
    cluster = Cluster()
    server = KubeConfig.from_server("http://cluster").get()
    assert isinstance(server, SingleConfig)
    transport = httpx2.MockTransport(cluster)
    config = server._replace(user=User())

    def connect(_: ApiServer) -> Client:
        return Client(config, transport=transport, trust_env=False)

    def one_by_one(actions: Iterable[Callable[[], None]], _: object = None) -> None:
        for action in actions:
            action()

    monkeypatch.setattr(made_here, "connect", connect)
    url = "http://cluster"
    plain = partial(httpx2.Client, base_url=url, transport=transport)
    monkeypatch.setattr(made_here, "session", lambda _: plain())
    monkeypatch.setattr(made_here, "address_in", lambda *_: "10.67.0.9")
    monkeypatch.setattr(FakeHost, "run", answered)
    monkeypatch.setattr(FakeHost, "router", Floating(), raising=False)
    for module in (made_here, hosted_members):
        monkeypatch.setattr(module, "side_by_side", one_by_one)
    for name in ("await_ready", "check_free"):
        monkeypatch.setattr(hosted_members, name, lambda *_: None)
    return cluster


class Floating:
    """Translates."""

    name, environment = "switch", dict[str, str]()

    def floating(self, host: str) -> str:
        return f"floating-{host}"

    def run(self, *_: object, **__: object) -> Completed:
        raise AssertionError("nobody asks it")


def answered(_: Host, argv: list[str], **__: object) -> Completed:
    """All images are there, and every container has a first process."""
    if "images" in argv:
        names = ("redis-7.0", "cassandra-5.0", "engine-built")
        return Completed(0, "".join(f"docker.io/dunnage/{each}:1\n" for each in names), "")
    if argv[-2:-1] == ["find"]:
        return Completed(0, f"77\n0::/pods/{argv[-1]}\n", "")
    return Completed(0, "", "")
