"""What a member's container is made of. Pure: arguments of Docker's API out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docker.types import LogConfig, Mount, Ulimit

from dunnage.model.choices import Storage
from dunnage.model.deployment import QUOTA_PERIOD
from dunnage.model.layout import Place, Service
from dunnage.model.study import Limits
from dunnage.model.value import Option
from dunnage.platforms.offered import HOST, OVERLAY, USER_DEFINED
from dunnage.platforms.stay_names import StayNames

_ULIMITS = {"nofile": "Max open files", "nproc": "Max processes", "core": "Max core file size"}
ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8"}
"""What every native process has besides `PATH` and `HOME`, which Docker sets, and to the same."""


def arguments(
    service: Service,
    place: Place,
    *,
    stay: StayNames,
    image: str,
    argv: tuple[str, ...],
    engine: str,
    address: str,
    network: str,
    storage: Storage,
    limits: Limits,
    ulimits: list[Ulimit],
) -> dict[str, Any]:
    """Arguments of `containers.create` for one member.

    Everything that is not the factor under study is what the same member has natively: command,
    environment, user, directory, paths and limits, and that it may lock memory, as Java does if it
    can. Other capabilities, seccomp and the rest of what makes a container stay Docker's defaults.
    The host's engine is there as well, because it starts members whose addresses are late.
    """
    return {
        "image": image,
        "entrypoint": [argv[0]],
        "command": list(argv[1:]),
        "name": stay.thing(service.member),
        "labels": stay.labels,
        "environment": {**ENVIRONMENT, **service.env},
        "user": "0:0",
        "working_dir": "/",
        "mounts": [*mounts(place, storage, stay), engine_mount(engine)],
        "stop_signal": f"SIG{service.stop_signal}",
        "log_config": LogConfig(type="json-file"),
        "ulimits": ulimits,
        "cap_add": ["IPC_LOCK"],
        "network": network_name(network, stay),
        **_published(place, address, network),
        **limit_arguments(limits),
    }


def described(default: str, options: Mapping[str, Option], stay: StayNames) -> dict[str, Any]:
    """Arguments of `networks.create` for the stay's own network, by its driver's options."""
    given = {key: "" if value is None else str(value) for key, value in options.items()}
    return {
        "name": stay.network,
        "driver": given.pop("driver", default),
        "options": given,
        "labels": stay.labels,
    }


def network_name(network: str, stay: StayNames) -> str:
    """What Docker calls the network of this kind that containers of a stay are joined to."""
    return stay.network if network in (USER_DEFINED, OVERLAY) else network


def limit_arguments(limits: Limits) -> dict[str, Any]:
    """Limits as the native member's control group has them: memory and swap together."""
    arguments: dict[str, Any] = {}
    if limits.memory is not None:
        arguments |= {"mem_limit": int(limits.memory), "memswap_limit": int(limits.memory)}
    if limits.cpus is not None:
        arguments |= {"cpu_period": QUOTA_PERIOD}
        arguments |= {"cpu_quota": max(1000, round(limits.cpus * QUOTA_PERIOD))}
    if limits.pids is not None:
        arguments |= {"pids_limit": limits.pids}
    return arguments


def ulimits(limits: str) -> list[Ulimit]:
    """Resource limits from the text of a native process's `/proc/self/limits`."""
    bounds = []
    for line in limits.splitlines():
        for name, title in _ULIMITS.items():
            if line.startswith(title):
                soft, hard = line.removeprefix(title).split()[:2]
                bounds.append(Ulimit(name=name, soft=_limit(soft), hard=_limit(hard)))
    return bounds


def _limit(text: str) -> int:
    return -1 if text == "unlimited" else int(text)


def _published(place: Place, address: str, network: str) -> Mapping[str, Any]:
    """Ports on the host's own address only, so that nothing listens beyond the testbed."""
    if network == HOST:
        return {}
    return {
        "ports": {
            f"{addresses.bind.port}/tcp": (address, addresses.advertised.port)
            for addresses in place.ports.values()
        }
    }


def engine_mount(engine: str) -> Mount:
    """The host's engine, at the same path."""
    return Mount(engine, engine, type="bind", read_only=True)


def mounts(place: Place, storage: Storage, stay: StayNames) -> list[Mount]:
    """A member's files and its data, both at the paths that they have natively."""
    home = Mount(place.home, place.home, type="bind")
    match storage:
        case Storage.BIND:
            return [home, Mount(place.data, place.data, type="bind")]
        case Storage.VOLUME:
            volume = Mount(place.data, stay.thing(place.member), type="volume", labels=stay.labels)
            return [home, volume]
        case Storage.TMPFS:
            return [home, Mount(place.data, None, type="tmpfs")]
        case Storage.CONTAINER:
            return [home]
