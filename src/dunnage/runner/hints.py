"""What to type after a stay that failed: a command that can be typed, of this very study."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dunnage.errors import TO_LOOK, DunnageError
from dunnage.model.study import TestbedSpec

_STUDY = re.compile(r"(?<!\S)STUDY(?!\S)")
"""What stands for a study in a hint; a path may have such letters, too."""


@contextmanager
def fitting(testbed: TestbedSpec) -> Iterator[None]:
    """Where hosts are nodes of a cluster nothing is kept: its context is what can be looked at."""
    try:
        yield
    except DunnageError as error:
        if error.hint == TO_LOOK and testbed.context is not None:
            error.hint = shlex.join(["dunnage", "doctor", "--context", testbed.context])
        raise


def named(hint: str, study: Path) -> str:
    """A hint with the file of its study; whoever raises an error knows none."""
    return _STUDY.sub(lambda _: shlex.quote(str(study)), hint)
