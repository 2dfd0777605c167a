"""Parts of a study that must fit each other, and what is told where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_texts import GOOD, changed, only_problem, problems

from dunnage.errors import StudyError
from dunnage.study.matrix import levels
from dunnage.study.read import read_stored_study, read_study
from offers import OFFER


def test_a_share_of_a_capacity_needs_a_baseline_to_be_of() -> None:
    text = changed("threads: [32]", "rate: [2000, 60%]").replace("twin: native\n", "")
    problem = only_problem(text[: text.index("questions:")])
    assert problem.line == 9
    assert "this study has no baseline" in problem.what
    assert "baseline: native" in problem.hint


def test_a_search_cannot_measure_a_load_phase() -> None:
    text = changed("[A, C]", "[A, {name: loading, phase: load}]")
    problem = only_problem(text.replace("threads: [32]", "threads: [32], search: {}"))
    assert problem.line == 8
    assert "its records are loaded only once" in problem.what


def test_a_search_cannot_measure_a_workload_that_inserts() -> None:
    text = changed("threads: [32]", "threads: [32], search: {}")
    problem = only_problem(text.replace("[A, C]", "[A, {name: latest, core: D}]"))
    assert "a search cannot measure `latest`: it inserts records" in problem.what
    assert "rate: [2000]" in problem.hint


def test_a_tolerance_below_the_precision_of_the_search_is_refused() -> None:
    text = changed("threads: [32]", "search: {precision: 2.5%}").replace(
        "service.p95", "saturation, tolerance: 2%"
    )
    problem = only_problem(text)
    assert "precision of 2.5 % cannot show a difference of 2.0 %, the tolerance" in problem.what
    assert problem.hint == "write `tolerance: 2.5%` here, or `search: {precision: 2%}`"
    read_study(text.replace("tolerance: 2%", "tolerance: 2.5%"), "study.yaml", OFFER)


def test_numbers_shares_threads_and_a_search_may_stand_beside_each_other() -> None:
    load = read_study(
        changed("threads: [32]", "threads: [8, 32], rate: [2000, 62.5%], search: {probe: 3s}"),
        "study.yaml",
        OFFER,
    ).load
    assert [level.name for level in levels(load, "native")] == [
        "t8",
        "t32",
        "r2000",
        "s62.5",
        "search",
    ]
    assert [level.label for level in levels(load, "native")][-2:] == [
        "62.5 % of native's capacity",
        "search for saturation",
    ]


def test_zero_needs_no_unit() -> None:
    assert read_study(changed("4s}", "4s, warmup: 0}"), "study.yaml", OFFER).load.warmup == 0


def test_a_mistake_in_one_part_does_not_hide_those_in_others() -> None:
    text = changed("kind: redis", "knid: redis").replace("platform: docker", "platform: dokcer")
    text = text.replace("[A, C]", "[A, {name: x, cor: A}]").replace("threads: [32]", "threads: [x]")
    text = text.replace("baseline: native", "baseline: natvie")
    assert [problem.line for problem in problems(text)] == [4, 7, 8, 9, 12]


def test_a_deployment_that_cannot_be_understood_is_not_reported_as_unknown_too() -> None:
    assert "platfrom" in only_problem(changed("platform: docker", "platfrom: docker")).what


def test_a_factor_that_is_written_wrongly_shows_how_to_write_it() -> None:
    first, *_ = problems(changed("twin: native\n", "factors: {slowdown: [200%]}\n"))
    assert first.what == "`slowdown` must be at most 95%, not `200%`"
    assert first.hint == "write for example `slowdown: 5%`"


def test_factors_are_judged_with_every_deployment_that_they_make() -> None:
    text = changed("twin: native\n", "factors: {storage: [bind, volume]}\n")
    text = text[: text.index("questions:")]
    problem = only_problem(text)
    assert problem.line == 10
    assert "platform `native` has no storage `volume`" in problem.what


def test_fake_hosts_are_given_nothing_real() -> None:
    told = problems(changed("kind: namespace", "kind: fake"))
    assert [problem.what for problem in told] == [
        "the generator `engine` cannot run on fake hosts; `generator` is not in the file, and its "
        "default is `engine`",
        "the sampler `engine` cannot run on fake hosts; `sampler.kind` is not in the file, and its "
        "default is `engine`",
        "the database `redis` cannot run on fake hosts",
        "the platform `native` cannot run on fake hosts",
        "the platform `docker` cannot run on fake hosts",
    ]


def test_a_mistake_in_a_default_is_told_as_one_and_has_no_line_that_does_not_hold_it() -> None:
    told = problems(changed("kind: namespace", "kind: fake"))
    assert [problem.line for problem in told[:2]] == [0, 0]
    assert [problem.hint for problem in told[:2]] == [
        "write `generator: fake` for the generator",
        "write `sampler: {kind: fake}` for the sampler",
    ]
    told = problems(changed("kind: namespace", "kind: fake") + "sampler:\n  rate: 1Hz\n")
    assert "its default is `engine`" in told[-1].what
    assert (told[-1].line, told[-1].hint) == (
        changed("kind: namespace", "kind: fake").count("\n") + 1,
        "write `kind: fake` for the sampler",
    )
    written = problems(changed("kind: namespace", "kind: fake") + "generator: engine\n")
    assert [each.line for each in written if "generator" in each.what] == [written[-1].line]
    assert "default" not in written[-1].what


def test_a_mistake_in_a_default_of_a_deployment_names_the_deployment_and_the_key() -> None:
    told = problems(changed("hosts: {db: 3, client: 1}", "hosts: {servers: 3, client: 1}"))
    assert told
    for problem in told:
        assert "unknown group of hosts `db`; `deployments." in problem.what
        assert ".hosts` is not in the file, and its default is `db`" in problem.what


def test_too_many_combinations_are_refused_before_they_are_made() -> None:
    values = ", ".join(str(number) for number in range(1, 200))
    text = changed("twin: native", f"factors: {{limits.cpus: [{values}], limits.pids: [{values}]}}")
    assert "at most 100" in only_problem(text[: text.index("questions:")]).what


def test_a_substrate_speaks_only_for_platforms_of_its_family() -> None:
    text = changed("platform: docker, network: bridge", "platform: native")
    study = read_study(text + "substrate: {docker: {kind: existing}}\n", "study.yaml", OFFER)
    assert study.substrate["docker"].kind == "existing"


def test_an_open_load_may_be_asked_for_response_times() -> None:
    text = changed("threads: [32]", "rate: [2000], arrivals: poisson").replace(
        "service.p95", "response.p95"
    )
    (rate,) = read_study(text, "study.yaml", OFFER).load.rate
    assert (rate.number, rate.share) == (2000.0, None)


def test_names_from_before_the_factors_are_named_once_each_with_the_new_ones() -> None:
    told = problems(changed("twin: native", "twin: native\nfactors: {limits.pids: [100, 200]}"))
    whats = [problem.what for problem in told]
    assert whats == [
        f"`factors` make other deployments of `{name}`, so none has this name"
        for name in ("native", "docker", "native-twin")
    ]
    assert "`native-pids-100`, `native-pids-200`" in told[0].hint


def test_fake_hosts_have_no_cores_to_share() -> None:
    fake = (Path(__file__).parents[3] / "studies" / "fake.yaml").read_text()
    (problem,) = problems(fake.replace("kind: fake ", "cores: shared\n  kind: fake ", 1))
    assert problem.what == "fake hosts have no processors"
    assert problem.hint == "remove `cores`"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("client: 1}", "client: 1}, memory: 1MiB"),
        ("bridge}", "bridge, limits: {memory: 1MiB}}"),
        ("bridge}", "bridge, slowdown: 99%}"),
        ("4s}", "9000h}"),
        ("4s}", "4}"),
        ("twin: native", "twin: native\npatience: -1s"),
    ],
)
def test_a_bound_of_today_holds_for_new_studies_and_not_for_stored_ones(old: str, new: str) -> None:
    text = changed(old, new)
    assert only_problem(text)
    assert read_stored_study(text, "study.yaml", OFFER).name == "good"


@pytest.mark.parametrize("factor", ["memory: 1MiB", "memory: 1B"])
def test_a_bound_of_today_does_not_hold_for_a_stored_factor(factor: str) -> None:
    size = factor.split()[1]
    text = f"{GOOD}factors: {{limits.memory: [{size}, 1GiB]}}\n".replace(
        "against: [docker, native-twin]", f"against: [docker-memory-{size}]"
    )
    text = text.replace("baseline: native", f"baseline: native-memory-{size}")
    text = text.replace("twin: native\n", "")
    with pytest.raises(StudyError):
        read_study(text, "study.yaml", OFFER)
    assert read_stored_study(text, "study.yaml", OFFER).factors["limits.memory"]


@pytest.mark.parametrize("new", ["twni: native", "twin: nobody", "twin: [native]"])
def test_a_stored_study_makes_sense_all_the_same(new: str) -> None:
    with pytest.raises(StudyError) as raised:
        read_stored_study(changed("twin: native", new), "study.yaml", OFFER)
    assert raised.value.problems
