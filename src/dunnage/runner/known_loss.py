"""A known loss of throughput: the slowdown that causes it is found before block 1.

After the last block the same loss is measured again, so that nobody has to believe that it stayed
what it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from dunnage.errors import DunnageError, HostLostError, RunError, StayError
from dunnage.findings.losses.toggled import Centre, centre, lost, pairs
from dunnage.model.deployment import PAUSE_PERIOD, Deployment
from dunnage.model.estimate import Estimate
from dunnage.model.loss import KnownLoss, Losses, LossStep
from dunnage.model.plan import BEFORE, RunPlan, StayPlan
from dunnage.runner.condition import condition
from dunnage.runner.drive import drive, order_for
from dunnage.runner.fill import fill, settle
from dunnage.runner.living_stay import living_stay
from dunnage.runner.outweigh import outweighing
from dunnage.runner.slowdown import Toggle, slowdown
from dunnage.runner.stay import Stay
from dunnage.runner.work import ATTEMPTS, Work, mend, restore_lost, said
from dunnage.store.events import LOSS_BEGINS
from dunnage.store.read import open_result
from dunnage.units import percent

STEP = 60.0
"""Seconds of one look at what is lost."""
PIECE = 3 * PAUSE_PERIOD
"""Seconds for which servers are held, and then left alone."""
STEPS = 8
"""Looks at most; then what is known of the loss is what is known."""
WITHIN = 0.005
"""Share of throughput by which the ends of the loss's interval may miss what was asked for, while
there are looks left."""
NEAR = 0.2
"""Looks whose share of time differs by more from the last one's do not count: what is lost grows
evenly with the share only nearby."""
FASTEST = 3.0
"""A look may change the share of time by this factor at most."""
WINDOW = 0.05
"""Seconds of a window of the generator's time line."""
LEAST = 20
"""Pairs without which a look tells nothing."""
LEAD = 2.0
"""Seconds until the first piece, when the generator has started."""

Look = tuple[LossStep, tuple[float, ...]]
"""A look with its log ratios."""


def known(work: Work) -> Work:
    """The same work with the slowdowns that lose what its deployments shall lose.

    Found now where the result does not know them. A check does not count before blocks that are
    still due. Raises DunnageError when one cannot be found: without it there is no study.
    """
    losses = dict(open_result(work.equipment.writer.layout.root).losses)
    if losses and any(run.id not in work.done for run in work.plan.runs()):
        losses = {name: loss.model_copy(update={"checked": None}) for name, loss in losses.items()}
        work.equipment.writer.losses(Losses(found=losses))
    for deployment in work.plan.losing():
        if deployment.original not in losses:
            losses[deployment.original] = _tried(work, deployment, None)
            work.equipment.writer.losses(Losses(found=losses))
    return replace(work, losses=losses)


def check(work: Work) -> None:
    """Measure every known loss once more, where that has not been done.

    What cannot be is told as a failure: the study is whole without it.
    """
    losses = dict(work.losses)
    for deployment in work.plan.losing():
        name = deployment.original
        if losses[name].checked is None:
            try:
                losses[name] = _tried(work, deployment, losses[name])
            except (StayError, HostLostError, RunError) as error:
                work.failures.append(f"the loss of `{deployment.name}`: {said(error)}")
                continue
            work.equipment.writer.losses(Losses(found=losses))


def _tried(work: Work, deployment: Deployment, before: KnownLoss | None) -> KnownLoss:
    """Find a loss, or measure the one from before; in a new stay once more if it fails."""
    failed: DunnageError | None = None
    for _ in range(ATTEMPTS):
        try:
            with _stay(work, deployment, before) as (stay, run):
                return (
                    _found(work, stay, run) if before is None else _again(work, stay, run, before)
                )
        except (StayError, HostLostError, RunError) as error:
            failed = error
            work.watcher.say(f"the loss of `{deployment.name}` is not known: {said(error)}")
            restore_lost(work)
    assert failed is not None  # noqa: S101 (every attempt ended by an error)
    raise failed


@contextmanager
def _stay(
    work: Work, deployment: Deployment, before: KnownLoss | None
) -> Iterator[tuple[Stay, RunPlan]]:
    """A stay of the deployment at full speed, ready to be driven as its runs are."""
    run = next(run for run in work.plan.runs() if run.deployment == deployment.name)
    suffix = "-checked" if before is not None else ""
    plan = StayPlan(
        id=f"loss-{deployment.name}{suffix}", block=BEFORE, deployment=deployment.name, runs=(run,)
    )
    work.stop.check()
    mend(work)
    name = work.equipment.writer.new_stay(plan.id)
    work.equipment.writer.journal(LOSS_BEGINS, stay=name, deployment=deployment.name)
    at_full_speed = deployment.model_copy(update={"slowdown": 0.0})
    living = living_stay(work.equipment, plan, name, at_full_speed)
    with work.stop.until_left(living) as stay:
        fill(stay, run)
        condition(stay, run)
        settle(stay)
        yield stay, run


