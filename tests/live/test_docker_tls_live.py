"""A daemon of someone else's that asks for certificates, reached by a Docker context with TLS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from lab_traces import eventually
from living import deployed
from their_daemon import INSIDE, answering_by_certificates, write_secured

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Host
from dunnage.databases.redis.database import Redis
from dunnage.docker_api import connect
from dunnage.errors import UnavailableError
from dunnage.hosts.namespace.testbed import NamespaceTestbed, open_namespace
from dunnage.model.choices import Cores
from dunnage.model.study import DatabaseSpec, TestbedSpec
from dunnage.platforms.docker import Docker
from dunnage.runner.formation import form
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.daemons import Daemons, open_daemons
from dunnage.substrates.existing import open_existing
from dunnage.substrates.kubernetes.certificates import Authority

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

TREES = DebianSoftware()
DEPLOYMENT = deployed(
    "docker",
    "bridge",
    "host-port",
    database=DatabaseSpec(kind="redis", version="7.0", topology="single"),
)
NOT_BELIEVED = "x509: certificate signed by unknown authority"
"""What the daemon writes in its log of a client that it refuses."""


@dataclass(frozen=True)
class Secured:
    """A daemon that answers those only whom its authority vouches for."""

    testbed: NamespaceTestbed
    daemons: Daemons
    authority: Authority
    url: str

    @property
    def host(self) -> Host:
        return self.testbed.host("db-1")


@pytest.fixture(scope="module")
def secured() -> Iterator[Secured]:
    spec = TestbedSpec(kind="namespace", hosts={"db": 1}, cores=Cores.SHARED)
    authority, found = Authority("theirs"), TREES.dockerd()
    with open_namespace(spec, name="secured", engine=engine_path(), keep=False) as testbed:
        host = testbed.host("db-1")
        asked = answering_by_certificates(found, authority, Path(host.scratch, "secured"))
        with open_daemons(testbed, asked, [host]) as daemons:
            port = host.listen_outside(INSIDE)
            yield Secured(testbed, daemons, authority, f"tcp://127.0.0.1:{port}")


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of Docker's command line; this machine trusts an authority of its own."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "machine.pem").write_bytes(Authority("machine").certificate)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "machine.pem"))
    return tmp_path


def write_context(directory: Path, url: str, authority: Authority, who: Authority) -> None:
    """Write the context `theirs`: `authority` vouches for its daemon, and `who` for us."""
    write_contexts(directory, {"theirs": Daemon("db-1", url, ours=False)})
    write_secured(directory, "theirs", authority, who)


def refused(secured: Secured) -> UnavailableError:
    with (
        pytest.raises(UnavailableError) as refusal,
        open_existing({"db-1": "theirs"}, [secured.host]),
    ):
        raise AssertionError("unreachable: the daemon must not answer")
    assert refusal.value.where == "db-1"
    assert refusal.value.hint == "docker --context theirs info"
    assert "the daemon of Docker context `theirs` does not answer" in refusal.value.what
    return refusal.value


def test_a_database_is_deployed_on_a_daemon_that_asks_for_certificates(
    secured: Secured, context: Path
) -> None:
    write_context(context, secured.url, secured.authority, secured.authority)
    hosts = [secured.host]
    with open_existing({"db-1": "theirs"}, hosts) as existing:
        assert existing.facts()["context"] == "theirs"
        platform = Docker(DEPLOYMENT, tuple(hosts), existing, TREES, "b1-secured")
        try:
            reservation = platform.reserve(Redis().layout(DEPLOYMENT.database))
            walk = partial(Redis().stages, DEPLOYMENT.database)
            form(platform, walk, reservation, secured.testbed.clock, deadline=30.0)
            with closing(connect(existing.daemon("db-1"))) as theirs:
                assert len(theirs.containers.list()) == 1
        finally:
            platform.down()
        with closing(connect(existing.daemon("db-1"))) as theirs:
            assert theirs.containers.list(all=True) == []


def test_a_daemon_that_does_not_believe_our_certificate_is_told(
    secured: Secured, context: Path
) -> None:
    write_context(context, secured.url, secured.authority, Authority("else"))
    what = refused(secured).what
    assert "certificate verify failed" not in what  # so it was not we who refused
    # What it says to us arrives, or only that it ended the connection: it does not wait until we
    # read. Its log has the cause in any case.
    assert eventually(lambda: NOT_BELIEVED in secured.daemons.logged("db-1")), what


def test_a_daemon_whose_certificate_we_do_not_believe_is_told(
    secured: Secured, context: Path
) -> None:
    write_context(context, secured.url, Authority("else"), secured.authority)
    assert "certificate verify failed" in refused(secured).what
