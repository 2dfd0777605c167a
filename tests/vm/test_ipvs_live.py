"""A kernel with IPVS, which Debian's is: Swarm's services and routing mesh, kube-proxy's mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from clone import Clone, cloned

from dunnage.model.layout import Software
from dunnage.software.trees import DebianSoftware

pytestmark = [
    pytest.mark.live,
    pytest.mark.proof,
    pytest.mark.quiet,
    pytest.mark.vm,
    pytest.mark.kubernetes,
    pytest.mark.timeout(3 * 3600),
]

CACHED = ("redis-", "docker-", "patchelf-", "kubernetes-")
"""How requests begin of what was made outside."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    software = DebianSoftware()
    software.tree(Software("redis", "7.0"))
    software.dockerd()
    software.kubernetes(print)
    with cloned(tmp_path_factory.mktemp("vm"), CACHED) as made:
        yield made


def test_the_command_that_is_named_where_ipvs_is_missing_helps(clone: Clone) -> None:
    hint = clone.lacks()["ipvs"]
    done = clone.machine.run(hint, 5)
    assert done.code == 0, done.said
    assert "ipvs" not in clone.lacks()


@pytest.mark.parametrize("tests", ["swarm", "kubernetes"])
def test_services_lead_to_members_by_ipvs(
    clone: Clone, tests: str, record_property: Callable[[str, object], None]
) -> None:
    assert clone.machine.run("modprobe ip_vs", 5).code == 0
    record_property("seen", clone.tested(f"tests/vm/by_ipvs_{tests}.py", "live", 150))
