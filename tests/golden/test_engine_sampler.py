"""The engine's sampler: what is asked of it fits the schema, and its real output is read."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from dunnage.errors import RunError
from dunnage.model.load import WatchOrder
from dunnage.samplers.engine import EngineSampler

ROOT = Path(__file__).parents[2]
REAL = (ROOT / "tests" / "fixtures" / "sampler" / "samples.jsonl").read_bytes()
ORDER = WatchOrder(
    host="db-1",
    address="10.77.0.1",
    units={"": "/lab/db-1", "redis-1": "/lab/db-1/redis-1"},
    rate=5.0,
    networks={"client-1": (4026532001,), "bridge": (4026532002,)},
)


def schema(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((ROOT / "schema" / name).read_text())
    return found


def test_the_plan_fits_the_schema() -> None:
    command = EngineSampler().command(ORDER, "/engine", "/scratch/watch")
    plan = json.loads(command.files["watch.json"])
    jsonschema.validate(plan, schema("engine-watch.schema.json"))
    assert plan["units"] == ORDER.units
    assert plan["networks"] == {"client-1": [4026532001], "bridge": [4026532002]}


def test_the_engine_is_told_where_the_plan_lies_and_where_to_write() -> None:
    command = EngineSampler().command(ORDER, "/engine", "/scratch/watch")
    assert command.argv == (
        "/engine",
        "sample",
        "--plan",
        "/scratch/watch/watch.json",
        "--out",
        "/scratch/watch",
    )
    assert command.directory == "/scratch/watch"
    assert command.artefacts == ("samples.jsonl",)


def test_real_output_fits_the_schema_and_is_read_whole() -> None:
    for line in REAL.splitlines():
        jsonschema.validate(json.loads(line), schema("engine-samples.schema.json"))
    found = EngineSampler().parse({"samples.jsonl": REAL})
    assert found.host == "db-1"
    assert found.interval == 0.2
    assert len(found.samples) == len(found.own_cpu) == 3
    first, *_, last = found.samples
    assert last.units[""]["cpu"] > first.units[""]["cpu"]
    assert last.machine["cpu_total"] > first.machine["cpu_total"]
    assert 0.15 < found.samples[1].time - first.time < 0.25
    assert "did not exist" in found.absent["redis-1"]


def test_what_a_killed_sampler_left_is_read_up_to_its_last_whole_line() -> None:
    cut = REAL[: REAL.rindex(b'{"line":"footer"') - 40]
    assert len(EngineSampler().parse({"samples.jsonl": cut}).samples) == 2


def counted(soft: object) -> bytes:
    """The real output, as if soft interrupts had been counted."""
    lines = [json.loads(line) for line in REAL.splitlines()]
    lines[0]["soft_method"] = "by hand"
    for line in lines:
        if line["line"] == "sample":
            line["soft_interrupts"] = soft
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_soft_interrupts_fit_the_schema_and_are_read_where_they_were_counted() -> None:
    soft = {"networks": {"db-1": 1.5}, "elsewhere": 0.1, "no_packet": 0.2, "other_kinds": 0.3}
    content = counted(soft)
    for line in content.splitlines():
        jsonschema.validate(json.loads(line), schema("engine-samples.schema.json"))
    (found, *_) = EngineSampler().parse({"samples.jsonl": content}).samples
    assert found.soft is not None
    assert found.soft.networks == {"db-1": 1.5}
    apart = (found.soft.elsewhere, found.soft.no_packet, found.soft.other_kinds)
    assert apart == (0.1, 0.2, 0.3)
    assert found.soft.method == "by hand", "as the engine tells it"
    (found, *_) = EngineSampler().parse({"samples.jsonl": REAL}).samples
    assert found.soft is None


@pytest.mark.parametrize(
    ("artefacts", "words"),
    [
        ({}, "left no `samples.jsonl`"),
        ({"samples.jsonl": b""}, "holds no sample"),
        ({"samples.jsonl": REAL.splitlines(keepends=True)[0]}, "holds no sample"),
        ({"samples.jsonl": b"rubbish\n"}, "cannot be read"),
        ({"samples.jsonl": counted({"networks": 3})}, "cannot be read"),
        ({"samples.jsonl": REAL.replace(b'"version":1', b'"version":9')}, "version 9, above 5"),
    ],
)
def test_what_cannot_be_used_is_an_error(artefacts: dict[str, bytes], words: str) -> None:
    with pytest.raises(RunError, match=words):
        EngineSampler().parse(artefacts)
