"""The substrates of a study: where each lives, and which are awake during a stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from dunnage import catalog
from dunnage.contracts.host import Host
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.errors import failing_stay
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan
from dunnage.model.study import CLIENT_GROUP, CONTROL_GROUP, Study, TestbedSpec
from dunnage.model.value import Scalar
from dunnage.runner.ending import ending
from dunnage.runner.stay import Equipment, Stay
from dunnage.study.slots import slot, with_slots

AWAKE = "awake"
FROZEN = "frozen"


def testbed_of(study: Study, deployments: Sequence[Deployment]) -> TestbedSpec:
    """The hosts that a study needs: its own, those of places in turns, and one for control.

    `deployments` are all of the study's that can run here.
    """
    spec = _with_image(study, deployments, with_slots(study, deployments))
    if not any(_directed(study, deployment) for deployment in deployments):
        return spec
    return spec.model_copy(update={"hosts": {**spec.hosts, CONTROL_GROUP: 1}})


def _with_image(study: Study, deployments: Sequence[Deployment], spec: TestbedSpec) -> TestbedSpec:
    """Where nodes run our engine in an image, the database's will do, or a deployment's own."""
    if spec.context is None or spec.image is not None:
        return spec
    known = (study.database.image, *(each.database.image for each in deployments))
    return spec.model_copy(update={"image": next(filter(None, known), None)})


def obtain_software(study: Study, plan: Plan, tell: Callable[[str], None]) -> None:
    """Have what substrates are made of, which may have to be built for minutes: before there is a
    lab, and before others wait for this machine. `tell` hears how far it is.

    Raises UnavailableError where it cannot be had.
    """
    for family in catalog.families(study, plan.brought_up()):
        catalog.obtain(family, study.substrate, tell)


def open_substrates(
    stack: ExitStack,
    study: Study,
    plan: Plan,
    every: Sequence[Deployment],
    testbed: Testbed,
    *,
    keep: bool,
    tell: Callable[[str], None],
) -> Mapping[str, Substrate]:
    """One substrate for each family that a deployment needs, on the hosts that need it.

    Where a deployment is reached by floating addresses, hosts get those first. Substrates close
    with the stack. `every` is all of the study's deployments that can run here, among
    whose places those of the plan rotate. `tell` hears of software that was not obtained before.
    """
    needed = plan.brought_up()
    catalog.translate(testbed, needed)
    opened: dict[str, Substrate] = {}
    for family in catalog.families(study, needed):
        users = [each for each in needed if family in catalog.layers(study, each)]
        below = catalog.OFFER.substrate(family, study.substrate)[1].below
        opened[family] = stack.enter_context(
            catalog.open_substrate(
                family,
                study.substrate,
                testbed,
                _hosts(study, users, len(every), testbed),
                opened[below] if below is not None else None,
                keep=keep,
                choices=catalog.choices(users),
                tell=tell,
            )
        )
    return opened


def substrate_facts(substrates: Mapping[str, Substrate]) -> dict[str, Scalar]:
    """What substrates tell of themselves, each fact behind its family's name."""
    return {
        f"{family}.{key}": value
        for family, substrate in substrates.items()
        for key, value in substrate.facts().items()
    }


@contextmanager
def awake_for(equipment: Equipment, deployment: Deployment) -> Iterator[Mapping[str, str]]:
    """Hold still, while the `with` lasts, what a deployment does not need.

    Yields what `states` says. Raises StayError when one cannot be held still, or does not go on;
    that it does not go on is only noted where something else has ended the stay.
    """
    told = states(equipment, deployment)
    with ExitStack() as stack:
        for family, state in told.items():
            if state == FROZEN:
                _rest(equipment.substrates[family], stack)
        yield told


def states(equipment: Equipment, deployment: Deployment) -> Mapping[str, str]:
    """Family → `awake` or `frozen`, on a deployment's hosts while it is measured.

    What stands on something that is needed stays awake with it: a manager that was held still for
    a minute is found by its nodes only after seconds.
    """
    idle = {*_idle(equipment, catalog.layers(equipment.study, deployment))}
    return {family: FROZEN if family in idle else AWAKE for family in equipment.substrates}


def rest_idle(equipment: Equipment, stays: Sequence[Stay], stack: ExitStack) -> None:
    """Freeze substrates on the hosts of deployments that do not need them, until the stack ends.

    What a daemon does on such a host would be counted as its deployment's. Raises StayError as
    `awake_for` does.
    """
    idle: dict[str, list[str]] = {}
    for stay in stays:
        hosts = [host.name for host in equipment.testbed.group(stay.deployment.hosts)]
        for family in _idle(equipment, catalog.layers(equipment.study, stay.deployment)):
            idle.setdefault(family, []).extend(hosts)
    for family, hosts in idle.items():
        _rest(equipment.substrates[family], stack, hosts)


def _rest(substrate: Substrate, stack: ExitStack, hosts: Collection[str] | None = None) -> None:
    """Hold a substrate still, on some hosts or on all, until the stack ends."""

    def wake() -> None:
        with failing_stay():
            substrate.wake()

    stack.push(ending(wake))
    with failing_stay():
        substrate.freeze(hosts)


def units_on(substrate: Substrate | None, host: Host) -> Mapping[str, str]:
    """Unit → control group of what a substrate runs on a host."""
    units = () if substrate is None else substrate.units(host.name)
    return {unit: host.control_group(unit) for unit in units}


def _idle(equipment: Equipment, needed: Collection[str]) -> Iterator[str]:
    """Families that are ours to hold still and share nothing with what is needed."""
    offer, specs = catalog.OFFER, equipment.study.substrate
    for family in equipment.substrates:
        ours = not offer.substrate(family, specs)[1].theirs
        if ours and not set(needed) & set(offer.layers(family, specs)):
            yield family


def _directed(study: Study, deployment: Deployment) -> bool:
    """Whether a deployment needs a substrate that has a part on a control host."""
    families = catalog.layers(study, deployment)
    return any(catalog.OFFER.substrate(each, study.substrate)[1].control for each in families)


def _hosts(
    study: Study, users: Sequence[Deployment], places: int, testbed: Testbed
) -> tuple[Host, ...]:
    groups = {group for deployment in users for group in catalog.groups_of(deployment)}
    if study.load.turns is not None:  # each may live on any of them
        members = groups - {CLIENT_GROUP}
        groups |= {slot(group, place) for group in members for place in range(places)}
    if any(_directed(study, deployment) for deployment in users):
        groups.add(CONTROL_GROUP)
    return tuple(host for host in testbed.hosts if host.group in groups)
