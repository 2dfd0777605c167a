"""What the sampler tells of a host and of a container, beside what is known to have happened."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest
from daemon_lab import Lab, opened
from group_files import directory
from known_work import PYTHON, UNIT, Worker, in_container, on_host, sampled

from dunnage.model.study import Limits
from dunnage.substrates.daemons import UNIT as DAEMON

pytestmark = pytest.mark.live

Working = Callable[..., AbstractContextManager[Worker]]
MEBIBYTE = 2**20
SIZE = 64 * MEBIBYTE
NEARLY = 2 * MEBIBYTE
"""What else a program may touch, and what the kernel has not added up yet."""
SLACK = {UNIT: NEARLY, "": 8 * NEARLY}
"""The same by unit: the daemon's program gives memory back to the host now and then."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened("truth") as made:
        yield made


@pytest.fixture(params=["host", "container"])
def working(request: pytest.FixtureRequest, lab: Lab) -> Working:
    """Makes a worker on the host, or in a container on it."""
    if request.param == "host":
        return partial(on_host, lab.host)
    return partial(in_container, lab.host, lab.daemon)


BUSY = """
known = -time.process_time()
while known + time.process_time() < 1.0:
    pass
known += time.process_time()
"""


def test_processor_time_is_what_a_process_counted_itself(working: Working) -> None:
    with working(BUSY) as worker, sampled(worker.host, {UNIT: worker.group}) as seen:
        used = worker.work()
    assert used >= 1.0
    assert seen.grew("cpu", UNIT) == pytest.approx(used, abs=0.03)
    parts = seen.grew("cpu_user", UNIT) + seen.grew("cpu_system", UNIT)
    assert parts == pytest.approx(used, abs=0.05)
    assert seen.grew("cpu") >= seen.grew("cpu", UNIT)


RUNNING = """
began, used = time.monotonic(), time.process_time()
while time.monotonic() - began < 1.0:
    pass
known = time.monotonic() - began - (time.process_time() - used)
"""
TRIES = 6
"""How often it is tried: a process that waits for a processor meanwhile is not held back then."""


def held_back(lab: Lab, working: Working) -> tuple[float, float]:
    """Seconds that a quota held a process back, as the sampler and as the process itself tell."""
    with (
        working(RUNNING, Limits(cpus=0.5)) as worker,
        sampled(worker.host, {UNIT: worker.group}) as seen,
        lab.testbed.outweighing(),
    ):
        lost = float(worker.work())
    return seen.grew("throttled", UNIT), lost


@pytest.mark.quiet
def test_a_quota_of_half_a_processor_holds_back_for_the_other_half(
    lab: Lab, working: Working
) -> None:
    pairs: list[tuple[float, float]] = []
    while len(pairs) < TRIES and not any(told == pytest.approx(0.5, rel=0.1) for told, _ in pairs):
        pairs.append(held_back(lab, working))
    told, lost = pairs[-1]
    assert told == pytest.approx(lost, rel=0.1), pairs
    assert all(told <= 1.05 * lost for told, lost in pairs)


HOLDING = f"""
held = b"x" * {SIZE}
known = len(held)
"""


def test_memory_is_what_a_process_holds(lab: Lab, working: Working) -> None:
    with working(HOLDING) as worker:
        units = {UNIT: worker.group, DAEMON: lab.host.control_group(DAEMON)}
        with sampled(worker.host, units) as seen:
            assert worker.work() == SIZE
    held = {unit: seen.grew("memory_resident", unit) for unit in (*units, "")}
    assert held[UNIT] == pytest.approx(SIZE, abs=NEARLY)
    # What the daemon's program gives back meanwhile can be as much as what is held.
    assert held[""] - held[DAEMON] == pytest.approx(SIZE, abs=SLACK[""]), held
    assert abs(seen.grew("memory_cache", UNIT)) < NEARLY


FORGOTTEN = f"""
import os, sys
with open(sys.argv[1], "wb") as file:
    file.write(bytes({SIZE}))
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
"""
"""Writes a file that is then on the disk only."""
READING = f"""
known = 0
with open(f"{{here}}/file", "rb", buffering=0) as file:
    while piece := file.read({MEBIBYTE}):
        known += len(piece)
"""


def test_a_file_that_is_read_is_in_the_page_cache_and_was_read_from_disk(
    working: Working,
) -> None:
    with working(READING) as worker:
        written = worker.host.run([str(PYTHON), "-c", FORGOTTEN, f"{worker.directory}/file"])
        assert written.code == 0, written.stderr
        with sampled(worker.host, {UNIT: worker.group}) as seen:
            assert worker.work() == SIZE
    for unit, slack in SLACK.items():
        assert seen.grew("memory_cache", unit) == pytest.approx(SIZE, abs=slack)
        assert seen.grew("disk_read", unit) == pytest.approx(SIZE, abs=slack)
    assert abs(seen.grew("memory_resident", UNIT)) < NEARLY
    assert seen.grew("disk_written", UNIT) < NEARLY


