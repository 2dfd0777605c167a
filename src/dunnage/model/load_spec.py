"""The load of a study, as the file says it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from dunnage.model.choices import Arrivals
from dunnage.model.level import SHORTEST, Search
from dunnage.model.value import Spec
from dunnage.units import SHARES, Seconds, quantity


class RateSpec(Spec):
    """One rate of an open load: operations per second, or a share of the baseline's capacity."""

    number: Annotated[float, Field(gt=0)] | None = None
    share: Annotated[float, Field(gt=0, le=2)] | None = None


def _rate(value: object) -> object:
    """A number counts operations per second, `60%` is a share."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"number": value}
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return {"share": quantity(value, SHARES)}
    if isinstance(value, RateSpec):
        return value
    raise ValueError(
        "a rate is a number of operations per second, for example `2000`, or a share of the "
        "baseline's capacity, for example `60%`"
    )


Rate = Annotated[
    RateSpec,
    BeforeValidator(_rate),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*%\s*$"},
            ],
            "description": "Operations per second, or a share of the baseline's capacity (`60%`).",
        }
    ),
]


class CalibrationSpec(Spec):
    """How to find the capacity of the baseline, where rates are shares of it."""

    threads: int | None = Field(default=None, ge=1, le=4096, examples=[32])
    """Threads of the closed loop. Default: the largest of `threads`, or else `connections`."""
    runs: int = Field(default=3, ge=1, le=9, examples=[3])
    """Runs of each workload. The median is the capacity."""
    duration: Seconds = Field(default=3.0, ge=SHORTEST, examples=["3s"])
    """Measured time of one such run."""


class LoadSpec(Spec):
    """How hard and how long each run drives the database.

    `threads` is a closed loop: each thread waits for its answer. `rate` is an open load: operations
    have intended starts that do not depend on the database. `search` finds the highest such rate
    that is sustained.
    """

    threads: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = Field(
        default=(), examples=[[8, 32]]
    )
    """Numbers of threads of a closed loop; each is a level."""
    rate: tuple[Rate, ...] = Field(default=(), examples=[[2000, "60%"]])
    """Operations per second, or shares of the baseline's capacity."""
    search: Search | None = Field(
        default=None, examples=[{"start": 1000, "precision": "5%", "probes": 20, "probe": "2s"}]
    )
    """Find the highest rate that each deployment sustains."""
    calibration: CalibrationSpec = Field(
        default=CalibrationSpec(), examples=[{"threads": 32, "runs": 3, "duration": "3s"}]
    )
    connections: int = Field(default=64, ge=1, le=4096, examples=[64])
    """Most operations in flight under an open load."""
    arrivals: Arrivals = Field(default=Arrivals.CONSTANT, examples=["poisson"])
    # A turn's beginning does not count, and over more than a few seconds the machine is another.
    turns: Annotated[Seconds, Field(ge=0.15, le=5)] | None = Field(default=None, examples=["200ms"])
    """All deployments of a block run together, each on its own hosts, and get load in turns of this
    length. Slow changes of the machine then cancel. `duration` is the total of one deployment. The
    sampler must read twice in the others' turns (`sampler: {rate: 10Hz}`). Closed loops only.
    Latencies are not compared."""
    conditioning: Seconds = Field(default=0.0, ge=0, examples=["30s"])
    """Time of load before the first run of a stay, for servers that compile while they run. It uses
    all workloads that insert nothing, one after another."""
    warmup: Seconds = Field(default=1.0, ge=0, examples=["1s"])
    """Time at the start of a run that is not measured."""
    duration: Annotated[Seconds, Field(ge=SHORTEST)] | None = Field(default=None, examples=["10s"])
    """Measured time of a run."""
    operations: int | None = Field(default=None, ge=1, examples=[100_000])
    """Stop after this many operations, in place of `duration`."""
    timeout: Seconds = Field(default=10.0, gt=0, examples=["10s"])
    """An operation without an answer in this time is an error."""
