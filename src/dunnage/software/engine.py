"""Where the engine's binary lies: the one that was built here, or the one that was named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.model.offer import Capability, Support

VARIABLE = "DUNNAGE_ENGINE"
"""Environment variable that names the binary."""

_HINT = "cargo build --release"


def engine_path() -> Path:
    """Return the path of `dunnage-engine`; raises UnavailableError when it is not built."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        if not Path(named).is_file():
            raise UnavailableError(f"${VARIABLE} does not name a file", where=named, hint=_HINT)
        return Path(named).resolve()
    built = sorted(
        Path(__file__).parents[3].glob("target/*/release/dunnage-engine"),
        key=lambda path: path.stat().st_mtime,
    )
    if built:
        return built[-1]
    found = shutil.which("dunnage-engine")
    if found is None:
        raise UnavailableError("`dunnage-engine` is not built", hint=_HINT)
    return Path(found).resolve()


ENGINE = Capability("engine")
"""The `dunnage-engine` binary is built."""


def engine_support() -> Support:
    """Whether the engine is there."""
    try:
        engine_path()
    except UnavailableError as error:
        return Support(met=False, reason=str(error), hint=error.hint)
    return Support(met=True)
