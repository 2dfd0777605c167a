"""One deployment, brought up to be looked at and taken down: no load, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from dunnage import catalog
from dunnage.model.deployment import Deployment
from dunnage.model.path import NetworkPath
from dunnage.model.plan import Plan
from dunnage.model.study import CLIENT_GROUP, Study
from dunnage.runner.ending import ending
from dunnage.runner.formation import form
from dunnage.runner.hints import fitting
from dunnage.runner.interrupt import Stop
from dunnage.runner.substrates import obtain_software, open_substrates, testbed_of
from dunnage.wording.numbers import count

_NAME = "look"
"""What the stay is called on its hosts."""


def paths_of(
    study: Study,
    deployment: Deployment,
    say: Callable[[str], None],
    stop: Stop,
    tell: Callable[[str], None],
) -> tuple[NetworkPath, ...]:
    """The way from the first client to each member, while the deployment lives.

    It waits for studies that measure on this machine, which `say` is told of; `tell` is told of
    each step that is done. Raises StayError when the deployment does not come up, and
    KeyboardInterrupt when the user stops it.
    """
    plan = Plan(study=study.name, seed=study.seed, deployments=(deployment,), blocks=())
    with stop.at_once(), stop.until_left(ExitStack()) as stack:
        stack.enter_context(fitting(study.testbed))
        obtain_software(study, plan, say)
        stack.enter_context(catalog.measuring(study, say))
        testbed = stack.enter_context(
            catalog.open_testbed(
                testbed_of(study, [deployment]),
                study.name,
                keep=False,
                storages={deployment.storage},
                tell=say,
            )
        )
        tell(count(len(testbed.hosts), "host"))
        substrates = open_substrates(
            stack, study, plan, [deployment], testbed, keep=False, tell=say
        )
        for each in substrates:
            tell(f"{each}, ready")
        family = catalog.family(deployment)
        substrate = substrates[family] if family is not None else None
        trees = catalog.software(study.testbed.kind)
        platform = catalog.platform(deployment, testbed, substrate, trees, _NAME)
        database = catalog.DATABASES[deployment.database.kind]()
        stack.push(ending(platform.down))
        reservation = platform.reserve(database.layout(deployment.database))
        form(
            platform,
            lambda now: database.stages(deployment.database, now),
            reservation,
            testbed.clock,
            study.deadline,
        )
        tell(f"{deployment.name}, ready")
        return platform.paths(platform.client(testbed.group(CLIENT_GROUP)[0]))
