"""A program: how long it takes to set up a connection from one network of this machine to another.

Arguments: a processor, how many connections, the networks of the client and of the server as files
of `/proc`, where the client connects to, and where the server listens, both as `address:port`.
Prints the median in microseconds, which a lost packet or an interrupt does not move.

One thread has both ends, so that no scheduler has a say in it. Each connection is ended by a reset
and has a port of its own: no socket is kept waiting, and no port is looked for while time is taken.
What tracks connections in a kernel does keep them for a while, and is not this program's business.
"""

from __future__ import annotations

import ctypes
import os
import socket
import statistics
import struct
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

FIRST_PORT = 20_000
"""Of the client: from here on nothing of a Kubernetes listens up to its first node port, 30,000,
and no kernel gives them away unasked."""
_NETWORK = 0x40000000
"""`CLONE_NEWNET` of setns(2), which Python has from 3.12 on."""
_RESET = struct.pack("ii", 1, 0)
"""Linger for no time."""


def main(processor: str, connections: str, networks: tuple[str, str], to: str, at: str) -> float:
    """Microseconds for one connection."""
    os.sched_setaffinity(0, {int(processor)})
    client, server = networks
    enter(server)
    with socket.create_server(address(at)) as listener:
        enter(client)
        ports = range(FIRST_PORT, FIRST_PORT + int(connections))
        return typical(times(listener, address(to), ports))


def times(listener: socket.socket, to: tuple[str, int], ports: Iterable[int]) -> list[int]:
    """Nanoseconds until the server has accepted the connection, from each port; 0 stands for any.

    Raises OSError where something else has a port.
    """
    taken = []
    for port in ports:
        near = socket.socket()
        near.bind(("", port))
        began = time.perf_counter_ns()
        near.connect(to)
        far, _ = listener.accept()
        taken.append(time.perf_counter_ns() - began)
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        near.close()
        far.close()
    return taken


def typical(nanoseconds: Sequence[int]) -> float:
    """Their median, in microseconds."""
    return statistics.median(nanoseconds) / 1000


def enter(network: str) -> None:
    """Have sockets belong to a network from now on; raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    with Path(network).open() as file:
        if library.setns(file.fileno(), _NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), network)


def address(text: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = text.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    processor, connections, client, server, to, at = sys.argv[1:]
    sys.stdout.write(f"{main(processor, connections, (client, server), to, at)}\n")
