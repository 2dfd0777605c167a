"""A known piece of work on a host or in a container on it, and what the host's sampler told of it.

The work is done by a program that is up before and lives on afterwards, so that what is sampled
meanwhile is the work alone.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker import DockerClient
from docker.types import Mount

from dunnage.contracts.host import Host
from dunnage.model.load import Samples, WatchOrder
from dunnage.model.soft_interrupts import SoftInterrupts
from dunnage.model.study import Limits
from dunnage.platforms.containers import limit_arguments
from dunnage.samplers.engine import SAMPLES, EngineSampler

UNIT = "known"
"""Name of the unit that is charged for the work."""
IMAGE = "test/nothing:known"
PATIENCE = 30.0
"""Seconds within which something small must have happened on a busy machine."""

# A host has a /tmp of its own, where a virtual environment below ours would be missing.
PYTHON = Path(sys.executable).resolve()
NEEDED = tuple(dict.fromkeys(("/usr", "/lib", "/lib64", sys.base_prefix)))
"""Directories that Python needs in a container whose image holds nothing."""

_BEFORE = """
import json, os, signal, sys, time
here = sys.argv[1]

def tell(name, what=""):
    with open(f"{here}/{name}.part", "w") as file:
        file.write(what)
    os.rename(f"{here}/{name}.part", f"{here}/{name}")

tell("ready")
while not os.path.exists(f"{here}/go"):
    time.sleep(0.01)
"""
_AFTER = """
tell("done", json.dumps(known))
signal.pause()
"""


@dataclass(frozen=True)
class Worker:
    """A program that is ready to work."""

    host: Host
    group: str
    """The control group that is charged for what it does."""
    directory: str
    """Where its files are, on a disk of the host."""
    said: Callable[[], str]

    def work(self, patience: float = PATIENCE) -> Any:
        """Have it do its work; what it knows of it, its variable `known`."""
        self.host.put(f"{self.directory}/go", b"")
        return json.loads(self.told("done", patience))

    def told(self, name: str, patience: float = PATIENCE) -> bytes:
        """A file that it writes when it has come so far."""
        ends = time.monotonic() + patience
        while (found := _content(self.host, f"{self.directory}/{name}")) is None:
            assert time.monotonic() < ends, f"not {name}: {self.said()}"
            time.sleep(0.02)
        return found


def _content(host: Host, path: str) -> bytes | None:
    try:
        return host.get(path)
    except FileNotFoundError:
        return None


@contextmanager
def on_host(host: Host, work: str, limits: Limits | None = None) -> Iterator[Worker]:
    """A worker that is a process of a host's; `work` are lines of Python that set `known`."""
    with _written(host, work) as (directory, argv):
        log = f"{directory}/log"
        process = host.start(argv, unit=UNIT, log=log, limits=limits)
        worker = Worker(host, host.control_group(UNIT), directory, lambda: host.get(log).decode())
        try:
            worker.told("ready")
            yield worker
        finally:
            process.signal("KILL")
            process.wait(PATIENCE)


@contextmanager
def in_container(
    host: Host, daemon: DockerClient, work: str, limits: Limits | None = None
) -> Iterator[Worker]:
    """A worker in a container behind the bridge of the host's daemon."""
    daemon.api.import_image_from_data(
        _nothing(), repository=IMAGE.partition(":")[0], tag=IMAGE.partition(":")[2]
    )
    with _written(host, work) as (directory, argv):
        read_only = (Mount(each, each, type="bind", read_only=True) for each in NEEDED)
        container = daemon.containers.create(
            image=IMAGE,
            entrypoint=argv[:1],
            command=argv[1:],
            mounts=[*read_only, Mount(directory, directory, type="bind")],
            **limit_arguments(limits or Limits()),
        )
        try:
            container.start()
            container.reload()
            pid = int(container.attrs["State"]["Pid"])
            lines = host.run(["cat", f"/proc/{pid}/cgroup"]).stdout.splitlines()
            groups = {line.split(":", 2)[2] for line in lines}
            (group,) = (each for each in groups if str(container.id) in each)
            worker = Worker(host, group, directory, lambda: bytes(container.logs()).decode())
            worker.told("ready")
            yield worker
        finally:
            container.remove(force=True)


def _nothing() -> bytes:
    """An image without a file: a directory for what is not kept."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        directory = tarfile.TarInfo("tmp")
        directory.type, directory.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(directory)
    return archive.getvalue()


@contextmanager
def _written(host: Host, work: str) -> Iterator[tuple[str, list[str]]]:
    """A worker's directory and command; the directory is removed at the end."""
    directory = f"{host.scratch}/known"
    host.put(f"{directory}/program.py", f"{_BEFORE}{work}{_AFTER}".encode())
    try:
        yield directory, [str(PYTHON), f"{directory}/program.py", directory]
    finally:
        host.remove(directory)


def _all(soft: SoftInterrupts) -> float:
    apart = (soft.elsewhere, soft.no_packet, soft.other_kinds)
    known = [used for used in apart if used is not None]
    assert len(known) == len(apart)
    return sum((*soft.networks.values(), *known))


@dataclass
class Readings:
    """What a sampler told, once it has ended."""

    left: list[Samples] = field(default_factory=list)

    def grew(self, counter: str, unit: str = "") -> float:
        """By how much a counter is higher in the last sample than in the first."""
        first, *_, last = self.left[0].samples
        return last.units[unit][counter] - first.units[unit][counter]

    def charged(self) -> Mapping[str, float]:
        """Seconds in soft interrupts of each network from the first sample to the last."""
        first, last = self._soft()
        return {name: last.networks[name] - used for name, used in first.networks.items()}

    def all_soft(self) -> float:
        """Seconds in all soft interrupts of the machine from the first sample to the last."""
        first, last = map(_all, self._soft())
        return last - first

    def _soft(self) -> tuple[SoftInterrupts, SoftInterrupts]:
        first, *_, last = (sample.soft for sample in self.left[0].samples)
        assert first is not None and last is not None, self.left[0].absent
        return first, last

    @property
    def own_cpu(self) -> float:
        """CPU seconds that the sampler took from its first sample to its last."""
        first, *_, last = self.left[0].own_cpu
        return last - first


@contextmanager
def sampled(
    host: Host,
    units: Mapping[str, str],
    rate: float = 10.0,
    networks: Mapping[str, frozenset[int]] | None = None,
) -> Iterator[Readings]:
    """Sample a host and units of it from now to the end of the `with`, and soft interrupts by
    networks where they are given."""
    sampler, directory = EngineSampler(), f"{host.scratch}/watch-known"
    every = {"": host.control_group(""), **units}
    apart = {name: tuple(own) for name, own in (networks or {}).items()}
    order = WatchOrder(host=host.name, address=host.address, units=every, rate=rate, networks=apart)
    command = sampler.command(order, host.engine, directory)
    for name, content in command.files.items():
        host.put(f"{directory}/{name}", content.encode())
    process = host.start(command.argv, unit="sampler", log=f"{directory}/log")
    seen = Readings()
    try:
        ends = time.monotonic() + PATIENCE
        while b'"sample"' not in (_content(host, f"{directory}/{SAMPLES}") or b""):
            assert time.monotonic() < ends, host.get(f"{directory}/log").decode()
            time.sleep(0.02)
        yield seen
        process.signal("TERM")
        assert process.wait(PATIENCE) == 0
        seen.left.append(sampler.parse({SAMPLES: host.get(f"{directory}/{SAMPLES}")}))
    finally:
        process.signal("KILL")
        process.wait(PATIENCE)
        host.remove(directory)