def _found(work: Work, stay: Stay, run: RunPlan) -> KnownLoss:
    """Change the share of time until as much is lost as is asked for.

    The share is where the line through all near looks crosses what is asked for, so its loss is
    that by construction; the interval tells how well the line is known. The check after the last
    block is of looks of its own.
    """
    asked = stay.deployment.loss
    share = asked
    looks: list[Look] = []
    while True:
        looks.append(_look(work, stay, run, share, len(looks) + 1))
        rate, n = _rate(looks)
        wanted = _share(asked, rate, share)
        loss = lost(rate, wanted, n)
        near = _near(share, wanted)
        if near and (_close(loss, asked) or len(looks) == STEPS):
            steps = tuple(step for step, _ in looks)
            return KnownLoss(asked=asked, share=wanted, loss=loss, steps=steps)
        if len(looks) == STEPS:
            raise RunError(
                f"no slowdown that loses {percent(asked)} of throughput was found in {STEPS} looks",
                where=stay.name,
            )
        share = wanted


def _again(work: Work, stay: Stay, run: RunPlan, before: KnownLoss) -> KnownLoss:
    """Measure the known loss with as many looks as found it."""
    looks = [
        _look(work, stay, run, before.share, number) for number in range(1, len(before.steps) + 1)
    ]
    rate, n = _rate(looks)
    return before.model_copy(update={"checked": lost(rate, before.share, n)})


def _close(loss: Estimate, asked: float) -> bool:
    """Whether all that the loss may be lies near enough to what is asked for."""
    assert loss.low is not None and loss.high is not None  # noqa: S101 (it was estimated)
    return asked - WITHIN <= loss.low and loss.high <= asked + WITHIN


def _near(one: float, other: float) -> bool:
    return abs(one / other - 1) <= NEAR


def _rate(looks: list[Look]) -> tuple[Centre, int]:
    """Log of throughput lost for each share of time, of the looks near the last one; pairs."""
    last = looks[-1][0].share
    rates = [log / step.paused for step, logs in looks if _near(step.share, last) for log in logs]
    return centre(rates), len(rates)


def _share(asked: float, rate: Centre, last: float) -> float:
    """The share of time that loses what is asked for, where throughput falls at this rate."""
    wanted = math.log1p(-asked) / rate.value if rate.value < 0 else math.inf
    return min(max(wanted, last / FASTEST), last * FASTEST, 0.9)


def _look(work: Work, stay: Stay, run: RunPlan, share: float, number: int) -> Look:
    """Drive the deployment while its servers are held and left alone in turn."""
    work.stop.check()
    testbed = stay.equipment.testbed
    begin = testbed.clock.now() + LEAD
    order = replace(
        order_for(stay, run), warmup=LEAD, duration=STEP, interval=WINDOW, latencies=False
    )
    members = stay.platform.running()
    toggle = Toggle(begin, PIECE)
    with outweighing(testbed), slowdown(share, members, testbed.clock, toggle) as held:
        _, measurement = drive(stay, order, f"loss/{number}")
        began = measurement.began - stay.clients[0].clock_offset()
        paused, cpu = (of(began, measurement.seconds) or 0.0 for of in (held.paused, held.cpu))
    # A stop comes at the beginning of its period. With pieces that begin half a period earlier all
    # stops lie inside of pieces, however long each takes.
    logs = pairs(measurement.windows, began, begin - PAUSE_PERIOD / 2, PIECE)
    if len(logs) < LEAST:
        raise RunError(f"only {len(logs)} pieces of time can be compared", where=stay.name)
    log = centre(logs)
    step = LossStep(
        share=share,
        paused=2 * paused,
        pairs=len(logs),
        loss=-math.expm1(log.value),
        low=-math.expm1(log.high),
        high=-math.expm1(log.low),
        cpu=cpu,
    )
    stay.equipment.writer.journal("loss measured", stay=stay.name, **step.model_dump())
    work.watcher.say(
        f"stopping `{stay.deployment.name}` for {percent(step.paused)} of the time loses "
        f"{percent(step.loss)} of throughput ({percent(step.low)} … {percent(step.high)})"
    )
    return step, logs
