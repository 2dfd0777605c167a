"""Studies for the catalog, and machines that lack what they need."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from dunnage import capabilities, catalog
from dunnage.contracts.docker import Daemon
from dunnage.contracts.kubernetes import ApiServer, ContainerRuntime
from dunnage.model.offer import Capability, Support
from dunnage.model.study import Study
from dunnage.study.read import read_study
from dunnage.substrates.fake import FakeSubstrate

STUDY = """\
dunnage: 1
name: offered
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis}
deployments:
  native: {platform: native}
  bridge: {platform: docker, network: bridge}
  own: {platform: docker, network: user-defined}
workloads: [A]
load: {threads: [1], duration: 2s}
"""

FAKE = """\
dunnage: 1
name: fake
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: single}
deployments:
  plain: {platform: fake}
workloads: [A]
load: {threads: [1], duration: 2s}
generator: fake
sampler: {kind: fake}
"""


class Everything(FakeSubstrate):
    """What every platform can be made on."""

    @property
    def manager(self) -> Daemon:
        return self.daemon("client-1")

    @property
    def api(self) -> ApiServer:
        return ApiServer(Path("kubeconfig"))

    def asking(self, words: str) -> str:
        return f"kubectl {words}"

    def node(self, host: str) -> str:
        return host

    def runtime(self, host: str) -> ContainerRuntime | None:
        return None if host == "client-1" else ContainerRuntime(("ctr",), {})


def study(text: str = STUDY) -> Study:
    return read_study(text, "study.yaml", catalog.OFFER)


def lacking(monkeypatch: pytest.MonkeyPatch, **reasons: str) -> None:
    """Let the machine lack these capabilities, each for its reason."""
    here = defaultdict(lambda: Support(True))
    for name, reason in reasons.items():
        here[Capability(name)] = Support(False, reason, f"get {name}")
    monkeypatch.setattr(capabilities, "supports", lambda _: here)
