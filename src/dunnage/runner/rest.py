"""What is left of a study whose process is ended at once, and what removes it. Pure."""

from __future__ import annotations

import shlex

from dunnage.contracts.cluster import OF_A_STAY, OF_A_TESTBED
from dunnage.model.study import Study

OF_A_LAB = "`dunnage clean` removes the rest of the lab"


def rest_of(study: Study) -> str:
    """A clause that names the hosts' kind of rest with its command, and daemons that keep some."""
    parts = [_of_nodes(study.testbed.context) if study.testbed.context is not None else OF_A_LAB]
    contexts = {each for spec in study.substrate.values() for each in spec.contexts.values()}
    if contexts:
        named = ", ".join(f"`{each}`" for each in sorted(contexts))
        parts.append(f"daemons of {named} keep what bears the label `{OF_A_STAY}`")
    return "; ".join(parts)


def _of_nodes(context: str) -> str:
    """The agents' namespace bears one label, and those of stays bear another one."""
    typed = shlex.join(["dunnage", "clean", "--context", context, "--yes"])
    return (
        f"`{typed}` removes the rest in the cluster, which bears the label `{OF_A_TESTBED}` or "
        f"`{OF_A_STAY}`"
    )
