"""A minute of more than a server can answer, judged alike on every server."""

from __future__ import annotations

from own_servers import OwnServers, summed_up

CONNECTIONS = 4
BURST, ALL = 60.0, 240.0
"""Seconds of it, and of the whole load."""
TOO_MUCH, LITTLE = 2.0, 0.05
"""Rates during the burst and after it, as shares of what a closed loop gets. So there is a backlog
unless the server becomes twice as fast, and it is gone in time unless it becomes half as fast."""


def insist_on_recovery(servers: OwnServers, address: str, records: int) -> None:
    """Fail unless the backlog of a minute is worked off, is told, and nothing of it is lost."""
    reads = ("drive", address, "--workload", "c", "-p", f"recordcount={records}", "--seed", "1")
    closed, _ = servers.typed(
        *reads, "--threads", str(CONNECTIONS), "--warmup", "60s", "--time", "10s"
    )
    capacity = summed_up(closed)["throughput"]
    much, little = round(TOO_MUCH * capacity), round(LITTLE * capacity)
    out, _ = servers.typed(
        *reads,
        *("--connections", str(CONNECTIONS), "--burst", str(much), "--burst-time", f"{BURST}s"),
        *("--rate", str(little), "--time", f"{ALL}s"),
    )
    found = summed_up(out)
    everything = found["operations"]["all"]
    assert (everything["errors"], everything["dropped"]) == ({}, 0)
    intended = much * BURST + little * (ALL - BURST)
    assert abs(everything["count"] + found["backlog"] - intended) <= 1
    assert found["backlog"] <= CONNECTIONS
    recovered = found["recovered_after"]
    assert recovered is not None, "the backlog was never gone"
    assert recovered > 0
    longest = everything["response"]["maximum"]
    # Whoever came at the end of the burst waited for all that came before. Answers took no longer.
    assert 1.0 < longest <= BURST + recovered + 1.0
    assert everything["service"]["quantiles"]["p99"] < longest / 10
