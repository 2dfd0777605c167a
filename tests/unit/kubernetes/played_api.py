"""An API server that is played, and a stay's namespace and pods on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lightkube import Client, KubeConfig, SingleConfig
from lightkube.config.models import User

from dunnage.clusters.execute import Place, execute
from dunnage.contracts.host import Completed
from dunnage.contracts.software import Tree
from dunnage.hosts.fake.host import FakeHost
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.layout import Software
from dunnage.model.study import TestbedSpec
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.stay_names import StayNames

STAY = StayNames("b1-x-1")
Answer = Callable[[httpx2.Request], httpx2.Response]
NAMESPACES = "/api/v1/namespaces"
POD = f"{NAMESPACES}/dunnage-b1-x-1/pods/redis-1-0"
VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = f"{NAMESPACES}/dunnage-b1-x-1/persistentvolumeclaims"
PLACE = Place("n", "p", "member")


def status(code: int, message: str = "no") -> httpx2.Response:
    told = {"kind": "Status", "status": "Failure", "code": code, "message": message}
    return httpx2.Response(code, json=told)


def opened(answer: Answer) -> Namespace:
    """The stay's namespace of an API that answers so."""
    server = KubeConfig.from_server("http://cluster").get()
    assert isinstance(server, SingleConfig)
    config = server._replace(user=User())
    transport = httpx2.MockTransport(answer)
    client = Client(config, transport=transport, trust_env=False)
    session = httpx2.Client(base_url="http://cluster", transport=transport)
    return Namespace(client, session, STAY, lambda words: f"kubectl --context theirs {words}")


def begun(answer: Answer) -> Namespace:
    """The same, once it was made, of which the API itself is not told."""

    def made(request: httpx2.Request) -> httpx2.Response:
        asked = f"{request.method} {request.url.path}"
        return MADE if asked == f"POST {NAMESPACES}" else answer(request)

    there = opened(made)
    there.begin()
    return there


class Api:
    """Answers by method and path; counts what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, list[httpx2.Response]] = {}

    def on(self, asked: str, *answers: httpx2.Response) -> Api:
        """Answer a question, the last one for ever."""
        self.answers[asked] = list(answers)
        return self

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        asked = f"{request.method} {request.url.path}"
        self.asked.append(asked)
        answers = self.answers.get(asked)
        if answers is None:
            return status(404)
        return answers.pop(0) if len(answers) > 1 else answers[0]


def ok(**body: Any) -> httpx2.Response:
    return httpx2.Response(200, json=body)


def a_pod(**told: Any) -> httpx2.Response:
    return ok(apiVersion="v1", kind="Pod", metadata={"name": "redis-1-0", "uid": "u"}, status=told)


MADE = ok(apiVersion="v1", kind="Namespace", metadata={"name": "dunnage-b1-x-1"})


VOLUME: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "dunnage-b1-x-1-redis-1"},
}


@dataclass
class Ticking:
    """Time of which every look takes a second."""

    time: float = 0.0

    def monotonic(self) -> float:
        self.time += 1
        return self.time


def waiting(reason: str, name: str = "member") -> dict[str, Any]:
    known = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    return {**known, "state": {"waiting": {"reason": reason, "message": "why"}}}


def asked(url: str, stdin: str = "", timeout: float = 5.0) -> Completed:
    with httpx2.Client(base_url=url, trust_env=False) as session:
        argv = ["redis-cli", "PING"]
        return execute(session, PLACE, argv, stdin=stdin.encode(), timeout=timeout)


def refused(code: int) -> httpx2.HTTPStatusError:
    request = httpx2.Request("GET", "http://cluster")
    return httpx2.HTTPStatusError("no", request=request, response=status(code))


def tree(archive: Path, image: str | None = None) -> Tree:
    software = Software("redis", "7.0", image)
    return Tree(software, archive, "/tree", archive, "dunnage/redis:1", {})


@contextmanager
def host_that(
    monkeypatch: pytest.MonkeyPatch, *answers: Completed
) -> Iterator[tuple[FakeHost, list[str]]]:
    """A host whose commands are answered in order, and what it was asked."""
    ran: list[str] = []
    left = list(answers)

    def run(_self: FakeHost, argv: list[str], **_: object) -> Completed:
        ran.append(" ".join(argv))
        return left.pop(0)

    monkeypatch.setattr(FakeHost, "run", run)
    with open_fake(TestbedSpec(kind="fake"), name="images") as testbed:
        host = testbed.group("db")[0]
        assert isinstance(host, FakeHost)
        yield host, ran
