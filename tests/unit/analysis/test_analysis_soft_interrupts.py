"""Network soft interrupts of runs: their metrics, their parts of the CPU time, and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from analysis_cases import CLOSED, WORKLOAD, host
from analysis_study import record

from dunnage.analysis.runs import Setting
from dunnage.analysis.soft_interrupts import MANY, NOT_ASKED, charged, credible, why_not
from dunnage.analysis.values import absent, values
from dunnage.findings.counters import counters
from dunnage.findings.cpu.shares import NETWORK_SOFT, OTHER_SOFT, PARTS, shares
from dunnage.model.accounting import Accounting
from dunnage.model.record import HostUsage, Record, Turn, Usage
from dunnage.model.soft_interrupts import BRIDGE, SoftInterrupts

USAGE = (
    host("db-1"),
    host("db-2"),
    host("client-1", "client"),
    host("client-2", "client"),
    host("control-1", "control"),
)
NETWORKS = {
    "db-1": 0.4,
    "db-2": 0.2,
    "client-1": 0.08,
    "client-2": 0.04,
    "control-1": 9.0,
    "db.2-1": 9.0,
    BRIDGE: 0.04,
}
OPERATIONS = 4000
NATIVE = ("native", Setting(WORKLOAD.name, CLOSED.name))


def run(soft: SoftInterrupts | None, **changed: Any) -> Record:
    return record(usage=USAGE, one_machine=True, soft_interrupts=soft, **changed)


def counted(networks: Mapping[str, float]) -> Record:
    return run(SoftInterrupts(networks=networks, elsewhere=1.0, no_packet=0.5, other_kinds=0.25))


COUNTED = counted(NETWORKS)
REFUSED = run(SoftInterrupts(absent="the process lacks CAP_BPF"))


def test_metrics_are_of_all_clients_of_all_database_hosts_and_of_the_bridge() -> None:
    found = values(COUNTED)
    assert found["soft.client"] * OPERATIONS == pytest.approx(0.12)
    assert found["soft.database"] * OPERATIONS == pytest.approx(0.6)
    assert found["soft.bridge"] * OPERATIONS == pytest.approx(0.04)
    assert not any(name.startswith("soft.") for name in absent(COUNTED))


def test_each_database_host_is_a_part_that_the_other_parts_contain() -> None:
    every = shares(*NATIVE, [COUNTED], accounting=Accounting.CONTAINED)
    found = {share.part: share for share in every}
    charged_parts = {name: share for name, share in found.items() if NETWORK_SOFT in name}
    used = {name: each.seconds_per_operation * OPERATIONS for name, each in charged_parts.items()}
    assert used == {
        "network soft interrupts, client": pytest.approx(0.12),
        "network soft interrupts, db-1": pytest.approx(0.4),
        "network soft interrupts, db-2": pytest.approx(0.2),
        "network soft interrupts, bridge": pytest.approx(0.04),
        "network soft interrupts, elsewhere": pytest.approx(1.0),
        "network soft interrupts, no packet": pytest.approx(0.5),
    }
    assert found[OTHER_SOFT].seconds_per_operation * OPERATIONS == pytest.approx(0.25)
    for name, share in found.items():
        assert share.accounting is (None if name in PARTS else Accounting.CONTAINED)


@pytest.mark.parametrize("accounting", list(Accounting))
def test_parts_say_where_the_kernel_of_the_machine_counts_them(accounting: Accounting) -> None:
    found = [
        share
        for share in shares(*NATIVE, [COUNTED], accounting=accounting)
        if share.part not in PARTS
    ]
    assert len(found) == 7
    assert all(share.accounting is accounting for share in found)


def test_one_run_in_which_they_are_not_known_makes_their_parts_unknown() -> None:
    found = shares(*NATIVE, [COUNTED, REFUSED])
    assert found
    assert not any(NETWORK_SOFT in share.part for share in found)


def test_what_could_not_be_charged_has_its_reason_in_place_of_each_metric() -> None:
    assert charged(REFUSED) == {}
    reasons = {name: why for name, why in absent(REFUSED).items() if name.startswith("soft.")}
    assert reasons == dict.fromkeys(
        ("soft.client", "soft.database", "soft.bridge"), "the process lacks CAP_BPF"
    )
    (found,) = (each for each in counters.absent([REFUSED]) if each.name == NETWORK_SOFT)
    assert (found.reason, found.hosts) == ("the process lacks CAP_BPF", ("db-1", "db-2"))


def test_a_study_that_does_not_ask_for_them_is_told_how_to() -> None:
    silent = run(None)
    assert why_not(silent) == NOT_ASKED
    assert NETWORK_SOFT in {each.name for each in counters.absent([silent])}
    assert not any(name.startswith("soft.") for name in {**values(silent), **absent(silent)})


def test_nobody_misses_them_of_hosts_that_are_machines_or_in_turns() -> None:
    turn = Turn(name="native", began=0.0, ended=1.0)
    for each in (run(None).model_copy(update={"one_machine": False}), run(None, turns=(turn,))):
        assert why_not(each) == ""
        assert NETWORK_SOFT not in {found.name for found in counters.absent([each])}


def test_a_host_that_is_not_among_the_networks_makes_all_unknown_and_is_named() -> None:
    short = counted({name: used for name, used in NETWORKS.items() if name != "db-2"})
    assert charged(short) == {}
    assert why_not(short) == "no network is known of `db-2`"
    assert absent(short)["soft.database"] == "no network is known of `db-2`"


def received(**packets: float) -> tuple[HostUsage, ...]:
    """Hosts at whose uplink so many packets arrived."""
    return tuple(
        each.model_copy(
            update={"whole": Usage(packets_received=packets.get(each.host.replace("-", "_")))}
        )
        for each in USAGE
    )


@pytest.mark.parametrize("silent", ["db-2", "client-1", BRIDGE])
def test_packets_that_no_soft_interrupt_took_in_are_the_reason_why_nothing_is_known(
    silent: str,
) -> None:
    told = SoftInterrupts(networks={**NETWORKS, silent: 0.0})
    found = credible(told, received(db_1=MANY, db_2=MANY, client_1=MANY))
    assert found.networks == {}
    assert f"packets arrived at `{silent}` in no soft interrupt" in found.absent


def test_a_host_that_received_nothing_may_have_no_soft_interrupts() -> None:
    told = SoftInterrupts(networks={**NETWORKS, "db-2": 0.0, "control-1": 0.0})
    assert credible(told, received(db_1=MANY, client_1=MANY, control_1=MANY)) is told
    few = SoftInterrupts(networks={**NETWORKS, "db-1": 0.0})
    assert credible(few, received(db_1=MANY - 1, client_1=MANY)) is few
    quiet = SoftInterrupts(networks=dict.fromkeys(NETWORKS, 0.0))
    assert credible(quiet, USAGE) is quiet
    refused = SoftInterrupts(absent="no right")
    assert credible(refused, received(db_1=MANY)) is refused
