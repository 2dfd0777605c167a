"""A real member of a ring whose disk is full."""

from __future__ import annotations

import re
import uuid
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lab_traces import Traces

from dunnage import catalog
from dunnage.errors import RunError, StayError
from dunnage.hosts.namespace.testbed import NamespaceTestbed
from dunnage.model.choices import Phase
from dunnage.runner.endpoint import allowed
from dunnage.runner.fill import fill
from dunnage.runner.formation import form
from dunnage.runner.stay import Stay
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 1, client: 1}}, cores: shared}}
database: {{kind: cassandra, settings: {{jvm.compilers: C1}}}}
deployments:
  native: {{platform: native}}
workloads: [A, C]
records: 200000
load: {{threads: [4], warmup: 500ms, duration: 4s, timeout: 1s}}
blocks: 1
deadline: 120s
patience: 0s
"""


@pytest.mark.proof
def test_a_full_disk_under_a_members_data_is_told_when_records_are_put_in() -> None:
    name = f"full-{uuid.uuid4().hex[:8]}"
    study = read_study(STUDY.format(name=name), "study.yaml", catalog.OFFER)
    (deployment,) = deployments(study, catalog.OFFER)
    database = catalog.DATABASES["cassandra"]()
    with catalog.open_testbed(study.testbed, name, keep=False) as testbed:
        platform = catalog.platform(
            deployment, testbed, None, catalog.software("namespace"), "b1-full"
        )
        try:
            reservation = platform.reserve(database.layout(deployment.database))
            (place,), (host,) = reservation.places, testbed.group("db")
            assert host.run(["mkdir", "-p", place.data]).code == 0
            mount = ["mount", "-t", "tmpfs", "-o", "size=150m", "tmpfs", place.data]
            assert host.run(mount).code == 0
            walk = partial(database.stages, deployment.database)
            formed = form(platform, walk, reservation, testbed.clock, study.deadline)
            journal: list[dict[str, object]] = []
            equipment = SimpleNamespace(
                study=study,
                testbed=testbed,
                generator=catalog.GENERATORS["engine"](),
                writer=SimpleNamespace(journal=lambda _, **told: journal.append(told)),
            )
            stay = Stay(
                name="b1-full",
                plan=cast("Any", None),
                deployment=deployment,
                equipment=cast("Any", equipment),
                database=database,
                platform=platform,
                reservation=formed.reservation,
                target=(target := database.target(deployment.database, formed.reservation)),
                endpoint=allowed(target, {}),
                substrate=None,
                clients=testbed.group("client"),
                slowdown=cast("Any", None),
                restarts=cast("Any", None),
            )
            run = next(iter(make_plan(study, [deployment]).runs()))
            assert run.workload.phase is Phase.RUN
            # Either the server refuses writes, those of another try too, or Java dies in a log that
            # it has mapped.
            with pytest.raises((RunError, StayError)) as raised:
                fill(stay, run)
            told = "; ".join([*(str(each["why"]) for each in journal), str(raised.value)])
            why = r"loading stored \d+ of 200000 records; errors:|cassandra-1: died"
            assert re.search(why, told)
            log = platform.log(place.member, 2000)
            assert "No space left on device" in log or "SIGBUS" in log
        finally:
            platform.down()
    assert isinstance(testbed, NamespaceTestbed)
    Traces(testbed.name).insist_gone()
