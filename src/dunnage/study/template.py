"""The text that `dunnage init` writes: a first study with comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil

from dunnage.model.offer import Offer, PlatformOffer, first
from dunnage.model.study import Study
from dunnage.study.williams import period


def template(
    offer: Offer, name: str = "my-study", database: str | None = None, platforms: Sequence[str] = ()
) -> str:
    """Return a commented study called `name`, as far as that can be a name.

    Nothing chosen means the first real database, and all platforms for the same hosts that say what
    to begin with. The first deployment of the first platform becomes the baseline. Raises KeyError
    for a database or platform that is not on offer.
    """
    kind = database or first(offer.databases, fake=False)
    chosen = offer.databases[kind]
    fake = chosen.fake
    going = {name: each for name, each in offer.platforms.items() if each.fake is fake}
    fitting = platforms or [name for name, each in going.items() if each.begin_with] or list(going)
    written = dict(
        each for platform in fitting for each in _deployments(platform, offer.platforms[platform])
    )
    baseline, *others = written
    against = ", ".join(others) or f"{baseline}-twin"
    testbed = first(offer.testbeds, fake=fake)
    topology, meaning = chosen.begin_with or (chosen.topologies[0], "")
    more = ", ".join(f"`{each}`" for each in chosen.topologies if each != topology)
    about = "; ".join(filter(None, (meaning, more and f"also {more}")))
    blocks = f"blocks: {_even(len(written) + 1)}"
    return f"""\
# A study for Dunnage: what to compare, where, under which load, and which questions to answer.
#
#   dunnage plan THIS-FILE      shows blocks, stays, counts and time; `--runs` lists the runs
#   dunnage run THIS-FILE       runs the study and writes a report
#
# Quantities have units: 10s, 3%, 1GiB, 5Hz. An unknown key is an error.

dunnage: 1                  # version of this grammar
name: "{_name(name)}"

# Where it runs: {offer.testbeds[testbed].meaning}.
testbed:
  kind: {testbed}
  hosts: {{db: 3, client: 1}} # groups: members run on `db`, the load generator on `client`

# What is deployed, the same in every variant.
database:
  kind: {kind}
  {_commented(f"topology: {topology}", about)}
  members: 3                # at most one on each host of the group `db`

# The variants to compare.
deployments:
{"".join(written.values())}{_another(baseline, fitting[0], offer.platforms[fitting[0]])}
# Started twice in every block. The difference between the twins shows the error of the answers.
twin: {baseline}

# The load: YCSB core workloads, by letter (A half updates, B few updates, C reads only, … F).
workloads: [A, C]
records: 10000              # of 1 kB each
load:
  threads: [8, 32]          # closed loops; `rate: [2000]` is an open load in operations per second
  warmup: 1s
  duration: 10s

{blocks:<27} # each starts every variant once, in a balanced random order
{_driven(offer, fake=fake)}
# What the report answers. A difference within the tolerance counts as none.
questions:
  throughput: {{baseline: {baseline}, against: [{against}], metric: throughput, tolerance: 3%}}
  latency: {{baseline: {baseline}, against: [{against}], metric: service.p95, tolerance: 3%}}
"""


def _deployments(name: str, platform: PlatformOffer) -> Iterator[tuple[str, str]]:
    """Names and lines of the deployments of one platform."""
    networks = platform.begin_with or {next(iter(platform.networks)): ""}
    for network, meaning in networks.items():
        called = name if len(networks) == 1 else f"{name}-{network}"
        lines = [_commented(f"{called}:", meaning), f"  platform: {name}"]
        if len(platform.networks) > 1:
            lines.append(f"  network: {network}")
        yield called, "".join(f"  {line}\n" for line in lines)


def _even(deployments: int) -> int:
    """The smallest number of blocks that has an interval and is balanced."""
    size, least = period(deployments), int(Study.model_fields["blocks"].default)
    return size * ceil(least / size)


def _another(baseline: str, name: str, platform: PlatformOffer) -> str:
    """A variant more, as a comment that may be uncommented; empty without another storage."""
    if len(platform.storages) < 2:
        return ""
    network = next(iter(platform.begin_with or platform.networks))
    storage = platform.storages[-1].value
    where = f", network: {network}" if len(platform.networks) > 1 else ""
    return (
        "# One variant more, if you remove this `#`:\n"
        f"#  {baseline}-{storage}: {{platform: {name}{where}, storage: {storage}}}\n"
    )


def _driven(offer: Offer, *, fake: bool) -> str:
    """The lines of a generator and a sampler, where those by default do not go with the hosts."""
    if offer.generators[Study.model_fields["generator"].default].fake is fake:
        return ""
    generator, sampler = first(offer.generators, fake=fake), first(offer.samplers, fake=fake)
    return f"generator: {generator}\nsampler: {{kind: {sampler}, rate: 5Hz}}\n"


def _commented(line: str, comment: str) -> str:
    return f"{line:<25} # {comment}" if comment else line


def _name(wanted: str) -> str:
    """Return a study name as near to `wanted` as the grammar allows."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", wanted).strip("-_.")[:63] or "my-study"
