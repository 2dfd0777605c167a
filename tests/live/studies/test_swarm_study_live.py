"""A real study on a real Swarm, and one that is hurt: a host is cut while a run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from orchestrated import (
    NATIVE,
    finished,
    finished_though_cut,
    insist_charged_and_inside,
    written,
)
from study_process import insist_nothing_left, started

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

HOST_PORT = "port: {platform: swarm, network: overlay}"
CONTAINER_DNS = (
    "dns: {platform: swarm, network: overlay, endpoint: container-dns, client: container}"
)


@pytest.mark.proof
def test_a_study_charges_its_manager_to_nobody_and_records_the_way_to_every_member(
    tmp_path: Path,
) -> None:
    name, path = written("swarm", tmp_path, "2s", NATIVE, HOST_PORT, CONTAINER_DNS)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        result = finished(running)
    insist_charged_and_inside(result)
    stays = {stay.deployment: stay for stay in result.stays}
    assert stays["native"].substrates == {"docker": "frozen", "swarm": "frozen"}
    assert stays["port"].substrates == {"docker": "awake", "swarm": "awake"}
    assert set(stays["dns"].names) == set(stays["dns"].late) == {"redis-1", "redis-2"}
    insist_nothing_left(name, {lab})


def test_a_host_that_is_cut_during_a_run_is_restored_and_rejoins(tmp_path: Path) -> None:
    name, path = written("swarm", tmp_path, "4s", HOST_PORT)
    result, said = finished_though_cut(name, path)
    assert "failed" in said
    insist_charged_and_inside(result)
