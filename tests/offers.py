"""An offer for tests, of the shape that the catalog has."""

from __future__ import annotations

from dunnage.model.offer import DatabaseOffer, Offer, PlatformOffer
from dunnage.model.study import ClientPlace, DatabaseSpec, Storage


def _redis_fits(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    if spec.topology == "single" and spec.members != 1:
        return (("members", f"a single Redis has one member, not {spec.members}"),)
    if spec.topology == "cluster" and spec.members < 3:
        return (("members", f"a Redis cluster needs 3 members or more, not {spec.members}"),)
    return ()


def _redis_restores(spec: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return (("topology", "a cluster's files hold addresses"),) if spec.topology == "cluster" else ()


def _anything_fits(_: DatabaseSpec) -> tuple[tuple[str, str], ...]:
    return ()


OFFER = Offer(
    testbeds={"namespace": "Host", "fake": "Fake"},
    substrates={"daemons": "docker", "existing": "docker", "fake": "fake"},
    platforms={
        "native": PlatformOffer(
            networks=("host",),
            endpoints={"host": ("host-port",)},
            storages=(Storage.BIND, Storage.TMPFS),
            clients=(ClientPlace.HOST,),
            substrate=None,
            restorable=(Storage.BIND,),
        ),
        "docker": PlatformOffer(
            networks=("host", "bridge", "user-defined"),
            endpoints={
                "host": ("host-port",),
                "bridge": ("host-port",),
                "user-defined": ("host-port", "container-dns"),
            },
            storages=(Storage.BIND, Storage.VOLUME, Storage.CONTAINER, Storage.TMPFS),
            clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
            substrate="docker",
            restorable=(Storage.BIND, Storage.VOLUME),
        ),
        "fake": PlatformOffer(
            networks=("plain", "late"),
            endpoints={"plain": ("host-port",), "late": ("host-port",)},
            storages=(Storage.BIND,),
            clients=(ClientPlace.HOST, ClientPlace.CONTAINER),
            substrate="fake",
            restorable=(Storage.BIND,),
        ),
    },
    databases={
        "redis": DatabaseOffer(
            versions=("7.0",),
            topologies=("replicas", "single", "cluster"),
            check=_redis_fits,
            check_restore=_redis_restores,
        ),
        "cassandra": DatabaseOffer(
            versions=("5.0",),
            topologies=("ring",),
            check=_anything_fits,
            check_restore=_anything_fits,
            images=False,
        ),
        "unkept": DatabaseOffer(
            versions=("1.0",), topologies=("single",), check=_anything_fits, images=False
        ),
        "fake": DatabaseOffer(
            versions=("1.0",), topologies=("sharded", "single"), check=_anything_fits, images=False
        ),
    },
    generators=("engine", "fake"),
    samplers=("engine", "fake"),
)
