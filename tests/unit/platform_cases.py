"""A service and layouts of Redis, as platforms are given them."""

from __future__ import annotations

from dunnage.model.layout import (
    Layout,
    Probe,
    Seat,
    Service,
    Software,
)

SOFTWARE = Software("redis", "7.0")


def layout(*slots: int, bus: bool = False) -> Layout:
    ports = {"redis": 6379, "bus": 16379} if bus else {"redis": 6379}
    seats = (Seat(f"redis-{n}", "server", slot, ports) for n, slot in enumerate(slots, 1))
    return Layout(tuple(seats), SOFTWARE)


def service(**changes: object) -> Service:
    fields: dict[str, object] = {
        "member": "redis-1",
        "argv": ("/tree/bin/redis-server", "/home/redis.conf"),
        "ready": Probe(("/tree/bin/redis-cli", "PING"), expect="PONG", interval=0.001),
        "software": SOFTWARE,
        "env": {"A": "b"},
    }
    return Service(**(fields | changes))  # type: ignore[arg-type]
