"""The programs that every fake host has: a few of a shell's, and the fake parts' own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.load import load
from dunnage.hosts.fake.server import ask, serve
from dunnage.hosts.fake.watch import engine, sample
from dunnage.hosts.fake.world import Call
from dunnage.model.late import fill, unfilled
from dunnage.model.record import Restart


def _true(_call: Call) -> Task:
    return Task()


def _echo(call: Call) -> Task:
    call.streams.say(" ".join(call.argv[1:]) + "\n")
    return Task()


def _cat(call: Call) -> Task:
    if len(call.argv) == 1:
        call.streams.say(call.streams.stdin)
    for path in call.argv[1:]:
        try:
            call.streams.say(call.read(path))
        except FileNotFoundError:
            return call.fail(f"cat: {path}: No such file or directory")
    return Task()


def _copy(call: Call) -> Task:
    """`cp --archive --no-target-directory SOURCE TARGET`: a file, or a directory with all in it."""
    source, target = (call.root + path for path in call.argv[-2:])
    files = {
        path: content
        for path, content in call.host.files.items()
        if path == source or path.startswith(f"{source}/")
    }
    if not files:
        return call.fail(f"cp: cannot stat '{call.argv[-2]}': No such file or directory")
    for path, content in files.items():
        call.host.put(target + path.removeprefix(source), content)
    return Task()


def _stat(call: Call) -> Task:
    """`stat --file-system --format=… PATH`: blocks that are free, and bytes of a block."""
    call.streams.say(f"{0 if call.host.name in call.world.full else 2**20} 4096\n")
    return Task()


def _daemon(call: Call) -> Task:
    """`fake-daemon [--restarts FILE]`: with FILE a daemon that is restarted, which is written down
    there."""
    call.streams.say("fake daemon: ready\n")
    told = call.option("--restarts")

    def restart(signal: int) -> None:
        now, unit = call.world.clock.now(), call.process.unit
        line = Restart(host=call.host.name, program=unit, code=-signal, time=now).model_dump_json()
        call.host.put(told, call.host.files.get(told, b"") + f"{line}\n".encode())

    return Task(seconds=None, heeds=True, restart=restart if told else None)


def _begin(call: Call) -> Task:
    """`fake-start --member NAME --address FILE [--file FILE]… [--publish HOST:PORT=PORT]… -- ARGV`.

    The start wrapper of the network `late`: it learns the member's address, tells it in FILE, and
    fills it into the member's files and arguments before the member is started.
    """
    member = call.option("--member")
    address = call.world.late_address()
    call.write(call.option("--address"), address)
    for path in call.options("--file"):
        text = fill(call.read(path), {member: address})
        if unfilled(text):
            return call.fail(f"{path}: addresses of {sorted(unfilled(text))} are not known")
        call.write(path, text)
    published = dict(pair.split("=") for pair in call.options("--publish"))
    for outside, port in published.items():
        call.world.published[outside] = f"{address}:{port}"
    task = _replaced(call, tuple(fill(word, {member: address}) for word in _after(call)))

    def gone() -> None:
        task.gone()
        for outside in published:
            call.world.published.pop(outside, None)

    return replace(task, gone=gone)


def _container(call: Call) -> Task:
    """`fake-container NAME -- ARGV`: run a program that takes the container's files for its own."""
    return _replaced(replace(call, root=f"/containers/{call.argv[1]}"), _after(call))


def _after(call: Call) -> tuple[str, ...]:
    return call.argv[call.argv.index("--") + 1 :]


def _replaced(call: Call, argv: tuple[str, ...]) -> Task:
    """Become another program, as exec does."""
    program = PROGRAMS.get(PurePosixPath(argv[0]).name)
    if program is None:
        return call.fail(f"{argv[0]}: command not found", 127)
    call.process.argv = argv
    return program(replace(call, argv=argv))


PROGRAMS: Mapping[str, Callable[[Call], Task]] = {
    "true": _true,
    "false": lambda _: Task(finish=lambda: 1),
    "echo": _echo,
    "cat": _cat,
    "cp": _copy,
    "mkdir": _true,  # a directory is there as soon as something is in it
    "stat": _stat,
    "sleep": lambda call: Task(seconds=float(call.argv[1])),
    "sync": _true,
    "fake-daemon": _daemon,
    "fake-start": _begin,
    "fake-container": _container,
    "fake-server": serve,
    "fake-cli": ask,
    "fake-load": load,
    "fake-sample": sample,
    "dunnage-engine": engine,
}
"""Name of an executable → what it does. Tests add their own to a testbed's `world.programs`."""
