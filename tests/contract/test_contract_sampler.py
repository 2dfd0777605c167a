"""What every sampler must do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from cases import SamplerCase, put, unique

from dunnage.contracts.host import Host
from dunnage.contracts.testbed import HasNetworks
from dunnage.errors import RunError
from dunnage.model.load import Samples, WatchOrder
from dunnage.model.soft_interrupts import BRIDGE

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed

NOT_CUMULATIVE = {"memory_resident", "memory_cache", "swap"}


@pytest.fixture
def watched(sampler_case: SamplerCase) -> Iterator[Testbed]:
    with sampler_case.testbed.open(unique()) as testbed:
        yield testbed


def sampled(case: SamplerCase, testbed: Testbed, host: Host) -> Samples:
    sampler, directory = case.sampler(), f"{host.scratch}/watch"
    units = {"": host.control_group(""), "sampler": host.control_group("sampler")}
    assert isinstance(testbed, HasNetworks)
    networks = {name: tuple(own) for name, own in testbed.networks().items()}
    order = WatchOrder(
        host=host.name, address=host.address, units=units, rate=10.0, networks=networks
    )
    command = sampler.command(order, host.engine, directory)
    put(host, command.directory, command.files)
    process = host.start(command.argv, unit="sampler", log=f"{host.scratch}/sampler.log")
    testbed.clock.sleep(1.2)
    assert process.poll() is None
    process.signal("TERM")
    assert process.wait(10.0) == 0
    left = {name: host.get(f"{command.directory}/{name}") for name in command.artefacts}
    host.remove(directory)
    return sampler.parse(left)


class TestSampler:
    def test_it_samples_until_it_is_told_to_end(
        self, sampler_case: SamplerCase, watched: Testbed
    ) -> None:
        host = watched.hosts[0]
        samples = sampled(sampler_case, watched, host)
        assert samples.host == host.name
        assert samples.interval == pytest.approx(0.1)
        assert len(samples.samples) >= 5
        assert all(one.time < two.time for one, two in pairwise(samples.samples))

    def test_every_unit_is_in_every_sample_and_counters_never_fall(
        self, sampler_case: SamplerCase, watched: Testbed
    ) -> None:
        samples = sampled(sampler_case, watched, watched.hosts[0]).samples
        for one, two in pairwise(samples):
            assert set(one.units) == set(two.units) == {"", "sampler"}
            assert "cpu" in one.units[""]
            for unit, counters in one.units.items():
                for counter, value in counters.items():
                    if counter not in NOT_CUMULATIVE:
                        assert two.units[unit][counter] >= value
            for counter, value in one.machine.items():
                assert two.machine[counter] >= value

    def test_the_network_is_told_at_the_uplink_and_apart_from_inner_devices(
        self, sampler_case: SamplerCase, watched: Testbed
    ) -> None:
        wanted = {"received", "sent", "packets_received", "packets_sent"}
        for sample in sampled(sampler_case, watched, watched.hosts[0]).samples:
            found = set(sample.units[""])
            assert wanted | {f"inner_{name}" for name in wanted} <= found

    def test_soft_interrupts_are_told_by_networks_and_never_fall_or_have_a_reason(
        self, sampler_case: SamplerCase, watched: Testbed
    ) -> None:
        samples = sampled(sampler_case, watched, watched.hosts[0])
        told = [sample.soft for sample in samples.samples if sample.soft is not None]
        assert bool(told) is not bool(samples.absent.get("soft_interrupts"))
        assert len(told) in (0, len(samples.samples))
        for one, two in pairwise(told):
            assert one.networks.keys() == {*(host.name for host in watched.hosts), BRIDGE}
            assert all(two.networks[name] >= value for name, value in one.networks.items())
            for apart in ("elsewhere", "no_packet", "other_kinds"):
                assert getattr(two, apart) >= getattr(one, apart)
        assert all(one.method for one in told)

    def test_it_says_what_it_cost_itself(self, sampler_case: SamplerCase, watched: Testbed) -> None:
        samples = sampled(sampler_case, watched, watched.hosts[0])
        assert len(samples.own_cpu) == len(samples.samples)
        assert all(one <= two for one, two in pairwise(samples.own_cpu))

    def test_what_is_absent_has_a_reason_and_no_value(
        self, sampler_case: SamplerCase, watched: Testbed
    ) -> None:
        samples = sampled(sampler_case, watched, watched.hosts[0])
        assert all(samples.absent.values())
        for counter in samples.absent:
            assert all(counter not in sample.machine for sample in samples.samples)

    def test_nothing_usable_is_an_error(self, sampler_case: SamplerCase) -> None:
        with pytest.raises(RunError):
            sampler_case.sampler().parse({})
