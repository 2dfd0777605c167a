"""What a deployment on a Kubernetes takes beside the same objects applied and deleted by `kubectl`.

Both are on the same Kubernetes of a lab, in turns: Dunnage's platform, with Redis formed and ready,
and `kubectl` with the very objects that it made, which waits until every set is available, and
after their removal until every object is gone. Only ratios within a pair mean something.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.databases.redis.database import Redis
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Service
from dunnage.model.study import DatabaseSpec, Limits, TestbedSpec
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import Manifest
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.runner.formation import Formed, form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.own import OwnKubernetes, open_kubernetes
from dunnage.substrates.kubernetes.place import place_of

TREES = DebianSoftware()
DEPLOYMENT = Deployment(
    name="kubernetes",
    title="K8HostPort",
    platform="kubernetes",
    network="flannel-vxlan",
    endpoint="host-port",
    storage=Storage.BIND,
    peers=Peers.ENDPOINT,
    client=ClientPlace.HOST,
    hosts="db",
    limits=Limits(),
    slowdown=0.0,
    database=DatabaseSpec(kind="redis", version="7.0", topology="replicas", members=3),
)
_STAY = "b1-bench"
_LIMIT = 60.0


def main() -> None:
    """Print seconds of both, and the median ratios over some pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="more pairs, steadier medians")
    arguments = parser.parse_args()
    spec = TestbedSpec(kind="namespace", hosts={"db": 3, "client": 1, "control": 1})
    binaries = TREES.kubernetes(print)
    with (
        open_namespace(spec, name="bench", engine=engine_path(), keep=False) as testbed,
        open_kubernetes(
            testbed, binaries, testbed.hosts, Choices(Network.FLANNEL_VXLAN)
        ) as kubernetes,
    ):
        members = testbed.group("db")
        made = made_once(kubernetes, members)
        kubectl = Kubectl(testbed.host(kubernetes.control), binaries)
        ours = partial(by_dunnage, kubernetes, members)
        hand = partial(by_hand, kubectl, testbed.host, made)
        ratios = []
        for number in range(arguments.pairs):
            order = (ours, hand) if number % 2 else (hand, ours)
            taken = {way: way() for way in order}
            ratios.append([a / b for a, b in zip(taken[ours], taken[hand], strict=True)])
            told = [f"{seconds:.2f} s" for way in (ours, hand) for seconds in taken[way]]
            sys.stdout.write(
                f"Dunnage: up {told[0]}, down {told[1]}; by hand: up {told[2]}, down {told[3]}\n"
            )
        for what, each in zip(("up", "down"), zip(*ratios, strict=True), strict=True):
            sys.stdout.write(
                f"{what}: {statistics.median(each):.2f} × by hand (median of {len(each)} pairs)\n"
            )


@dataclass(frozen=True)
class Made:
    """What Dunnage makes of the database."""

    reservation: Reservation
    services: Mapping[str, Service]
    objects: Sequence[Manifest]


def made_once(kubernetes: OwnKubernetes, members: Sequence[Host]) -> Made:
    """Make and remove it once: images are on the nodes from now on, as they are for both ways."""
    platform = Kubernetes(DEPLOYMENT, members, kubernetes, TREES, _STAY)
    with patch.object(Namespace, "create", autospec=True, side_effect=Namespace.create) as create:
        try:
            formed = formed_on(platform)
        finally:
            platform.down()
    created = [call.args[1] for call in create.call_args_list]
    name = created[0]["metadata"]["namespace"]
    around = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    return Made(formed.reservation, formed.services, (around, *created))


def formed_on(platform: Kubernetes) -> Formed:
    """Redis, ready for its clients."""
    redis = Redis()
    reservation = platform.reserve(redis.layout(DEPLOYMENT.database))
    walk = partial(redis.stages, DEPLOYMENT.database)
    return form(platform, walk, reservation, _Clock(), _LIMIT)


def by_dunnage(kubernetes: OwnKubernetes, members: Sequence[Host]) -> tuple[float, float]:
    """Seconds for a formed database, and for its removal."""
    platform, began = Kubernetes(DEPLOYMENT, members, kubernetes, TREES, _STAY), time.monotonic()
    try:
        formed_on(platform)
    finally:
        ready = time.monotonic()
        platform.down()
    return ready - began, time.monotonic() - ready


def by_hand(kubectl: Kubectl, host: Callable[[str], Host], made: Made) -> tuple[float, float]:
    """Seconds until as many sets are available, the first before the others as in a database."""
    for place in made.reservation.places:
        there = host(place.host)
        there.run(["mkdir", "-p", place.home, place.data])
        for path, content in made.services[place.member].files.items():
            there.put(path, content.encode())
    sets = [each for each in made.objects if each["kind"] == "StatefulSet"]
    others = [each for each in made.objects if each not in sets]
    began = time.monotonic()
    kubectl.apply([*others, sets[0]])
    kubectl.wait(sets[:1])
    kubectl.apply(sets[1:])
    kubectl.wait(sets[1:])
    ready = time.monotonic()
    kubectl.delete([*reversed(sets), *reversed(others)])
    gone = time.monotonic()
    for place in made.reservation.places:
        host(place.host).remove(place.home)
        host(place.host).remove(place.data)
    return ready - began, gone - ready


@dataclass(frozen=True)
class Kubectl:
    """The lab's `kubectl`, on its control host."""

    control: Host
    binaries: KubernetesBinaries

    def apply(self, wanted: Sequence[Manifest]) -> None:
        """Make objects."""
        self._run("apply", "--filename=-", stdin=_listed(wanted))

    def wait(self, sets: Sequence[Manifest]) -> None:
        """Wait until every set has its pod."""
        available = "--for=jsonpath={.status.availableReplicas}=1"
        names = [f"statefulset/{each['metadata']['name']}" for each in sets]
        space = f"--namespace={sets[0]['metadata']['namespace']}"
        self._run("wait", available, space, f"--timeout={_LIMIT:g}s", *names)

    def delete(self, wanted: Sequence[Manifest]) -> None:
        """Remove objects, and wait until all of them are gone."""
        self._run(
            "delete", "--wait", f"--timeout={_LIMIT:g}s", "--filename=-", stdin=_listed(wanted)
        )

    def _run(self, *words: str, stdin: str = "") -> None:
        program = str(self.binaries.binaries / "kubectl")
        config = f"--kubeconfig={place_of(self.control.scratch).admin}"
        done = self.control.run([program, config, *words], stdin=stdin, timeout=2 * _LIMIT)
        if done.code != 0:
            raise SystemExit(f"kubectl {words[0]} failed: {done.stderr.strip()}")


def _listed(wanted: Sequence[Manifest]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(wanted)})


class _Clock:
    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


if __name__ == "__main__":
    main()
