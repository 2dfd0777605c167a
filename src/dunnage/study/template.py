"""The text that `dunnage init` writes: a study to begin with, every line explained."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DEPLOYMENTS = {
    "native": """\
  native:                   # processes started directly on the hosts
    platform: native
""",
    "docker": """\
  docker-host:              # containers in the host's own network
    platform: docker
    network: host
  docker-bridge:            # containers behind Docker's bridge, reached by published ports
    platform: docker
    network: bridge
""",
    "fake": """\
  plain:                    # a platform that exists in memory only
    platform: fake
    network: plain
  late:                     # its addresses are known only after the start
    platform: fake
    network: late
""",
}
_NAMES = {
    "native": ("native",),
    "docker": ("docker-host", "docker-bridge"),
    "fake": ("plain", "late"),
}
_DATABASES = {
    "redis": "topology: replicas        # one primary and two copies; also `single`, `cluster`",
    "fake": "topology: sharded         # also `single`",
}


def template(
    name: str = "my-study", database: str = "redis", platforms: Sequence[str] = ("native", "docker")
) -> str:
    """Return a commented study called `name`, as far as that can be a name.

    The first deployment of the first platform becomes the baseline. Raises KeyError for a database
    or platform that there is no template for.
    """
    names = [each for platform in platforms for each in _NAMES[platform]]
    baseline, *others = names
    against = ", ".join(others) or f"{baseline}-twin"
    fake = database == "fake"
    parts = "generator: fake\nsampler: {kind: fake, rate: 5Hz}\n" if fake else ""
    return f"""\
# A study for Dunnage: what to compare, where, under which load, and which questions to answer.
#
#   dunnage plan THIS-FILE      shows every run, the time it takes, and what is missing
#   dunnage run THIS-FILE       carries it out and writes a report
#
# Quantities carry their units: 10s, 3%, 1GiB, 5Hz. A mistyped key is an error, never ignored.

dunnage: 1                  # version of this grammar
name: "{_name(name)}"

# Where it runs: hosts made of Linux namespaces on this machine.
testbed:
  kind: {"fake" if fake else "namespace"}
  hosts: {{db: 3, client: 1}} # groups: members live on `db`, the load is made on `client`

# What is deployed, the same in every variant.
database:
  kind: {database}
  {_DATABASES[database]}
  members: 3                # at most one on each host of the group `db`

# The variants to compare.
deployments:
{"".join(_DEPLOYMENTS[platform] for platform in platforms)}
# To multiply every variant by a choice, remove the `#` here (names become `…-storage-tmpfs`):
# factors: {{storage: [bind, tmpfs]}}

# Deployed twice in every block; how far the twins differ is how far the answers can be trusted.
twin: {baseline}

# The load: YCSB's core workloads, by letter (A half updates, B few, C reads only, … F).
workloads: [A, C]
records: 10000              # of 1 kB each
load:
  threads: [8, 32]          # a closed loop; instead `rate: [2000]`: so many operations per second
  warmup: 1s
  duration: 10s

blocks: 6                   # rounds; each holds every variant once, in a balanced random order
{parts}
# What the report answers. Differences within the tolerance count as none.
questions:
  throughput: {{baseline: {baseline}, against: [{against}], metric: throughput, tolerance: 3%}}
  latency: {{baseline: {baseline}, against: [{against}], metric: service.p95, tolerance: 3%}}
"""


def _name(wanted: str) -> str:
    """Return a study name as near to `wanted` as the grammar allows."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", wanted).strip("-_.")[:63] or "my-study"
