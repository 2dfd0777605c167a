"""What leads to members by IPVS, tried on the kernel.

It is a program of its own, `python -I -S ipvs.py service` or `… sets`, for a network namespace that
vanishes with it. It ends with an OSError that says what the kernel answered.
"""

from __future__ import annotations

import os
import socket
import struct
import sys

SERVICE, SETS = "service", "sets"
_ADD_SERVICE = 1154
"""The option `IP_VS_SO_SET_ADD` of the kernel's `linux/ip_vs.h`."""
_NETFILTER = 12
"""`NETLINK_NETFILTER` of `linux/netlink.h`, for which Python's `socket` has no word."""
_CREATE_SET = 0x602
"""`NFNL_SUBSYS_IPSET` and `IPSET_CMD_CREATE`, of `linux/netfilter/`: `nfnetlink.h` and
`ipset/ip_set.h`."""
_REQUEST, _ANSWER, _NEW = 0x1, 0x4, 0x200
"""`NLM_F_REQUEST`, `NLM_F_ACK` and `NLM_F_EXCL` of the same."""
_HEADER = struct.Struct("IHHII")
"""A `struct nlmsghdr`."""
_TYPE = b"hash:ip,port\0"


def add_service() -> None:
    """Add a service whose members get connections in turns, as Docker's and kube-proxy's do."""
    address, port, mask = bytes([127, 0, 0, 1]), bytes([0, 80]), bytes(4)
    told = (socket.IPPROTO_TCP, address, port, 0, b"rr", 0, 0, mask)
    service = struct.pack("H2x4s2s2xI16sII4s", *told)  # a `struct ip_vs_service_user`
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as kernel:
        kernel.setsockopt(socket.IPPROTO_IP, _ADD_SERVICE, service)


def make_set() -> None:
    """Make a set of addresses with ports, as kube-proxy does beside IPVS."""
    words = ((1, b"\6"), (2, b"tried\0"), (3, _TYPE), (4, b"\0"), (5, b"\2"), (0x8007, b""))
    asked = bytes([socket.AF_INET, 0, 0, 0]) + b"".join(_attribute(*each) for each in words)
    header = _HEADER.pack(_HEADER.size + len(asked), _CREATE_SET, _REQUEST | _ANSWER | _NEW, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER) as kernel:
        kernel.send(header + asked)
        (error,) = struct.unpack_from("i", kernel.recv(4096), _HEADER.size)
    if error:
        raise OSError(-error, os.strerror(-error))


def _attribute(kind: int, value: bytes) -> bytes:
    """A `struct nlattr`, up to where the next one begins."""
    whole = struct.pack("HH", 4 + len(value), kind) + value
    return whole + bytes(-len(whole) % 4)


if __name__ == "__main__":
    {SERVICE: add_service, SETS: make_set}[sys.argv[1]]()
