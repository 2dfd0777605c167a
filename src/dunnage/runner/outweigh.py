"""While something is measured, the hosts come before all else on their machine."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from dunnage.contracts.testbed import Outweighs, Testbed


def outweighing(testbed: Testbed) -> AbstractContextManager[None]:
    """Let the testbed outweigh what else runs beside it, where it can."""
    return testbed.outweighing() if isinstance(testbed, Outweighs) else nullcontext()
