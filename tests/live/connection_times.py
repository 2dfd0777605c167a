"""A program: how long it takes to set up a connection from one network of this machine to another.

Arguments: a processor, seconds, the networks of the client and of the server as files of `/proc`,
where the client connects to, and where the server listens, both as `address:port`. Prints the mean
in microseconds.

One thread has both ends, so that no scheduler has a say in it. Each connection is ended by a reset:
no port is kept waiting, and none runs out.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import time
from pathlib import Path

_NETWORK = 0x40000000
"""`CLONE_NEWNET` of setns(2), which Python has from 3.12 on."""
_RESET = struct.pack("ii", 1, 0)
"""Linger for no time."""


def main(processor: str, seconds: str, networks: tuple[str, str], to: str, at: str) -> float:
    """Microseconds for one connection."""
    os.sched_setaffinity(0, {int(processor)})
    client, server = networks
    enter(server)
    with socket.create_server(address(at)) as listener:
        enter(client)
        return mean(listener, address(to), float(seconds))


def mean(listener: socket.socket, to: tuple[str, int], seconds: float) -> float:
    """Connect again and again for so long, and take the time until the server has accepted."""
    spent, count, ends = 0, 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        near = socket.socket()
        began = time.perf_counter_ns()
        near.connect(to)
        far, _ = listener.accept()
        spent += time.perf_counter_ns() - began
        count += 1
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        near.close()
        far.close()
    return spent / count / 1000


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
    processor, seconds, client, server, to, at = sys.argv[1:]
    sys.stdout.write(f"{main(processor, seconds, (client, server), to, at)}\n")
