"""Study files: what is accepted, and what each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dunnage import catalog
from dunnage.errors import Problem, StudyError
from dunnage.model.study import Study
from dunnage.study.matrix import levels
from dunnage.study.read import read_stored_study, read_study
from dunnage.study.template import template
from offers import OFFER

STUDIES = Path(__file__).parents[3] / "studies"

GOOD = """\
dunnage: 1
name: good
testbed: {kind: namespace, hosts: {db: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  docker: {platform: docker, network: bridge}
workloads: [A, C]
load: {threads: [32], duration: 4s}
twin: native
questions:
  Q1: {baseline: native, against: [docker, native-twin], metric: service.p95}
"""


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(StudyError) as raised:
        read_study(text, "study.yaml", OFFER)
    return raised.value.problems


def only_problem(text: str) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_name_without_a_letter_is_called_empty() -> None:
    said = [problem.what for problem in problems(changed("  docker: {", "  '': {"))]
    assert "a name in `deployments` is empty" in said


def test_a_good_study_is_read_with_its_defaults() -> None:
    study = read_study(GOOD, "study.yaml", OFFER)
    assert isinstance(study, Study)
    assert study.load.duration == 4.0
    assert [workload.name for workload in study.workloads] == ["A", "C"]
    assert study.blocks == 6


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_built_in_study_reads_without_problems(path: Path) -> None:
    assert read_study(path.read_text(), str(path), catalog.OFFER).name == path.stem


@pytest.mark.parametrize(
    ("name", "database", "platforms"),
    [
        ("my-study", "redis", ("native", "docker")),
        ("just native", "redis", ("native",)),
        ("true", "redis", ("docker",)),
        ("2024-01-01", "fake", ("fake",)),
        ("→", "redis", ("native", "docker")),
    ],
)
def test_what_init_writes_reads_without_problems(
    name: str, database: str, platforms: tuple[str, ...]
) -> None:
    study = read_study(template(OFFER, name, database, platforms), "study.yaml", OFFER)
    assert study.database.kind == database


@pytest.mark.parametrize(
    ("old", "new", "line", "what", "hint"),
    [
        ("twin: native", "twni: native", 10, "unknown key `twni`", "did you mean `twin`?"),
        ("name: good\n", "", 1, "`name` is missing", "write `name: my-study`"),
        ("name: good", "name: 5", 2, "`name` must be text, not `5`", 'put it in quotes: "5"'),
        ("name: good", "name: a b", 2, "`a b` is not a valid name", "use at most 63"),
        ("name: good", "name: ''", 2, "`name` is empty", "use at most 63"),
        ("dunnage: 1", "dunnage: 2", 1, "`dunnage` must be 1", "needs a newer Dunnage"),
        ("dunnage: 1", "dunnage: true", 1, "`dunnage` cannot be `true`", "dunnage: 1"),
        ("dunnage: 1", "dunnage: 1.0", 1, "`dunnage`: it is the whole number 1", ""),
        ("kind: namespace", "kind: nmespace", 3, "unknown testbed", "did you mean `namespace`?"),
        ("client: 1", "clients: 1", 3, "no group `client`", "hosts: {db: 3, client: 1}"),
        ("db: 3", "db: 0", 3, "`db` must be at least 1, not `0`", ""),
        ("kind: redis", "kind: redi", 4, "unknown database `redi`", "did you mean `redis`?"),
        ("replicas", "replica", 4, "has no topology `replica`", "did you mean `replicas`?"),
        ("members: 3", 'members: 3, version: "6"', 4, "version `6`", "known: `7.0`"),
        ("members: 3", "members: 2.5", 4, "`members` must be a whole number", "members: 3"),
        ("members: 3", 'members: "3"', 4, "a whole number, not `3`", "without quotes: 3"),
        ("members: 3", "members: true", 4, "must be a whole number, not `true`", "members: 3"),
        ("members: 3", "members: 4", 4, "each member needs its own host", "db: 4"),
        ("topology: replicas", "topology: single", 4, "a single Redis has one member", ""),
        ("platform: native", "platform: natve", 6, "unknown platform", "did you mean `native`?"),
        ("platform: native", "client: host", 6, "`platform` is missing", "platform: native"),
        ("platform: native", "platform: native, storage: volume", 6, "no storage", "`tmpfs`"),
        ("platform: native", "platform: native, client: container", 6, "cannot run", "`host`"),
        ("network: bridge", "network: brigde", 7, "has no network", "did you mean `bridge`?"),
        ("network: bridge", "endpoint: container-dns", 7, "has no endpoint", "`host-port`"),
        ("network: bridge", "hosts: dv", 7, "unknown group of hosts", "known: `db`"),
        ("network: bridge", "hosts: client", 7, "the load generator runs there", "hosts: db"),
        ("network: bridge", "slowdown: 200%", 7, "must be at most 95%, not `200%`", "5%"),
        ("network: bridge", "limits: {memory: 1 GByte}", 7, "`1 GByte` is not a size", ""),
        ("network: bridge", "limits: {cpu: 1}", 7, "unknown key `cpu`", "did you mean `cpus`?"),
        ("network: bridge", "database: {memers: 3}", 7, "unknown key", "did you mean `members`?"),
        ("network: bridge", "database: {members: x}", 7, "must be a whole number", ""),
        ("network: bridge", "database: {kind: mongo}", 7, "unknown database `mongo`", ""),
        ("network: bridge", "database: {members: 9}", 7, "do not fit on the 3 hosts", ""),
        ("network: bridge", "database: {topology: single}", 7, "has one member", ""),
        ("[A, C]", "[A, A]", 8, "two workloads have the name `A`", ""),
        ("[A, C]", "[A, G]", 8, "cannot be `G`", ""),
        ("[A, C]", "[]", 8, "`workloads` is empty", "workloads: [A, C]"),
        ("[A, C]", "A", 8, "`workloads` must be a list", "workloads: [A, C]"),
        ("threads: [32]", "threads: 32", 9, "`threads` must be a list", "threads: [8, 32]"),
        ("threads: [32]", "threads: [32, 32]", 9, "the level `t32` appears twice", ""),
        ("threads: [32], ", "", 9, "neither `threads` nor `rate` nor", "rate: [2000]"),
        ("threads: [32]", "rate: [6O%]", 9, "`6O%` is not a share", ""),
        ("threads: [32]", "rate: [fast]", 9, "or a share of the baseline's capacity", ""),
        ("threads: [32]", "rate: [300%]", 9, "must be at most 200%, not `300%`", ""),
        ("threads: [32]", "rate: [0.6]", 9, "is less than one operation", "did you mean `60%`"),
        ("threads: [32]", "rate: [50%, 50%]", 9, "the level `s50` appears twice", ""),
        ("threads: [32]", "threads: [32], calibration: {runs: 2}", 9, "to a rate that is", ""),
        ("threads: [32]", "rate: [9%], calibration: {thread: 2}", 9, "`thread` in", "`threads`"),
        ("threads: [32]", "search: {probes: 2}", 9, "`probes` must be at least 4", "probes: 20"),
        (
            "threads: [32]",
            "threads: [8], search: {probe: 0.2s}",
            9,
            "`probe` must be at least 1s",
            "2s",
        ),
        ("threads: [32]", "search: {precison: 5%}", 9, "unknown key", "`precision`"),
        (
            "threads: [32]",
            "threads: [8], search: {objective: {response.p98: 1s}}",
            9,
            "objective",
            "p99",
        ),
        ("threads: [32]", "search: {objective: {response.p99: 10}}", 9, "`10` has no unit", ""),
        (
            "threads: [32]",
            "search: {}",
            12,
            "a search does not measure `service.p95`",
            "`saturation`",
        ),
        ("service.p95", "saturation", 12, "and the load has none", "search: {}"),
        ("service.p95", "achieved", 12, "a question cannot compare", ""),
        (
            "duration: 4s",
            "duration: 4",
            9,
            "`duration`: `4` has no unit; write for example `4s`",
            "",
        ),
        ("duration: 4s", 'duration: "4"', 9, "`4` has no unit; write for example `4s`", ""),
        ("client: 1}", "client: 1}, memory: 1073741824", 3, "write for example `1073741824B`", ""),
        ("twin: native", "sampler: {rate: 5}", 10, "write for example `5Hz`", ""),
        ("duration: 4s", "timeout: 4s", 9, "the length of a run", "duration: 10s"),
        ("duration: 4s", "duration: 4 parsec", 9, "is not a duration", ""),
        ("duration: 4s", "duration: 20ms", 9, "must be at least 1s, not `20ms`", "duration: 10s"),
        ("duration: 4s", "duration: 4s, operations: 5", 9, "cannot both be given", ""),
        ("duration: 4s", "duration: 4s, arrivals: poisson", 9, "only to `rate`", ""),
        (
            "duration: 4s",
            "duration: 4s, warmup: -1s",
            9,
            "`warmup` must be at least 0s, not `-1s`",
            "",
        ),
        ("twin: native", "twin: naitve", 10, "unknown deployment", "did you mean `native`?"),
        ("baseline: native", "baseline: nativ", 12, "unknown deployment", "`native`"),
        ("[docker, native-twin]", "[dokcer]", 12, "unknown deployment", "`docker`"),
        ("[docker, native-twin]", "[native]", 12, "is compared with itself", "twin"),
        ("[docker, native-twin]", "[docker, docker]", 12, "appears twice", ""),
        ("service.p95", "service.p59", 12, "unknown metric", "did you mean `service.p"),
        ("service.p95", "response.p95", 12, "needs intended starts", "`service.p95`"),
        ("service.p95", "soft.bridge", 12, "needs soft interrupts", "{soft_interrupts: true}"),
        ("service.p95", "scan.service.p95", 12, "has the operation `scan`", "`read`, `update`"),
        ("twin: native", "generator: yscb", 10, "unknown generator", "`engine`"),
        ("twin: native", "sampler: {kind: engin}", 10, "unknown sampler", "`engine`"),
        ("twin: native", "sampler: {rate: 50Hz}", 10, "must be at most 20Hz, not `50Hz`", "5Hz"),
        ("twin: native", "substrate: {dokcer: {}}", 10, "unknown substrate", "`docker`"),
        (
            "twin: native",
            "substrate: {docker: {kind: deamons}}",
            10,
            "the substrate `docker` has no kind `deamons`",
            "`daemons`",
        ),
        (
            "twin: native",
            "substrate: {docker: {kind: existing}}",
            10,
            "no Docker context for `db-1`, `db-2`, `db-3`",
            "contexts: {db-1: my-docker-context}",
        ),
        ("twin: native", "substrate: {swarm: {kid: own}}", 10, "unknown key `kid`", "`kind`"),
        (
            "twin: native",
            "substrate: {swarm: {contexts: {db-1: one}}}",
            10,
            "`contexts` belongs to the kind `existing`, not to `own`",
            "write `kind: existing`",
        ),
        (
            "twin: native",
            "substrate: {fake: {contexts: {db-1: one}}}",
            10,
            "the substrate `fake` has no contexts",
            "remove them",
        ),
        (
            "twin: native",
            "substrate: {swarm: {kind: existing, contexts: {db-9: one, control: two}}}",
            10,
            "unknown host `db-9`",
            "`control`",
        ),
        ("twin: native", "substrate: {kind: daemons}", 10, "for each family", "docker: {kind:"),
        ("twin: native", "substrate: {contexts: {db-1: x}}", 10, "for each family", "docker:"),
        ("kind: redis, topology: replicas", "kind: fake", 4, "on fake hosts only", "redis"),
        ("twin: native", "generator: fake", 10, "on fake hosts only", "generator: engine"),
        ("network: bridge", "database: {kind: fake}", 7, "on fake hosts only", "kind: redis"),
        ("twin: native", "sampler: {kind: fake}", 10, "on fake hosts only", "kind: engine"),
        ("twin: native", "factors: {network: []}", 10, "has no values", "remove it"),
        ("twin: native", "deadline: -1s", 10, "`deadline` must be more than 0", "120s"),
        ("client: 1}", "client: 1}, memory: 0B", 3, "`memory` must be at least 6MiB", "1GiB"),
        ("threads: [32]", "threads: [32, x]", 9, "`threads` number 2 must be a whole", ""),
        ("[A, C]", "[A, {core: C}]", 8, "`name` is missing in workloads number 2", ""),
        ("duration: 4s", "duration: true", 9, "`duration` cannot be `true`", "10s"),
        ("twin: native", "factors: {storag: [bind]}", 10, "unknown factor", "`storage`"),
        ("twin: native", "blocks: 1_000_000_000_000_000_000", 10, "too large", ""),
        ("twin: native", "name: again", 10, "appears twice, first on line 2", ""),
        ("twin: native", "3: native", 10, "the key `3` is not a word", '"3"'),
        ("twin: native", "twin: !!python/name:os.system x", 10, "the tag", ""),
        ("twin: native", "<<: {a: 1}", 10, "`<<` is not part", "write the keys out"),
    ],
)
def test_one_mistake_is_told_where_it_is_and_what_to_write(
    old: str, new: str, line: int, what: str, hint: str
) -> None:
    text = changed(old, new)
    if "native-twin" in text and "twin: native\n" not in text:
        text = text.replace(", native-twin", "")
    problem = only_problem(text)
    assert problem.line == line
    assert what in problem.what
    assert hint in problem.hint


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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "just words",
        "[1, 2]",
        "a: [",
        "a: b: c",
        "\t- a",
        "a: *b",
        "&a [*a]",
        "&a {b: *a}",
        "--- a\n--- b\n",
        "\x00\x01\x02",
        "\ufffd" * 100,
        '"\\UFFFFFFFF"',
        'name: "\\ud800"',
        "? [a, b]\n: c",
        "? {a: b}\n: c",
        "~: 1",
        "%YAML 3.1\n---\na: 1",
        "%YAML 1.1\n---\ndunnage: yes",
        "!!python/object/apply:os.system ['true']",
        "dunnage: !!binary aGVsbG8=",
        "dunnage: !!int x",
        "dunnage: .nan",
        "seed: " + "9" * 5000,
        "[" * 100_000,
        "{a: " * 50_000,
        "- " * 50_000,
        "a: " + "x" * 300_000,
        "\n".join(f"a{n}: 1" for n in range(20_000)),
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]"
            for n in range(9)
        ),
        "deployments: [a]\nworkloads: {a: b}\nload: x\nquestions: 5\ntestbed: []\nfactors: x",
        "deployments: {a: [x], b: 5, c: {database: {kind: {a: b}}}}\nfactors: {storage: [[x]]}",
        "deployments: {a: {platform: native}}\nfactors: {storage: [{a: b}], limits.cpus: [x, -1]}",
    ],
)
def test_no_text_whatever_ends_in_anything_but_problems(text: str) -> None:
    found = problems(text)
    assert found
    assert all(problem.what and "\n" not in problem.what for problem in found)
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('a: 1\nb: "open\nc: 2\nd: 3\n', 2, "this quote is never closed"),
        ("a: 1\nb: 'open\nc: 2\n", 2, "this quote is never closed"),
        ('a: 1\nb: "open\nc: 2\nd: "7.0"\ne: 5\n', 2, "the quote that opens here runs to line 4"),
        ("a: 1\nb: [1, 2\n", 2, "this bracket is never closed"),
        ("a: 1\nb: [1, 2\nc: 3\n", 2, "the bracket that opens here runs to line 3"),
        ("a: 1\nb: {c: 1\n", 2, "this bracket is never closed"),
        ("a: 1\nb: \x00\n", 2, "the character U+0000 is not allowed in a study"),
        ("a: 1\nb: c: d\n", 2, "mapping values are not allowed here"),
        ("a: 1\nb: @x\n", 2, "cannot start any token"),
        ("a:\n\tb: 1\n", 2, "tabs cannot indent in YAML: use spaces"),
        ("a:\n  b: 1\n \tc: 2\n", 3, "tabs cannot indent in YAML: use spaces"),
        ("a:\tb\n", 1, "a tab is not allowed here: use spaces"),
    ],
)
def test_what_is_not_yaml_is_told_where_it_began(text: str, line: int, what: str) -> None:
    problem = only_problem(text)
    assert problem.line == line
    assert what in problem.what


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "dunnage init"),
        ("# nothing\n", "dunnage init"),
        ("just words", "dunnage init"),
        ("name: [", "dunnage plan 'my study.yaml'"),
        ("name: good", "dunnage plan 'my study.yaml'"),
    ],
)
def test_whoever_has_nothing_begins_and_whoever_mends_checks_again(text: str, hint: str) -> None:
    with pytest.raises(StudyError) as raised:
        read_study(text, "my study.yaml", OFFER)
    assert raised.value.hint == hint


@pytest.mark.parametrize(
    "settings",
    [
        '{"a b": 1}',
        '{"a\\nrequirepass x": 1}',
        '{a: "1\\nrequirepass x"}',
        '{"$(x)": 1}',
        '{"": 1}',
    ],
)
def test_a_setting_is_one_word_with_one_line(settings: str) -> None:
    told = only_problem(changed("members: 3", f"members: 3, settings: {settings}"))
    assert "is not the name of a setting" in told.what or "is not one line of text" in told.what


@pytest.mark.parametrize("name", ["requirepass ", " requirepass", "requirepass\\t"])
def test_a_setting_with_a_blank_beside_its_name_tells_no_secret(name: str) -> None:
    settings = f'{{"{name}": hunter2}}'
    told = only_problem(changed("members: 3", f"members: 3, settings: {settings}"))
    assert told.what == "`requirepass` is not the name of a setting: there is a blank beside it"


def test_names_from_before_the_factors_are_named_once_each_with_the_new_ones() -> None:
    told = problems(changed("twin: native", "twin: native\nfactors: {limits.pids: [100, 200]}"))
    whats = [problem.what for problem in told]
    assert whats == [
        f"`factors` make other deployments of `{name}`, so none has this name"
        for name in ("native", "docker", "native-twin")
    ]
    assert "`native-pids-100`, `native-pids-200`" in told[0].hint


def test_an_anchor_that_is_used_twice_is_no_matter_for_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    read_study(changed("members: 3", "members: &a 3") + "seed: &a 7\n", "study.yaml", OFFER)
    assert not recwarn.list


@pytest.mark.parametrize("image", ["-v", "a b", "redis:7.0 --privileged", "$(x)", "../x"])
def test_an_image_is_the_name_of_one(image: str) -> None:
    told = only_problem(changed("members: 3", f"members: 3, image: {image!r}"))
    assert "is not the name of an image" in told.what


JARGON = ("Input should", "Value error", "pydantic", "Traceback", "NoneType", "validation")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_arbitrary_text_raises_nothing_but_a_study_error(text: str) -> None:
    assert_only_problems(text)


KEYS = st.sampled_from(
    [
        "dunnage",
        "name",
        "testbed",
        "kind",
        "hosts",
        "memory",
        "substrate",
        "contexts",
        "database",
        "version",
        "members",
        "settings",
        "consistency",
        "deployments",
        "platform",
        "network",
        "storage",
        "limits",
        "slowdown",
        "factors",
        "workloads",
        "core",
        "phase",
        "records",
        "load",
        "threads",
        "rate",
        "duration",
        "operations",
        "questions",
        "baseline",
        "against",
        "metric",
        "twin",
        "sampler",
        "blocks",
        "repeat",
        "client",
        "native",
        "docker",
        "storage",
        "limits.cpus",
        "database.members",
        "Q1",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["A", "native", "docker", "redis", "5%", "1s", "host", "t 1", "x" * 80, "é"]),
)
TREES = st.recursive(
    LEAVES,
    lambda inside: st.one_of(
        st.lists(inside, max_size=4), st.dictionaries(KEYS, inside, max_size=6)
    ),
    max_leaves=25,
)


def test_fake_hosts_have_no_cores_to_share() -> None:
    fake = (Path(__file__).parents[3] / "studies" / "fake.yaml").read_text()
    (problem,) = problems(fake.replace("kind: fake ", "cores: shared\n  kind: fake ", 1))
    assert problem.what == "fake hosts have no processors"
    assert problem.hint == "remove `cores`"


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, TREES, max_size=12))
def test_arbitrary_values_under_known_keys_raise_nothing_but_a_study_error(
    data: dict[str, object],
) -> None:
    assert_only_problems(_flow({"dunnage": 1, **data}))


def assert_only_problems(text: str) -> None:
    try:
        read_study(text, "study.yaml", OFFER)
    except StudyError as error:
        assert error.problems
        for problem in error.problems:
            assert not any(word in problem.what for word in JARGON), problem


def _flow(value: object) -> str:
    """Write a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return {None: "~", True: "true", False: "false"}.get(value, str(value))  # type: ignore[call-overload, no-any-return]


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
