"""The engine's generator against output that the real engine left."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from dunnage.errors import RunError
from dunnage.generators.engine import EngineGenerator, plan, windows
from dunnage.generators.ycsb_core import CORE
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.layout import Address, Target
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests/fixtures/engine"
NAMES = ("result.json", "latency.hlog")


def artefacts(name: str) -> dict[str, bytes]:
    return {file: (FIXTURES / name / file).read_bytes() for file in NAMES}


def second(apart: float = 0.0) -> dict[str, bytes]:
    """The second part, which was captured after the first, as if begun `apart` seconds later."""
    result = json.loads(artefacts("closed-1")["result.json"])
    result["began"] = json.loads(artefacts("closed-0")["result.json"])["began"] + apart
    return {**artefacts("closed-1"), "result.json": json.dumps(result).encode()}


def schema(name: str) -> dict[str, object]:
    content: dict[str, object] = json.loads((ROOT / "schema" / name).read_text())
    return content


def order(
    core: str = "A", level: Level | None = None, phase: Phase = Phase.RUN, **changes: object
) -> LoadOrder:
    address = Address("10.0.0.1", 6379)
    values: dict[str, object] = {
        "workload": Workload.model_validate(
            {"name": core, "core": core, "phase": phase, "records": 1000}
        ),
        "phase": phase,
        "level": level or Level(threads=5),
        "target": Target("redis", "replicas", (address,), frozenset({address}), {"wait": 1}),
        "connections": 64,
        "arrivals": Arrivals.POISSON,
        "warmup": 1.0,
        "duration": 4.0,
        "operations": None,
        "timeout": 10.0,
        "seed": 7,
        **changes,
    }
    return LoadOrder(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("core", sorted(CORE))
@pytest.mark.parametrize(
    "level", [Level(threads=5), Level(rate=2000)], ids=lambda level: level.name
)
def test_every_plan_is_what_the_engine_accepts(core: str, level: Level) -> None:
    directories = ["/run/one", "/run/two", "/run/three"]
    commands = EngineGenerator().commands(order(core, level), "/opt/engine", directories)
    assert [command.argv for command in commands] == [
        ("/opt/engine", "load", "--plan", f"{directory}/plan.json", "--out", directory)
        for directory in directories
    ]
    for index, command in enumerate(commands):
        content = json.loads(command.files["plan.json"])
        jsonschema.validate(content, schema("engine-load.schema.json"))
        assert content["part"] == {"index": index, "of": 3}
        assert sum(content["workload"]["mix"].values()) == pytest.approx(1)


def test_a_load_phase_that_ends_by_itself_has_no_warm_up() -> None:
    assert plan(order(phase=Phase.LOAD, duration=None), 0, 1)["warmup"] == 0
    assert plan(order(phase=Phase.LOAD), 0, 1)["warmup"] == 1


def test_more_engines_than_threads_are_refused() -> None:
    with pytest.raises(RunError, match="6 engines cannot share 5"):
        EngineGenerator().commands(order(), "engine", ["/run/load"] * 6)


@pytest.mark.parametrize("name", ["closed-0", "closed-1", "open"])
def test_what_the_engine_leaves_is_of_its_schema(name: str) -> None:
    content = json.loads(artefacts(name)["result.json"])
    jsonschema.validate(content, schema("engine-result.schema.json"))
    assert content["shape"] == ("hash" if content["remotes"] else "none")


def test_two_parts_are_added_and_nothing_is_averaged() -> None:
    parts = [artefacts("closed-0"), second()]
    results = [json.loads(part["result.json"]) for part in parts]
    measured = EngineGenerator().parse(parts)
    assert measured.parts == 2
    assert measured.offered is None
    for operation in ("read", "update"):
        stats = measured.operations[operation]
        assert stats.count == sum(result["operations"][operation] for result in results)
        assert stats.service is not None
        assert stats.service.count == stats.count
        assert stats.response is None
    everything = measured.operations["all"]
    assert everything.service is not None
    assert (
        everything.count
        == everything.service.count
        == sum(sum(result["operations"].values()) for result in results)
    )
    assert list(everything.service.quantiles) == ["p50", "p90", "p95", "p99", "p99.9", "p99.99"]
    assert sorted(everything.service.quantiles.values()) == list(
        everything.service.quantiles.values()
    )
    assert [window.start for window in measured.windows] == pytest.approx([-0.2, 0, 0.2])
    assert sum(window.operations for window in measured.windows[1:]) == everything.count
    assert measured.remotes == ("127.0.0.1:17901",)
    assert measured.client_cpu == pytest.approx(
        sum(result["cpu_user"] + result["cpu_system"] for result in results)
    )


def test_the_part_that_was_at_its_limit_longest_says_for_how_long() -> None:
    parts = [artefacts("closed-0"), second()]
    for part, limited in zip(parts, (0.1, 0.3), strict=True):
        changed = json.loads(part["result.json"]) | {"seconds": 0.4, "limited": limited}
        part["result.json"] = json.dumps(changed).encode()
    assert EngineGenerator().parse(parts).client_limited == pytest.approx(0.75)


def test_each_part_has_its_instant_and_tells_when_it_began() -> None:
    ordered = order(starts=(1000.25, 1007.5))
    assert [plan(ordered, index, 2)["start"] for index in (0, 1)] == [1000.25, 1007.5]
    assert plan(order(), 0, 1)["start"] is None
    parts = [artefacts("closed-0"), second()]
    assert EngineGenerator().parse(parts).starts == ()  # of an engine that did not tell
    for part, started in zip(parts, (1000.5, 1007.75), strict=True):
        changed = json.loads(part["result.json"]) | {"started": started}
        part["result.json"] = json.dumps(changed).encode()
    assert EngineGenerator().parse(parts).starts == (1000.5, 1007.75)


def test_operations_that_were_late_never_started_or_left_out_are_added() -> None:
    parts = [artefacts("closed-0"), second()]
    for part, number in zip(parts, (1, 20), strict=True):
        changed = json.loads(part["result.json"]) | {
            "late": {"read": number},
            "unsent": {"update": 2 * number},
            "dropped": {"read": 3 * number, "scan": number},
            "unfinished": {"read": 4 * number},
        }
        part["result.json"] = json.dumps(changed).encode()
    found = {
        operation: (stats.late, stats.unsent, stats.dropped, stats.unfinished)
        for operation, stats in EngineGenerator().parse(parts).operations.items()
    }
    assert found == {
        "read": (21, 0, 63, 84),
        "update": (0, 42, 0, 0),
        "scan": (0, 0, 21, 0),
        "all": (21, 42, 84, 84),
    }


def changed(**facts: object) -> list[dict[str, bytes]]:
    """Two parts that tell such facts."""
    parts = [artefacts("closed-0"), second()]
    for part in parts:
        part["result.json"] = json.dumps(json.loads(part["result.json"]) | facts).encode()
    return parts


def test_the_record_says_how_records_were_kept_and_how_they_were_driven() -> None:
    ways = ["TLSv1.3 TLS13_AES_128_GCM_SHA256, certificate checked"]
    levels = {"read": "primary", "write": "WAIT 1"}
    parts = changed(shape="string", consistency=levels, encryption=ways, verified=7)
    other = json.loads(parts[1]["result.json"]) | {"saturated": True, "encryption": ["another"]}
    parts[1]["result.json"] = json.dumps(other).encode()
    measured = EngineGenerator().parse(parts)
    assert (measured.shape, measured.consistency) == ("string", levels)
    assert measured.encryption == (*ways, "another")
    assert (measured.saturated, measured.verified) == (True, 14)
    plain = EngineGenerator().parse(changed(saturated=False, verified=None))
    assert (plain.saturated, plain.verified, plain.encryption) == (False, None, ())


def test_parts_that_kept_records_otherwise_are_not_one_load() -> None:
    parts = changed(shape="hash")
    other = json.loads(parts[1]["result.json"]) | {"shape": "string"}
    parts[1]["result.json"] = json.dumps(other).encode()
    with pytest.raises(RunError, match="do not tell the same `shape`"):
        EngineGenerator().parse(parts)


def told(*windows: tuple[float, float, int]) -> dict[str, object]:
    """A result with such windows: start, length, operations; each with one error."""
    names = ("start", "length", "operations")
    return {
        "windows": [dict(zip(names, window, strict=True)) | {"errors": 1} for window in windows]
    }


def test_windows_of_parts_end_where_those_of_all_parts_end() -> None:
    short = told((-0.2, 0.2, 1), (0.0, 0.2, 2), (0.2, 0.2, 4), (0.4, 0.2001, 8))
    twice = told((-0.2, 0.2, 10), (0.0, 0.4, 20), (0.4, 0.1, 40))
    found = [
        (window.start, window.length, window.operations, window.errors)
        for window in windows([short, twice])
    ]
    assert found == [(-0.2, 0.2, 11, 2), (0.0, 0.4, 26, 3), (0.4, pytest.approx(0.2001), 48, 2)]
    assert windows([short, told()]) == windows([short])
    assert windows([told()]) == ()


def test_an_open_load_has_response_times_errors_and_what_was_offered() -> None:
    result = json.loads(artefacts("open")["result.json"])
    measured = EngineGenerator().parse([artefacts("open")])
    everything = measured.operations["all"]
    assert measured.offered == pytest.approx(result["intended"] / result["seconds"])
    assert everything.errors == {
        "server": sum(kinds.get("server", 0) for kinds in result["errors"].values())
    }
    assert everything.errors["server"] > 0
    assert everything.response is not None
    assert everything.service is not None
    assert everything.response.maximum > 0.09
    assert everything.response.count == everything.service.count
    assert everything.response.mean >= everything.service.mean


def test_parts_that_did_not_run_together_are_an_error() -> None:
    assert EngineGenerator().parse([artefacts("closed-0"), second(0.019)]).parts == 2
    for apart in (0.021, -0.021):
        with pytest.raises(
            RunError, match=r"0\.02 s apart, more than 5% of their window of 0\.4 s"
        ):
            EngineGenerator().parse([artefacts("closed-0"), second(apart)])


def test_parts_that_ended_by_themselves_need_no_window_in_common() -> None:
    late = json.loads(second(0.3)["result.json"])
    late["seconds"] = 0.2
    left = {**second(), "result.json": json.dumps(late).encode()}
    assert EngineGenerator().parse([artefacts("closed-0"), left]).seconds == 0.4


def test_a_missing_part_is_an_error() -> None:
    with pytest.raises(RunError, match="not all parts"):
        EngineGenerator().parse([artefacts("closed-0")])
    with pytest.raises(RunError, match="not all parts"):
        EngineGenerator().parse([artefacts("closed-0"), artefacts("closed-0")])


@pytest.mark.parametrize("name", NAMES)
def test_a_part_that_left_nothing_is_an_error_that_names_the_file(name: str) -> None:
    left = artefacts("open")
    del left[name]
    with pytest.raises(RunError, match=name):
        EngineGenerator().parse([left])


def test_a_damaged_result_or_log_is_an_error() -> None:
    with pytest.raises(RunError, match="cannot be read"):
        EngineGenerator().parse([{**artefacts("open"), "result.json": b'{"version": 1'}])
    damaged = artefacts("open")["latency.hlog"].replace(b"HISTFAAAA", b"HISTFBBBB")
    with pytest.raises(RunError, match="cannot be read"):
        EngineGenerator().parse([{**artefacts("open"), "latency.hlog": damaged}])


def test_any_reader_of_histogram_logs_reads_the_engines() -> None:
    result = json.loads(artefacts("open")["result.json"])
    reader = HistogramLogReader(str(FIXTURES / "open/latency.hlog"), HdrHistogram(1, 10**12, 3))
    counts: dict[str, int] = {}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        tag = histogram.get_tag()
        counts[tag] = counts.get(tag, 0) + histogram.get_total_count()
    assert reader.get_start_time_sec() == pytest.approx(result["began"] - 0.2, abs=0.01)
    for operation, count in result["operations"].items():
        assert counts[f"{operation}.service"] == counts[f"{operation}.response"] >= count
    assert counts["warmup.read.response"] > 0
