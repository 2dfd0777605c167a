"""What keeps someone else's cluster from being used, before it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import ApiServer
from dunnage.errors import UnavailableError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.substrates.existing_kubernetes import (
    ExistingKubernetes,
    Right,
    open_existing_kubernetes,
)


@pytest.fixture
def hosts() -> tuple[Host, ...]:
    with open_fake(TestbedSpec(kind="fake", hosts={"db": 2}), name="existing") as testbed:
        return testbed.hosts


def refused(hosts: tuple[Host, ...], contexts: dict[str, str]) -> str:
    with pytest.raises(UnavailableError) as raised, open_existing_kubernetes(contexts, hosts):
        raise AssertionError("it was opened")
    assert "kubectl" in raised.value.hint
    return str(raised.value)


def test_every_host_names_the_same_context(hosts: tuple[Host, ...]) -> None:
    assert refused(hosts, {"db-1": "a"}).startswith("db-2: no context is named for this host")
    assert "nodes of one cluster, not of a, b" in refused(hosts, {"db-1": "a", "db-2": "b"})


def test_a_kubeconfig_that_is_not_there_or_lacks_the_context_is_told(
    hosts: tuple[Host, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    contexts = {host.name: "mine" for host in hosts}
    assert "Configuration file" in refused(hosts, contexts)
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text("clusters: []\ncontexts: []\n")
    assert "Context 'mine' not found" in refused(hosts, contexts)


def test_a_right_is_told_as_kubectl_asks_for_it() -> None:
    assert str(Right("create", "pods", "exec")) == "create pods/exec"
    assert str(Right("delete", "statefulsets", group="apps")) == "delete statefulsets.apps"


def test_it_is_left_as_it_is_and_knows_its_nodes_only() -> None:
    theirs = ExistingKubernetes(ApiServer(Path("k"), None, "mine"), {"db-1": "node-7"}, [])
    theirs.wake()
    theirs.freeze()
    theirs.mend("db-1")
    assert (theirs.node("db-1"), theirs.runtime("db-1"), theirs.units("db-1")) == (
        "node-7",
        None,
        (),
    )
    with pytest.raises(KeyError):
        theirs.runtime("db-2")
    assert theirs.facts()["ours"] is False
