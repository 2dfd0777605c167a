"""What every generator must do: all parts together are the load that was ordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from cases import Bench, GeneratorCase, put

from dunnage.contracts.generator import Generator
from dunnage.errors import RunError
from dunnage.model.choices import Arrivals, Phase
from dunnage.model.deployment import Workload
from dunnage.model.level import Level
from dunnage.model.load import LoadOrder
from dunnage.model.record import Measurement


@pytest.fixture
def bench(generator_case: GeneratorCase) -> Iterator[Bench]:
    with generator_case.bench() as opened:
        yield opened


def order(bench: Bench, phase: Phase, *, operations: int | None = None) -> LoadOrder:
    return LoadOrder(
        workload=Workload(name="A", core="A", phase=phase, records=500),
        phase=phase,
        level=Level(threads=4),
        target=bench.target,
        connections=8,
        arrivals=Arrivals.CONSTANT,
        warmup=0.0,
        duration=None,
        operations=operations,
        timeout=5.0,
        seed=7,
    )


def carried_out(
    bench: Bench, generator: Generator, what: LoadOrder, parts: int
) -> list[Mapping[str, bytes]]:
    directory = f"{bench.host.scratch}/load"
    directories = [f"{directory}/{number}" for number in range(parts)]
    commands = generator.commands(what, bench.host.engine, directories)
    assert len(commands) == parts
    processes = []
    for number, command in enumerate(commands):
        put(bench.host, command.directory, command.files)
        log = f"{bench.host.scratch}/load-{number}.log"
        processes.append(bench.host.start(command.argv, unit=f"generator-{number}", log=log))
    assert [process.wait(60.0) for process in processes] == [0] * parts
    left: list[Mapping[str, bytes]] = [
        {name: bench.host.get(f"{command.directory}/{name}") for name in command.artefacts}
        for command in commands
    ]
    bench.host.remove(directory)
    return left


def total(measurement: Measurement) -> int:
    return sum(
        stats.count + sum(stats.errors.values())
        for name, stats in measurement.operations.items()
        if name != "all"
    )


class TestGenerator:
    @pytest.mark.parametrize("parts", [1, 3])
    def test_all_parts_together_insert_every_record_once(
        self, generator_case: GeneratorCase, bench: Bench, parts: int
    ) -> None:
        generator = generator_case.generator()
        left = carried_out(bench, generator, order(bench, Phase.LOAD), parts)
        measurement = generator.parse(left)
        assert measurement.parts == parts
        assert measurement.operations["insert"].count == 500
        assert total(measurement) == 500

    @pytest.mark.parametrize("parts", [1, 3])
    def test_all_parts_together_make_the_operations_that_were_ordered(
        self, generator_case: GeneratorCase, bench: Bench, parts: int
    ) -> None:
        generator = generator_case.generator()
        carried_out(bench, generator, order(bench, Phase.LOAD), 1)
        what = order(bench, Phase.RUN, operations=600)
        measurement = generator.parse(carried_out(bench, generator, what, parts))
        assert total(measurement) == 600
        assert set(measurement.operations) >= {"read", "update", "all"}
        assert measurement.operations["all"].count == 600

    def test_a_measurement_says_how_long_where_to_and_at_what_cost(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        generator = generator_case.generator()
        measurement = generator.parse(carried_out(bench, generator, order(bench, Phase.LOAD), 2))
        assert measurement.seconds > 0
        assert set(measurement.remotes) <= {str(address) for address in bench.target.endpoint}
        assert measurement.client_cpu > 0
        service = measurement.operations["insert"].service
        assert service is not None
        assert service.count == 500
        assert service.minimum <= service.quantiles["p50"] <= service.quantiles["p99"]
        assert measurement.operations["insert"].response is None

    def test_while_it_runs_it_tells_how_many_operations_were_answered(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        generator = generator_case.generator()
        carried_out(bench, generator, order(bench, Phase.LOAD), 1)
        what = replace(order(bench, Phase.RUN), duration=2.5)
        measurement = generator.parse(carried_out(bench, generator, what, 1))
        told = generator.progress(bench.host.get(f"{bench.host.scratch}/load-0.log"))
        assert 0 < told <= total(measurement)
        assert generator.progress(b"") == 0

    def test_parts_that_are_given_an_instant_begin_there_and_tell_when(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        generator = generator_case.generator()
        carried_out(bench, generator, order(bench, Phase.LOAD), 1)
        now = bench.testbed.clock.now() + bench.host.clock_offset()
        start = now + generator.connecting + 1.0
        what = replace(order(bench, Phase.RUN, operations=600), starts=(start,) * 3)
        measurement = generator.parse(carried_out(bench, generator, what, 3))
        assert measurement.began == pytest.approx(start, abs=1e-5)
        assert len(measurement.starts) == 3
        assert min(measurement.starts) >= start - 1e-5

    def test_parts_whose_instant_has_passed_do_not_begin(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        generator = generator_case.generator()
        carried_out(bench, generator, order(bench, Phase.LOAD), 1)
        passed = bench.testbed.clock.now() + bench.host.clock_offset() - 60.0
        what = replace(order(bench, Phase.RUN, operations=600), starts=(passed,))
        (command,) = generator.commands(what, bench.host.engine, [f"{bench.host.scratch}/late"])
        put(bench.host, command.directory, command.files)
        log = f"{bench.host.scratch}/late.log"
        process = bench.host.start(command.argv, unit="generator-0", log=log)
        assert process.wait(60.0) != 0
        assert b"give a later `start`" in bench.host.get(log)
        bench.host.remove(command.directory)

    def test_a_part_that_left_nothing_is_an_error(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        generator = generator_case.generator()
        left = carried_out(bench, generator, order(bench, Phase.LOAD), 2)
        with pytest.raises(RunError):
            generator.parse([left[0], {}])
        with pytest.raises(RunError):
            generator.parse([])

    def test_a_part_that_is_missing_altogether_is_an_error(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        generator = generator_case.generator()
        left = carried_out(bench, generator, order(bench, Phase.LOAD), 2)
        with pytest.raises(RunError):
            generator.parse(left[:1])

    def test_the_same_order_gives_the_same_commands(
        self, generator_case: GeneratorCase, bench: Bench
    ) -> None:
        what = order(bench, Phase.RUN, operations=10)
        places = ["/here", "/there"]
        first = generator_case.generator().commands(what, "/engine", places)
        assert first == generator_case.generator().commands(what, "/engine", places)
        assert [command.directory for command in first] == places
