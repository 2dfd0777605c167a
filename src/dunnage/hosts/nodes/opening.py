"""Having nodes of a Kubernetes as hosts for a while: what must hold before, and what goes after."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType

from lightkube import ApiError
from lightkube.resources.core_v1 import Node

from dunnage.clusters.context import Context
from dunnage.clusters.nodes import boot
from dunnage.clusters.rights import missing, needed
from dunnage.errors import UnavailableError
from dunnage.hosts.machines import this_machine
from dunnage.hosts.nodes.choose import chosen, insist_on_architecture
from dunnage.hosts.nodes.testbed import Cluster, NodesTestbed
from dunnage.kubernetes_api import FORBIDDEN, connect, session, status_of
from dunnage.model.choices import Storage
from dunnage.model.study import TestbedSpec

_WHERE = "kubernetes"


def are_here(spec: TestbedSpec) -> bool:
    """Whether a node that would be a host is this very machine, by the start of its kernel.

    Where nodes may not be listed, or no context is named, `open_nodes` says so. Raises
    UnavailableError where the cluster cannot be asked, or there are not enough nodes.
    """
    if spec.context is None:
        return False
    context = Context(spec.context)
    with context.spoken(), closing(connect(context.api)) as client:
        try:
            nodes = list(client.list(Node))
        except ApiError as refusal:
            if status_of(refusal) != FORBIDDEN:
                raise
            return False
    _, own = this_machine()
    return own != "" and own in map(boot, chosen(spec, nodes, context.asking).values())


@contextmanager
def open_nodes(
    spec: TestbedSpec,
    *,
    name: str,
    engine: Path,
    storages: Collection[Storage],
    keep: bool,
    tell: Callable[[str], None],
) -> Iterator[NodesTestbed]:
    """Have nodes of a cluster as hosts for as long as the `with` lasts; `name` is the study's, and
    `storages` are what members' data will lie on there. `tell` is told which node is waited for,
    and what could not be removed.

    `KUBECONFIG` is honoured, where it names one file. What studies left there that were killed on
    this machine is removed first. Raises UnavailableError when the kubeconfig cannot be used, the
    cluster refuses or does not answer, a right is missing, there are not enough nodes, another
    study has one of them, what such a study left on one stays, or an agent cannot be brought to
    one.
    """
    context = _context(spec, keep=keep)
    with ExitStack() as stack:
        with context.spoken():
            api = context.api
            client = stack.enter_context(closing(connect(api)))
            speaking = stack.enter_context(closing(session(api)))
            if lacks := missing(client, needed(storages)):
                raise UnavailableError(
                    f"the user of context `{context.name}` may not {', '.join(map(str, lacks))}",
                    where=_WHERE,
                    hint=context.ours("doctor"),
                )
            nodes = list(client.list(Node))
        places = chosen(spec, nodes, context.asking)
        insist_on_architecture(places, platform.machine())
        cluster = Cluster(context, api, client, speaking)
        testbed = NodesTestbed(spec, name, cluster, places, engine.read_bytes(), tell)
        stack.push(_releasing(testbed, context, tell))
        testbed.open()
        yield testbed


def _context(spec: TestbedSpec, *, keep: bool) -> Context:
    if keep:
        raise UnavailableError(
            "agents on nodes end when nobody asks them for anything: `--keep` is for labs",
            where=_WHERE,
            hint="dunnage run STUDY",
        )
    if spec.context is None or spec.image is None:
        raise UnavailableError(
            "hosts of kind `nodes` need a `context` and an `image`",
            where="testbed",
            hint="dunnage schema study",
        )
    return Context(spec.context)


def _releasing(
    testbed: NodesTestbed, context: Context, tell: Callable[[str], None]
) -> Callable[..., None]:
    """An exit that releases a testbed. Where that fails it never hides the error that ended it, and
    without one it is only told: all that was measured is there. What removes the rest is told with
    both."""
    typed = f"{context.ours('clean')} --yes"

    def leave(
        _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        try:
            testbed.release()
        except UnavailableError as second:
            if error is not None:
                error.add_note(f"during clean-up: {second}\n  try: {typed}")
                return
            tell(f"not all that the study had in the cluster was removed: {second}")
            tell(f"  try: {typed}")

    return leave
