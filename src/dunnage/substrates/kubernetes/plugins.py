"""The CNI plugins that a configuration calls: told before anything starts if one is not there."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from dunnage.errors import UnavailableError, shown
from dunnage.model.cni import plugins_of


def insist_on_plugins(configuration: str, directory: Path) -> None:
    """Raise UnavailableError when a plugin of a configuration's text is not in a directory.

    An empty text calls none.
    """
    called = plugins_of(json.loads(configuration)) if configuration else ()
    missing = [each for each in called if not (directory / each).is_file()]
    if missing:
        raise UnavailableError(
            f"there is no CNI plugin {shown(missing[0])} among the reference plugins",
            where="kubernetes",
            hint=shlex.join(["ls", str(directory)]),
        )
