"""What every host and every testbed must do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cases import TestbedCase

from dunnage.contracts.host import Host
from dunnage.contracts.testbed import HasNetworks
from dunnage.errors import HostLostError, RunError, UnavailableError
from dunnage.model.soft_interrupts import BRIDGE
from dunnage.model.study import Limits

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed


class TestHost:
    def test_a_command_gives_its_output_and_its_exit_code(self, host: Host) -> None:
        done = host.run(["echo", "one", "two"])
        assert (done.code, done.stdout) == (0, "one two\n")
        assert host.run(["false"]).code == 1

    def test_a_command_that_does_not_exist_is_a_fact_not_an_exception(self, host: Host) -> None:
        assert host.run(["dunnage-has-no-such-program"]).code != 0

    def test_standard_input_reaches_the_command(self, host: Host) -> None:
        assert host.run(["cat"], stdin="from here\n").stdout == "from here\n"

    def test_a_command_over_its_time_raises_a_run_error(self, host: Host) -> None:
        with pytest.raises(RunError):
            host.run(["sleep", "30"], timeout=0.2)
        assert host.run(["true"]).code == 0

    def test_a_started_process_writes_its_log(self, host: Host) -> None:
        log = f"{host.scratch}/echo.log"
        process = host.start(["echo", "logged"], unit="echo", log=log)
        assert process.wait(10.0) == 0
        assert host.get(log) == b"logged\n"

    def test_a_started_process_lives_until_it_is_told_to_end(self, host: Host) -> None:
        process = host.start(["sleep", "300"], unit="sleeper", log=f"{host.scratch}/sleep.log")
        assert process.poll() is None
        with pytest.raises(TimeoutError):
            process.wait(0.1)
        process.signal("TERM")
        code = process.wait(10.0)
        assert code != 0
        assert process.poll() == code
        process.signal("KILL")
        assert process.poll() == code

    def test_processes_that_live_together_have_different_ids(self, host: Host) -> None:
        pair = [
            host.start(["sleep", "300"], unit=f"s{n}", log=f"{host.scratch}/{n}") for n in (1, 2)
        ]
        assert pair[0].pid != pair[1].pid
        for process in pair:
            process.signal("KILL")
            process.wait(10.0)

    def test_files_come_back_as_they_were_put(self, host: Host) -> None:
        path = f"{host.scratch}/deep/below/file"
        host.put(path, b"\x00\xffbytes")
        assert host.get(path) == b"\x00\xffbytes"
        host.put(path, b"newer")
        assert host.get(path) == b"newer"

    def test_a_missing_file_raises_file_not_found(self, host: Host) -> None:
        with pytest.raises(FileNotFoundError):
            host.get(f"{host.scratch}/nothing")

    def test_remove_takes_a_directory_with_all_in_it_and_nothing_beside_it(
        self, host: Host
    ) -> None:
        host.put(f"{host.scratch}/gone/a/b", b"1")
        host.put(f"{host.scratch}/gone-not", b"2")
        host.remove(f"{host.scratch}/gone")
        host.remove(f"{host.scratch}/gone")
        with pytest.raises(FileNotFoundError):
            host.get(f"{host.scratch}/gone/a/b")
        assert host.get(f"{host.scratch}/gone-not") == b"2"

    def test_a_file_that_was_put_is_there_for_commands(self, host: Host) -> None:
        host.put(f"{host.scratch}/words", b"read me")
        assert host.run(["cat", f"{host.scratch}/words"]).stdout == "read me"

    def test_a_local_tree_is_visible_on_the_host(
        self, host: Host, testbed_case: TestbedCase, tmp_path: Path
    ) -> None:
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "leaf").write_text("leaf\n")
        if testbed_case.theirs:
            with pytest.raises(UnavailableError, match="someone else's"):
                host.put_tree(tmp_path, f"{host.scratch}/tree")
            return
        host.put_tree(tmp_path, "/run/dunnage/tree")
        assert host.run(["cat", "/run/dunnage/tree/below/leaf"]).stdout == "leaf\n"

    def test_a_frozen_unit_stands_still_until_it_is_thawed(
        self, host: Host, testbed_case: TestbedCase
    ) -> None:
        if testbed_case.theirs:
            with pytest.raises(UnavailableError, match="someone else's"):
                host.freeze("cold")
            return
        process = host.start(["sleep", "0.3"], unit="cold", log=f"{host.scratch}/cold.log")
        host.freeze("cold")
        with pytest.raises(TimeoutError):
            process.wait(1.0)
        host.thaw("cold")
        assert process.wait(10.0) == 0

    def test_what_is_frozen_inside_goes_on_with_the_whole_host(
        self, host: Host, testbed_case: TestbedCase
    ) -> None:
        process = host.start(["sleep", "0.3"], unit="inside", log=f"{host.scratch}/inside.log")
        if not testbed_case.theirs:
            host.freeze("inside")
        host.thaw("")
        assert process.wait(10.0) == 0

    def test_what_is_limited_is_limited_or_refused(
        self, host: Host, testbed_case: TestbedCase
    ) -> None:
        limits, log = Limits(memory=2**24), f"{host.scratch}/limited.log"
        if testbed_case.theirs:
            with pytest.raises(UnavailableError, match="cannot be limited there"):
                host.start(["true"], unit="limited", log=log, limits=limits)
            return
        assert host.start(["true"], unit="limited", log=log, limits=limits).wait(10.0) == 0

    def test_units_lie_below_their_hosts_control_group(self, host: Host) -> None:
        assert host.control_group("one").startswith(host.control_group("") + "/")
        assert host.control_group("one") != host.control_group("two")

    def test_its_clock_agrees_with_ours_unless_it_was_set(self, host: Host) -> None:
        assert abs(host.clock_offset()) < 0.1


class TestTestbed:
    def test_hosts_are_those_of_the_groups_in_order(self, testbed: Testbed) -> None:
        assert [host.group for host in testbed.hosts] == ["db", "db", "db", "client"]
        assert testbed.group("db") == testbed.hosts[:3]
        assert len({host.name for host in testbed.hosts}) == 4
        assert len({host.address for host in testbed.hosts}) == 4

    def test_hosts_do_not_share_files(self, testbed: Testbed, testbed_case: TestbedCase) -> None:
        first, second = testbed.hosts[:2]
        paths = [] if testbed_case.theirs else [("/run/only-here",) * 2]
        for own, other in (*paths, tuple(f"{each.scratch}/only-here" for each in (first, second))):
            first.put(own, b"1")
            with pytest.raises(FileNotFoundError):
                second.get(other)

    def test_time_passes_on_its_clock(self, testbed: Testbed) -> None:
        before = testbed.clock.now()
        testbed.clock.sleep(0.05)
        assert testbed.clock.now() >= before + 0.05

    def test_hosts_of_one_machine_have_network_namespaces_of_their_own(
        self, testbed: Testbed, testbed_case: TestbedCase
    ) -> None:
        assert isinstance(testbed, HasNetworks) is not testbed_case.theirs
        if isinstance(testbed, HasNetworks):
            found = testbed.networks()
            assert found.keys() == {*(host.name for host in testbed.hosts), BRIDGE}
            assert all(found.values())
            assert sum(map(len, found.values())) == len(frozenset.union(*found.values()))

    def test_it_says_what_it_is_made_of(self, testbed: Testbed) -> None:
        assert testbed.environment()

    def test_a_lost_host_is_named_and_raises_and_the_others_go_on(
        self, testbed: Testbed, testbed_case: TestbedCase
    ) -> None:
        lost, left = testbed.hosts[:2]
        process = lost.start(["sleep", "300"], unit="sleeper", log=f"{lost.scratch}/log")
        assert testbed.lost() == ()
        testbed_case.lose(testbed, lost)
        assert testbed.lost() == (lost.name,)
        with pytest.raises(HostLostError):
            lost.run(["true"])
        with pytest.raises(HostLostError):
            process.wait(5.0)
        with pytest.raises(HostLostError):
            process.poll()
        assert left.run(["true"]).code == 0

    def test_a_restored_host_is_back_and_empty(
        self, testbed: Testbed, testbed_case: TestbedCase
    ) -> None:
        host = testbed.hosts[0]
        path = f"{host.scratch}/before"
        host.put(path, b"1")
        testbed_case.lose(testbed, host)
        testbed.restore(host.name)
        assert testbed.lost() == ()
        back = testbed.hosts[0]
        assert back.name == host.name
        assert back.run(["true"]).code == 0
        with pytest.raises(FileNotFoundError):
            back.get(path)
