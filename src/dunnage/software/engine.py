"""The engine's binary: the one that was built here or was named, and an image that holds it."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from functools import partial
from pathlib import Path

from dunnage.contracts.software import Tree
from dunnage.errors import UnavailableError
from dunnage.model.layout import ENGINE_PROGRAM, ENGINE_TREE
from dunnage.model.offer import Capability, Support
from dunnage.software.cache import Cache
from dunnage.software.image import write_image
from dunnage.software.program import last_words, run

VARIABLE = "DUNNAGE_ENGINE"
"""Environment variable that names the binary."""

_VERSION_SECONDS = 10.0
_TRYING_SECONDS = 30.0
_HERE = Path(__file__).parents[3]
"""The checkout, where this is one."""


def engine_path() -> Path:
    """Return the path of `dunnage-engine`.

    Raises UnavailableError when it is not built, or cannot be executed.
    """
    named = os.environ.get(VARIABLE)
    path = _found() if named is None else Path(named)
    how = _how_to_build() if named is None else f"unset {VARIABLE}"
    if not path.is_file():
        raise UnavailableError(f"${VARIABLE} does not name a file", where=str(path), hint=how)
    try:
        run([str(path), "--version"], _VERSION_SECONDS)
    except OSError as error:
        raise UnavailableError(
            f"it cannot be executed: {error.strerror}", where=str(path), hint=how
        ) from None
    return path.resolve()


def _found() -> Path:
    """The newest that was built here, else the one on PATH."""
    built = sorted(
        _HERE.glob("target/*/release/dunnage-engine"),
        key=lambda path: path.stat().st_mtime,
    )
    if built:
        return built[-1]
    installed = shutil.which("dunnage-engine")
    if installed is None:
        raise UnavailableError("`dunnage-engine` is not built", hint=_how_to_build())
    return Path(installed)


def _how_to_build() -> str:
    """The command that makes the engine, in a checkout; else how to name one."""
    if not (_HERE / "Makefile").is_file():
        return f"export {VARIABLE}=PATH  # of a `dunnage-engine` that was built in a checkout"
    # Unlike its name, the directory in which one stands can be asked for where it was removed.
    return "make engine" if Path().samefile(_HERE) else f"make -C {shlex.quote(str(_HERE))} engine"


ENGINE = Capability("engine")
"""The `dunnage-engine` binary is built."""


def engine_support() -> Support:
    """Whether the engine is there."""
    try:
        engine_path()
    except UnavailableError as error:
        return Support(met=False, reason=str(error), hint=error.hint)
    return Support(met=True)


SOFT_INTERRUPTS = Capability("soft-interrupts")
"""The kernel lets the engine charge soft interrupts to networks. A study that compares them needs
it. Without it, one that only has them sampled has no values of them."""


_UNCOUNTED = {
    "the process lacks": "grep CapEff /proc/self/status  # a container gets both with "
    "`--cap-add BPF --cap-add PERFMON`",
    "does not tell its types": "ls /sys/kernel/btf/vmlinux  # a kernel with CONFIG_DEBUG_INFO_BTF "
    "has it",
}
"""Words of the engine's reason → what to type."""
_UNTOLD = "uname -r  # the programs need Linux 5.5; before 5.11 they also need room in `ulimit -l`"
"""What to type where the kernel refuses without such a reason."""


def soft_interrupts_support() -> Support:
    """Whether soft interrupts can be charged here, tried by doing it for a moment."""
    try:
        engine = engine_path()
    except UnavailableError:
        return Support(False, "only the engine can test this", follows=ENGINE)
    done = run([str(engine), "soft-interrupts"], _TRYING_SECONDS)
    if done.returncode == 0:
        return Support(met=True)
    reason = last_words(done).removeprefix("dunnage-engine: ")
    hints = (hint for words, hint in _UNCOUNTED.items() if words in reason)
    return Support(met=False, reason=reason, hint=next(hints, _UNTOLD))


def engine_known() -> str:
    """Name of the engine's tree. Raises UnavailableError when the engine is not built."""
    return f"engine-{hashlib.sha256(engine_path().read_bytes()).hexdigest()[:12]}"


def engine_tree(cache: Cache, above: str) -> Tree:
    """The engine as a tree below the prefix `above`, and as an image, by its binary's hash.

    Raises UnavailableError when it is not built.
    """
    binary, name = engine_path(), engine_known()
    prefix = f"{above}/{name}"
    entry = cache.obtain(name, partial(_make, binary, name, prefix))
    return Tree(
        software=ENGINE_TREE,
        source=entry / "tree",
        prefix=prefix,
        archive=entry / "image.tar",
        tag=f"dunnage/{name.replace('-', ':')}",
        facts={"sha256": name.removeprefix("engine-")},
    )


def _make(binary: Path, name: str, prefix: str, entry: Path) -> str:
    program = entry / "tree" / ENGINE_PROGRAM
    program.parent.mkdir(parents=True)
    shutil.copyfile(binary, program)
    for path in (program, program.parent, entry / "tree"):
        path.chmod(0o755)
    write_image(entry / "tree", prefix, entry / "image.tar")
    return name
