"""Study files: what is accepted, and what each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_texts import GOOD, changed, only_problem, problems

from dunnage import catalog
from dunnage.model.study import Study
from dunnage.study.read import read_study
from dunnage.study.template import template
from offers import OFFER

STUDIES = Path(__file__).parents[3] / "studies"


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


def test_an_anchor_that_is_used_twice_is_no_matter_for_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    read_study(changed("members: 3", "members: &a 3") + "seed: &a 7\n", "study.yaml", OFFER)
    assert not recwarn.list
