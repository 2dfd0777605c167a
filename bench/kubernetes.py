"""What a deployment on a Kubernetes takes beside the same objects applied and deleted by `kubectl`.

Dunnage's platform has Redis formed and ready. `kubectl` has the very objects that it made, and
waits until every set is available. Both have removed it when all pods, services and volumes are
gone, and the namespace is about to go: the cluster keeps an empty one for five seconds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from unittest.mock import patch

from beside_hand import LIMIT, STAY, by_dunnage, compare, formed_on, lab, replicas, wanted

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.hosts.namespace.testbed import NamespaceTestbed
from dunnage.model.layout import Reservation, Service
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import Manifest
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.kubernetes.choices import Choices, Network
from dunnage.substrates.kubernetes.own import open_kubernetes
from dunnage.substrates.kubernetes.place import place_of

TREES = DebianSoftware()
DEPLOYMENT = replicas("kubernetes", "flannel-vxlan")


def main() -> None:
    """Compare both over some pairs."""
    asked = wanted(__doc__)
    binaries = TREES.kubernetes(print)
    with (
        lab() as testbed,
        open_kubernetes(
            testbed, binaries, testbed.hosts, Choices(Network.FLANNEL_VXLAN)
        ) as kubernetes,
    ):
        make = partial(Kubernetes, DEPLOYMENT, testbed.group("db"), kubernetes, TREES, STAY)
        made = made_once(make(), testbed)
        kubectl = Kubectl(testbed.host(kubernetes.control), binaries)
        names = (f"by-hand-{number}" for number in count(1))

        def hand() -> tuple[float, float]:
            return by_hand(kubectl, testbed.host, made.inside(next(names)))

        compare(partial(by_dunnage, make, DEPLOYMENT, testbed), hand, asked, __doc__)


@dataclass(frozen=True)
class Made:
    """What Dunnage makes of the database."""

    reservation: Reservation
    services: Mapping[str, Service]
    objects: Sequence[Manifest]

    def inside(self, namespace: str) -> Made:
        """The same in a namespace of its own: one that is about to go takes nothing in."""
        around = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        moved = [
            {**each, "metadata": {**each["metadata"], "namespace": namespace}}
            for each in self.objects
        ]
        return replace(self, objects=(around, *moved))


def made_once(platform: Kubernetes, testbed: NamespaceTestbed) -> Made:
    """Make and remove it once: images are on the nodes from now on, as they are for both ways."""
    with patch.object(Namespace, "create", autospec=True, side_effect=Namespace.create) as create:
        try:
            formed = formed_on(platform, DEPLOYMENT, testbed)
        finally:
            platform.down()
    created = [call.args[1] for call in create.call_args_list]
    return Made(formed.reservation, formed.services, created)


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
        self._run("wait", available, space, f"--timeout={LIMIT:g}s", *names)

    def delete(self, wanted: Sequence[Manifest]) -> None:
        """Remove objects, and wait until all in the namespace are gone, sets with their pods; the
        namespace itself is only asked to go."""
        inside = [each for each in wanted if each["kind"] != "Namespace"]
        around = [each for each in wanted if each not in inside]
        words = ("--cascade=foreground", "--wait", f"--timeout={LIMIT:g}s", "--filename=-")
        self._run("delete", *words, stdin=_listed(inside))
        self._run("delete", "--wait=false", "--filename=-", stdin=_listed(around))

    def _run(self, *words: str, stdin: str = "") -> None:
        program = str(self.binaries.binaries / "kubectl")
        config = f"--kubeconfig={place_of(self.control.scratch).admin}"
        done = self.control.run([program, config, *words], stdin=stdin, timeout=2 * LIMIT)
        if done.code != 0:
            raise SystemExit(f"kubectl {words[0]} failed: {done.stderr.strip()}")


def _listed(wanted: Sequence[Manifest]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(wanted)})


if __name__ == "__main__":
    main()