BUFFERED = f"""
known = 0
with open(f"{{here}}/file", "wb") as file:
    while known < {SIZE}:
        known += file.write(bytes({MEBIBYTE}))
    file.flush()
    os.fsync(file.fileno())
"""
DIRECT = f"""
import mmap
piece = mmap.mmap(-1, {MEBIBYTE})
piece.write(b"x" * {MEBIBYTE})
file = os.open(f"{{here}}/file", os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
known = 0
while known < {SIZE}:
    known += os.write(file, piece)
os.close(file)
"""


@pytest.mark.parametrize("how", [BUFFERED, DIRECT], ids=["buffered", "direct"])
def test_a_file_that_is_written_is_what_was_written_to_disk(working: Working, how: str) -> None:
    with working(how) as worker, sampled(worker.host, {UNIT: worker.group}) as seen:
        assert worker.work() == SIZE
    for unit, slack in SLACK.items():
        assert seen.grew("disk_written", unit) == pytest.approx(SIZE, abs=slack)
    assert seen.grew("disk_read", UNIT) < NEARLY


PACKETS, PAYLOAD, HEADERS = 2000, 100, 42
"""Datagrams, their bytes, and those of Ethernet, IPv4 and UDP before them."""
STRAY = 100
"""Packets of neighbour discovery and the like that may pass meanwhile."""
BOUND = """
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 0))
known = receiver.getsockname()[1]
"""
SENDING = f"""
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
known = 0
while known < {PACKETS}:
    sender.sendto(b"x" * {PAYLOAD}, ("@address@", @port@))
    known += 1
    if known % 50 == 0:
        time.sleep(0.005)
"""


def test_packets_and_their_bytes_count_once_at_each_uplink(lab: Lab, working: Working) -> None:
    with on_host(lab.client, BOUND) as receiver:
        port = str(receiver.work())
        send = SENDING.replace("@address@", lab.client.address).replace("@port@", port)
        with (
            working(send) as worker,
            sampled(lab.client, {}) as received,
            sampled(lab.host, {UNIT: worker.group}) as sent,
        ):
            contained = worker.group != lab.host.control_group(UNIT)
            assert worker.work() == PACKETS
    length = PAYLOAD + HEADERS
    for seen, way in ((sent, "sent"), (received, "received")):
        assert PACKETS <= seen.grew(f"packets_{way}") <= PACKETS + STRAY
        assert PACKETS * length <= seen.grew(way) <= (PACKETS + STRAY) * length
    # From a container they come to its cable's other end, and with that to the bridge.
    devices = 2 if contained else 0
    inner = sent.grew("inner_packets_received")
    assert devices * PACKETS <= inner <= devices * PACKETS + 2 * STRAY
    assert sent.grew("inner_packets_sent") <= 2 * STRAY


def used_by_processes(group: Path) -> float:
    """CPU seconds of the processes in and below a control group, with those of children that
    ended."""
    listed = (each.read_text().split() for each in group.rglob("cgroup.procs"))
    processes = (process for every in listed for process in every)
    stats = (Path(f"/proc/{each}/stat").read_text().rpartition(")")[2] for each in processes)
    ticks = sum(int(word) for stat in stats for word in stat.split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_a_daemons_processor_time_is_that_of_its_processes(lab: Lab) -> None:
    group = lab.host.control_group(DAEMON)
    daemon = directory(group, "cpuacct")
    before = used_by_processes(daemon)
    with sampled(lab.host, {DAEMON: group}) as seen:
        while used_by_processes(daemon) - before < 1.0:
            lab.daemon.info()
            lab.daemon.containers.list(all=True)
    used = used_by_processes(daemon) - before
    assert seen.grew("cpu", DAEMON) == pytest.approx(used, abs=0.1)


@pytest.mark.quiet
@pytest.mark.proof
@pytest.mark.timeout(300)
def test_sampling_once_a_second_takes_less_than_three_thousandths_of_a_processor(
    lab: Lab, record_property: Callable[[str, object], None]
) -> None:
    units = {name: lab.host.control_group(name) for name in (DAEMON, "sampler", UNIT)}
    shares = {}
    with on_host(lab.host, BUSY):
        for rate, seconds in ((1.0, 60.0), (5.0, 20.0)):
            with sampled(lab.host, units, rate) as seen:
                time.sleep(seconds)
            assert seen.own_cpu == pytest.approx(seen.grew("cpu", "sampler"), abs=0.02)
            shares[rate] = seen.own_cpu / seconds
    told = (f"{100 * share:.2f} % at {rate:g} Hz" for rate, share in shares.items())
    record_property("seen", f"of a processor: {', '.join(told)}")
    assert shares[1.0] < 0.003
