"""Hostile attempts at the command line: what is typed over which files, and what must be said."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

STUDY = """\
dunnage: 1
name: tried
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: fake, topology: sharded, members: 3, version: "1.0"}
deployments:
  plain: {platform: fake, network: plain}
  late: {platform: fake, network: late}
twin: plain
workloads: [A]
records: 100
load: {rate: [2000], connections: 16, warmup: 1s, duration: 4s}
blocks: 6
generator: fake
sampler: {kind: fake, rate: 5Hz}
questions:
  Q1: {baseline: plain, against: [late], metric: throughput, tolerance: 3%}
"""
"""Right as it stands; every attempt spoils it in one way."""


class Attempt(NamedTuple):
    """What somebody tries, and what must come of it."""

    arrange: Callable[[Path], None]
    """Prepares the directory in which the command is typed."""
    words: Sequence[str]
    code: int
    says: str
    """Must be part of what is shown."""


def study(content: str | bytes) -> Callable[[Path], None]:
    """`study.yaml` holds this."""

    def arrange(directory: Path) -> None:
        path = directory / "study.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return arrange


def changed(*pairs: tuple[str, str]) -> str:
    """The study with something else in place of a part of it."""
    text = STUDY
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def nothing(_: Path) -> None:
    """The directory is empty."""


def a_pipe(directory: Path) -> None:
    os.mkfifo(directory / "study.yaml")


def a_directory(directory: Path) -> None:
    (directory / "study.yaml").mkdir()


def a_pipe_among_schemas(directory: Path) -> None:
    os.mkfifo(directory / "study.schema.json")


def a_link(target: str) -> Callable[[Path], None]:
    """`study.yaml` is a link."""

    def arrange(directory: Path) -> None:
        (directory / "study.yaml").symlink_to(target)

    return arrange


def a_file(name: str, text: str = "") -> Callable[[Path], None]:
    """The study is right, and another file is there."""

    def arrange(directory: Path) -> None:
        study(STUDY)(directory)
        (directory / name).write_text(text)

    return arrange


MASKED = changed(('version: "1.0"}', 'version: "1.0", settings: {requirepass: "•••"}}'))
"""As a result keeps it."""
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcde", "bcdef", strict=True)
)

SPOILT: Sequence[tuple[str, str, str, str]] = (
    # name of the attempt, part of the study, what stands there instead, what must be said
    ("name empty", "name: tried", "name: ''", "line 2: `name` is empty"),
    ("name leads out", "name: tried", "name: ../tried", "line 2: `../tried` is not a valid name"),
    ("name with a slash", "name: tried", "name: a/b", "line 2: `a/b` is not a valid name"),
    (
        "name too long",
        "name: tried",
        f"name: {'n' * 300}",
        "line 2: `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…` is not a valid",
    ),
    ("name with a line break", "name: tried", 'name: "a\\nb"', "line 2: `a�b` is not a valid name"),
    ("name is a number", "name: tried", "name: 5", "line 2: `name` must be text, not `5`"),
    ("name is missing", "name: tried\n", "", "line 1: `name` is missing"),
    (
        "name that steers a terminal",
        "name: tried",
        'name: "\\e[2J"',
        "line 2: `�[2J` is not a valid name",
    ),
    (
        "version from the future",
        "dunnage: 1",
        "dunnage: 2",
        "line 1: `dunnage` must be 1, the version of the grammar, not `2`",
    ),
    (
        "version as a text",
        "dunnage: 1",
        'dunnage: "1"',
        "line 1: `dunnage` must be 1, the version of the grammar, not `1`",
    ),
    ("version is missing", "dunnage: 1\n", "", "line 1: `dunnage` is missing"),
    ("no blocks", "blocks: 6", "blocks: 0", "line 12: `blocks` must be at least 1, not `0`"),
    (
        "negative blocks",
        "blocks: 6",
        "blocks: -6",
        "line 12: `blocks` must be at least 1, not `-6`",
    ),
    (
        "too many blocks",
        "blocks: 6",
        "blocks: 1001",
        "line 12: `blocks` must be at most 1000, not `1001`",
    ),
    (
        "half a block",
        "blocks: 6",
        "blocks: 6.5",
        "line 12: `blocks` must be a whole number, not `6.5`",
    ),
    (
        "blocks in words",
        "blocks: 6",
        "blocks: six",
        "line 12: `blocks` must be a whole number, not `six`",
    ),
    (
        "blocks are true",
        "blocks: 6",
        "blocks: true",
        "line 12: `blocks` must be a whole number, not `true`",
    ),
    (
        "blocks in a list",
        "blocks: 6",
        "blocks: [6]",
        "line 12: `blocks` must be a whole number, not a list",
    ),
    ("no records", "records: 100", "records: 0", "line 10: `records` must be at least 1, not `0`"),
    (
        "negative records",
        "records: 100",
        "records: -1",
        "line 10: `records` must be at least 1, not `-1`",
    ),
    (
        "records beyond any number",
        "records: 100",
        "records: 1e400",
        "line 10: `1e400` is too large a number",
    ),
    (
        "records with a unit",
        "records: 100",
        "records: 10k",
        "line 10: `records` must be a whole number, not `10k`",
    ),
    (
        "rate of zero",
        "rate: [2000]",
        "rate: [0]",
        "line 11: `rate` number 1 must be more than 0, not `0`",
    ),
    (
        "negative rate",
        "rate: [2000]",
        "rate: [-1]",
        "line 11: `rate` number 1 must be more than 0, not `-1`",
    ),
    (
        "no rate",
        "rate: [2000]",
        "rate: []",
        "line 11: the load has neither `threads` nor `rate` nor `search`",
    ),
    (
        "the same rate twice",
        "rate: [2000]",
        "rate: [2000, 2000]",
        "line 11: the level `r2000` appears twice",
    ),
    (
        "rate in words",
        "rate: [2000]",
        "rate: [fast]",
        "line 11: `rate` number 1: a rate is a number of operations per second, for example",
    ),
    (
        "threads that are none",
        "rate: [2000], connections: 16",
        "threads: [0]",
        "line 11: `threads` number 1 must be at least 1, not `0`",
    ),
    (
        "no connections",
        "connections: 16",
        "connections: 0",
        "line 11: `connections` must be at least 1, not `0`",
    ),
    (
        "duration of zero",
        "duration: 4s",
        "duration: 0s",
        "line 11: `duration` must be at least 1s, not `0s`",
    ),
    (
        "negative duration",
        "duration: 4s",
        "duration: -4s",
        "line 11: `duration` must be at least 1s, not `-4s`",
    ),
    (
        "duration without a unit",
        "duration: 4s",
        "duration: 4",
        "line 11: `duration`: `4` has no unit; write for example `4s`",
    ),
    (
        "duration above a year",
        "duration: 4s",
        "duration: 9000h",
        "line 11: `duration`: `9000h` is more than a year; check its unit",
    ),
    (
        "duration in parsec",
        "duration: 4s",
        "duration: 4 parsec",
        "line 11: `duration`: `4 parsec` is not a duration; write a number with a unit of `us`,",
    ),
    (
        "duration of two units",
        "duration: 4s",
        "duration: 1h 4s",
        "line 11: `duration`: `1h 4s` is not a duration; write a number with a unit of `us`, `µs`,",
    ),
    (
        "duration that is no number",
        "duration: 4s",
        "duration: .nan",
        "line 11: `.nan` is not a valid number",
    ),
    (
        "a run that no memory holds",
        "warmup: 1s",
        "warmup: 1000h",
        "line 11: fake hosts hold a run in memory",
    ),
    (
        "threads without work",
        "rate: [2000], connections: 16, warmup: 1s, duration: 4s",
        "threads: [64], operations: 32",
        "line 11: 32 operations leave 32 of 64 threads without work",
    ),
    (
        "one operation a run",
        "duration: 4s",
        "operations: 1",
        "line 11: 1 operation at 2000 op/s take 0.0005 s; a run is valid from 1.2 s on",
    ),
    (
        "a rate of next to nothing",
        "rate: [2000]",
        "rate: [0.00001%]",
        "line 11: `rate` number 1 is less than 0.1 % of the baseline's capacity",
    ),
    (
        "a rate with too few operations",
        "rate: [2000]",
        "rate: [3]",
        "line 11: a run of 4.0 s at 3 op/s has 12 operations; fewer than 67 cannot tell",
    ),
    (
        "a rate beyond any client",
        "rate: [2000]",
        "rate: [1e12]",
        "line 11: no client starts 1e+12 operations a second",
    ),
    (
        "a run too short to be judged",
        "duration: 4s",
        "duration: 1s",
        "line 11: a run of 1.0 s is too short to tell whether the database is steady",
    ),
    (
        "more clients than operations in flight",
        "client: 1}",
        "client: 20}",
        "line 11: 20 clients cannot share 16 `connections`",
    ),
    (
        "a load phase that is over at once",
        "workloads: [A]",
        "workloads: [{name: loading, phase: load}]",
        "line 9: at 2000 op/s, the 100 records of `loading` are in after 50 ms",
    ),
    (
        "a time-out that no timer keeps",
        "warmup: 1s",
        "warmup: 1s, timeout: 1us",
        "line 11: the generator looks for late answers once in 1 ms",
    ),
    ("nothing but stops", "network: late}", "network: late, slowdown: 99.9999%}", "at most 95%"),
    ("negative patience", "blocks: 6", "blocks: 6\npatience: -1s", "must be at least 0s"),
    ("endless duration", "duration: 4s", "duration: .inf", "line 11: `.inf` is not a valid number"),
    (
        "negative warm-up",
        "warmup: 1s",
        "warmup: -1s",
        "line 11: `warmup` must be at least 0s, not `-1s`",
    ),
    (
        "turns too short",
        "warmup: 1s",
        "warmup: 1s, turns: 1ms",
        "line 11: `turns` must be at least 0.15s, not `1ms`",
    ),
    (
        "turns too long",
        "warmup: 1s",
        "warmup: 1s, turns: 10s",
        "line 11: `turns` must be at most 5s, not `10s`",
    ),
    (
        "no deployments",
        "plain: {platform: fake, network: plain}\n  late:",
        "late:",
        "line 7: unknown deployment `plain`",
    ),
    (
        "unknown platform",
        "late: {platform: fake",
        "late: {platform: fkae",
        "line 7: unknown platform `fkae`",
    ),
    (
        "unknown network",
        "network: late}",
        "network: latte}",
        "line 7: platform `fake` has no network `latte`",
    ),
    (
        "unknown endpoint",
        "network: late}",
        "network: late, endpoint: floating}",
        "line 7: platform `fake` has no endpoint `floating` on network `late`",
    ),
    (
        "unknown storage",
        "network: late}",
        "network: late, storage: tape}",
        "line 7: `storage` cannot be `tape`",
    ),
    (
        "unknown key of a deployment",
        "network: late}",
        "network: late, cpu: 2}",
        "line 7: unknown key `cpu` in `deployments.late`",
    ),
    (
        "no processors",
        "network: late}",
        "network: late, limits: {cpus: 0}}",
        "line 7: `cpus` must be more than 0, not `0`",
    ),
    (
        "next to no processors",
        "network: late}",
        "network: late, limits: {cpus: 0.0001}}",
        "line 7: `cpus` must be from 0.1 to 1024 processors, not `0.0001`",
    ),
    (
        "more processors than any machine has",
        "network: late}",
        "network: late, limits: {cpus: 5000}}",
        "line 7: `cpus` must be from 0.1 to 1024 processors, not `5000`",
    ),
    (
        "one process",
        "network: late}",
        "network: late, limits: {pids: 1}}",
        "line 7: `pids` must be at least 16, not `1`: threads count",
    ),
    (
        "a rate of nothing at all",
        "rate: [2000]",
        "rate: [1e-9]",
        "write for example `rate: [2000]`",
    ),
    (
        "a rate that is a share",
        "rate: [2000]",
        "rate: [0.6]",
        "did you mean `60%`, a share of the baseline's capacity?",
    ),
    (
        "a blank beside a secret",
        'version: "1.0"}',
        'version: "1.0", settings: {"requirepass ": hunter2}}',
        "is not the name of a setting",
    ),
    (
        "names from before the factors",
        "blocks: 6",
        "blocks: 6\nfactors: {limits.pids: [100, 200]}",
        "`factors` make other deployments of `late`, so none has this name",
    ),
    (
        "memory of one byte",
        "network: late}",
        "network: late, limits: {memory: 1B}}",
        "line 7: `memory` must be at least 6MiB, not `1B`",
    ),
    (
        "all is lost",
        "network: late}",
        "network: late, loss: 100%}",
        "line 7: `loss` must be at most 50%, not `100%`",
    ),
    (
        "negative loss",
        "network: late}",
        "network: late, loss: -5%}",
        "line 7: `loss` must be at least 0%, not `-5%`",
    ),
    (
        "deployment name with a space",
        "  late:",
        '  "la te":',
        "line 7: `la te` is not a valid name",
    ),
    (
        "deployment name twice",
        "  late:",
        "  plain:",
        "line 7: the key `plain` appears twice, first on line 6",
    ),
    ("twin of nobody", "twin: plain", "twin: plane", "line 8: unknown deployment `plane`"),
    (
        "twin of several",
        "twin: plain",
        "twin: [plain, late]",
        "line 8: `twin` must be text, not a list",
    ),
    (
        "baseline unknown",
        "baseline: plain",
        "baseline: plane",
        "line 16: unknown deployment `plane`",
    ),
    ("against nobody", "against: [late]", "against: []", "line 16: `against` is empty"),
    (
        "against itself",
        "against: [late]",
        "against: [plain]",
        "line 16: `plain` is compared with itself",
    ),
    (
        "against unknown",
        "against: [late]",
        "against: [latte]",
        "line 16: unknown deployment `latte`",
    ),
    (
        "metric unknown",
        "metric: throughput",
        "metric: thruput",
        "line 16: unknown metric `thruput`",
    ),
    (
        "no tolerance",
        "tolerance: 3%",
        "tolerance: 0%",
        "line 16: `tolerance` must be more than 0%, not `0%`",
    ),
    (
        "everything is tolerated",
        "tolerance: 3%",
        "tolerance: 100%",
        "line 16: `tolerance` must be less than 100%, not `100%`",
    ),
    (
        "negative tolerance",
        "tolerance: 3%",
        "tolerance: -3%",
        "line 16: `tolerance` must be more than 0%, not `-3%`",
    ),
    (
        "tolerance of three hundred per cent",
        "tolerance: 3%",
        "tolerance: 3",
        "line 16: `tolerance` must be less than 1, not `3`",
    ),
    (
        "tolerance in words",
        "tolerance: 3%",
        "tolerance: 3 percent",
        "line 16: `tolerance`: `3 percent` is not a share; write a number with a unit of `%`, for",
    ),
    (
        "primary unknown",
        "tolerance: 3%",
        "primary: {against: [plain]}",
        "line 16: unknown deployment in `against` `plain`",
    ),
    (
        "no database hosts",
        "{db: 3, client: 1}",
        "{db: 0, client: 1}",
        "line 3: `db` must be at least 1, not `0`",
    ),
    (
        "no client",
        "{db: 3, client: 1}",
        "{db: 3}",
        "line 3: the testbed has no group `client` for the load generator",
    ),
    (
        "no hosts",
        "{db: 3, client: 1}",
        "{}",
        "line 3: the testbed has no group `client` for the load generator",
    ),
    (
        "unknown testbed",
        "testbed: {kind: fake",
        "testbed: {kind: cloud",
        "line 3: unknown testbed `cloud`",
    ),
    (
        "unknown database",
        "database: {kind: fake",
        "database: {kind: oracle",
        "line 4: unknown database `oracle`",
    ),
    (
        "version is a number",
        'version: "1.0"',
        "version: 1.0",
        "line 4: `version` must be text, not `1.0`",
    ),
    (
        "unknown topology",
        "topology: sharded",
        "topology: star",
        "line 4: database `fake` has no topology `star`",
    ),
    ("no members", "members: 3", "members: 0", "line 4: `members` must be at least 1, not `0`"),
    (
        "too many members",
        "members: 3",
        "members: 300",
        "line 4: `members` must be at most 64, not `300`",
    ),
    ("no workloads", "workloads: [A]", "workloads: []", "line 9: `workloads` is empty"),
    (
        "unknown workload",
        "workloads: [A]",
        "workloads: [Z]",
        "line 9: `workloads` number 1 cannot be `Z`",
    ),
    (
        "workload twice",
        "workloads: [A]",
        "workloads: [A, A]",
        "line 9: two workloads have the name `A`",
    ),
    (
        "unknown phase",
        "workloads: [A]",
        "workloads: [{name: x, core: A, phase: jump}]",
        "line 9: `phase` cannot be `jump`",
    ),
    (
        "time and blocks",
        "blocks: 6",
        "blocks: 6\ntime: 6min",
        "line 12: `time` chooses the number of blocks, so `blocks` is not allowed",
    ),
    (
        "time above a year",
        "blocks: 6\n",
        "time: 10000h\n",
        "line 12: `time`: `10000h` is more than a year; check its unit",
    ),
    (
        "seed in words",
        "blocks: 6",
        "blocks: 6\nseed: lucky",
        "line 13: `seed` must be a whole number, not `lucky`",
    ),
    (
        "unknown generator",
        "generator: fake",
        "generator: ycsb",
        "line 13: unknown generator `ycsb`",
    ),
    ("unknown sampler", "{kind: fake, rate: 5Hz}", "{kind: top}", "line 14: unknown sampler `top`"),
    (
        "sampler that never looks",
        "rate: 5Hz",
        "rate: 0Hz",
        "line 14: `rate` must be more than 0Hz, not `0Hz`",
    ),
    (
        "sampler that looks too often",
        "rate: 5Hz",
        "rate: 1000Hz",
        "line 14: `rate` must be at most 20Hz, not `1000Hz`",
    ),
    ("unknown key", "blocks: 6", "blocks: 6\nblokcs: 7", "line 13: unknown key `blokcs`"),
    (
        "unknown factor",
        "blocks: 6",
        "blocks: 6\nfactors: {colour: [red, blue]}",
        "line 13: unknown factor `colour`",
    ),
    (
        "factor without values",
        "blocks: 6",
        "blocks: 6\nfactors: {network: []}",
        "line 13: the factor `network` has no values",
    ),
    (
        "too many variants",
        "blocks: 6",
        f"blocks: 6\nfactors: {{storage: [{', '.join(['tmpfs'] * 200)}]}}",
        "line 13: this makes 400 deployments; a study compares at most 100",
    ),
    (
        "names before factors",
        "blocks: 6",
        "blocks: 6\nfactors: {client: [host, container]}",
        "here and elsewhere: `plain-client-host`, `plain-client-container`",
    ),
    (
        "endless patience",
        "blocks: 6",
        "blocks: 6\npatience: 1e9h",
        "line 13: `patience`: `1e9h` is not a duration; write a number with a unit of `us`,",
    ),
    ("password", "name: tried", "name: tried\npassword: geheim", "line 3: unknown key `password`"),
)
"""A study with one mistake."""

CONTENTS: Sequence[tuple[str, str | bytes, str]] = (
    ("empty", "", "the file is empty"),
    (
        "white space",
        " \n\t\n",
        "line 2: tabs cannot indent in YAML: use spaces",
    ),
    ("comments", "# nothing\n", "the file is empty"),
    ("a word", "study\n", "line 1: a study must be a mapping of keys to values, not `study`"),
    ("a list", "- dunnage: 1\n", "line 1: a study must be a mapping of keys to values, not a list"),
    ("no text", bytes(range(256)), "line 2: this is not UTF-8 text: it holds the byte 0x80"),
    ("UTF-16", STUDY.encode("utf-16"), "line 1: this is not UTF-8 text: it holds the byte 0xff"),
    (
        "a NUL",
        STUDY.replace("tried", "tr\x00ied"),
        "line 2: the character U+0000 is not allowed in a study",
    ),
    (
        "tabs",
        STUDY.replace("  plain", "\tplain"),
        "line 6: tabs cannot indent in YAML: use spaces",
    ),
    (
        "too long",
        STUDY + "#" * 300_000,
        "the file is too long for a study (over 200000 characters)",
    ),
    (
        "too deep",
        "a: " + "[" * 400 + "]" * 400,
        "line 1: this is nested too deeply (over 16 levels)",
    ),
    (
        "a bomb of aliases",
        BOMB,
        "line 4: aliases make this too long for a study (over 5000 values)",
    ),
    ("an alias of itself", "a: &a [*a]\n", "line 1: this alias refers to a value that contains it"),
    (
        "an object",
        "name: !!python/object/apply:os.system [touch owned]\n",
        "line 1: the tag `tag:yaml.org,2002:python/object/apply:os.system` is not allowed in a",
    ),
    (
        "two documents",
        STUDY + "---\n" + STUDY,
        "line 17: a second YAML document begins here, and a study is one",
    ),
    ("every key twice", STUDY + STUDY, "line 17: the key `dunnage` appears twice, first on line 1"),
    ("JSON that is none", '{"dunnage": 1, "name": }', "line 1: `name` must be text, not nothing"),
    ("a merge", STUDY + "<<: {blocks: 7}\n", "line 17: `<<` is not part of this grammar"),
    ("a page", "<html><body>dunnage: 1</body></html>", "line 1: `dunnage` is missing"),
    (
        "a shell script",
        "#!/bin/sh\nrm -rf /\n",
        "line 2: a study must be a mapping of keys to values, not `rm -rf /`",
    ),
)
"""Files that are no study."""

COMMANDS: Sequence[tuple[str, Callable[[Path], None], str, int, str]] = (
    (
        "study is a pipe",
        a_pipe,
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: this is a pipe and not a file",
    ),
    (
        "study is a directory",
        a_directory,
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: this is a directory and not a file",
    ),
    (
        "study is endless",
        a_link("/dev/zero"),
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: this is a device and not a file",
    ),
    (
        "study is nothing",
        a_link("/dev/null"),
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: this is a device and not a file",
    ),
    (
        "study is a link to itself",
        a_link("study.yaml"),
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: Too many levels of symbolic links",
    ),
    (
        "study is a link to nothing",
        a_link("nowhere"),
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: No such file or directory",
    ),
    (
        "study is missing",
        nothing,
        "plan study.yaml",
        2,
        "study.yaml: cannot read the study: No such file or directory",
    ),
    (
        "study is misspelt",
        study(STUDY),
        "plan studdy.yaml",
        2,
        "studdy.yaml: cannot read the study: No such file or directory",
    ),
    ("study without a name", nothing, "plan", 2, "Missing argument 'study'."),
    (
        "empty path",
        nothing,
        "plan ''",
        2,
        "a word of this command is empty: perhaps a variable that is not set",
    ),
    ("path too long", nothing, f"plan {'x' * 5000}.yaml", 2, "File name too long"),
    (
        "path below a file",
        study(STUDY),
        "plan study.yaml/more.yaml",
        2,
        "study.yaml/more.yaml: cannot read the study: Not a directory",
    ),
    ("run of nothing", nothing, "run", 2, "name either a study or `--resume` with a result"),
    (
        "run of two things",
        study(STUDY),
        "run study.yaml --resume x",
        2,
        "name either a study or `--resume` with a result",
    ),
    ("resume of nothing", nothing, "run --resume nowhere", 2, "nowhere: there is no result here"),
    (
        "resume of a study",
        study(STUDY),
        "run --resume study.yaml",
        2,
        "study.yaml: there is no result here",
    ),
    (
        "only unknown",
        study(STUDY),
        "run study.yaml --only nobody",
        2,
        "no deployment, workload or level matches `nobody`",
    ),
    (
        "scale of zero",
        study(STUDY),
        "plan study.yaml --scale 0%",
        2,
        "`--scale`: `0%` does not make a study smaller; write for example `10%`",
    ),
    (
        "scale above all",
        study(STUDY),
        "plan study.yaml --scale 200%",
        2,
        "`--scale`: `200%` does not make a study smaller; write for example `10%`",
    ),
    (
        "scale in words",
        study(STUDY),
        "plan study.yaml --scale small",
        2,
        "`--scale`: `small` is not a share; write a number with a unit of `%`, for example `3%`",
    ),
    (
        "no blocks at all",
        study(STUDY),
        "run study.yaml --blocks 0",
        2,
        "`--blocks 0` is not a number of blocks; write `12` or `+6`",
    ),
    (
        "blocks of words",
        study(STUDY),
        "run study.yaml --blocks some",
        2,
        "`--blocks some` is not a number of blocks; write `12` or `+6`",
    ),
    (
        "blocks added to nothing",
        study(STUDY),
        "run study.yaml --blocks +3",
        2,
        "`--blocks +3` adds to a result: name it with `--resume`, or give a total",
    ),
    (
        "rates of nothing",
        study(STUDY),
        "run study.yaml --rates-of nowhere",
        2,
        "`--rates-of` needs a study with a rate that is a share of a capacity, such as `rate:",
    ),
    (
        "results in a file",
        a_file("results"),
        "run study.yaml",
        4,
        "results: cannot write: Not a directory",
    ),
    (
        "results in a device",
        study(STUDY),
        "run study.yaml --results /dev/null",
        4,
        "/dev/null: cannot write: /dev/null is no directory",
    ),
    ("status of nothing", nothing, "status nowhere", 2, "nowhere: there is no result here"),
    ("status of an empty path", nothing, "status ''", 2, "a word of this command is empty"),
    ("report of an empty path", nothing, "report ''", 2, "try: dunnage report -h"),
    ("export to an empty path", nothing, "export --to ''", 2, "a word of this command is empty"),
    (
        "status of a study",
        study(STUDY),
        "status study.yaml",
        2,
        "study.yaml: there is no result here",
    ),
    ("report of nothing", nothing, "report", 2, "results: there is no result here"),
    ("report of a device", nothing, "report /dev/null", 2, "/dev/null: there is no result here"),
    ("verify of nothing", nothing, "verify nowhere", 2, "nowhere: there is no result here"),
    ("compare one", nothing, "compare a", 2, "Missing argument 'b'."),
    ("compare nothings", nothing, "compare a b", 2, "a: there is no result here"),
    (
        "tolerance of zero",
        nothing,
        "compare a b --tolerance 0%",
        2,
        "`--tolerance 0%` is not between 0 and 100 %",
    ),
    ("export without a place", nothing, "export", 2, "Missing option '--to'."),
    ("export of nothing", nothing, "export --to out", 2, "results: there is no result here"),
    (
        "schema unknown",
        nothing,
        "schema nonsense",
        2,
        "there is no schema `nonsense`; the schemas are study, plan, stay, record, look, analysis,",
    ),
    (
        "schemas to check are missing",
        nothing,
        "schema --check nowhere",
        2,
        "nowhere: cannot read the schemas: No such file or directory",
    ),
    ("init over a file", study(STUDY), "init study.yaml", 2, "study.yaml: already exists"),
    (
        "init into nowhere",
        nothing,
        "init nowhere/study.yaml",
        2,
        "nowhere/study.yaml: cannot write: No such file or directory",
    ),
    (
        "init of an unknown database",
        nothing,
        "init --database oracle",
        2,
        "unknown database `oracle`",
    ),
    (
        "schemas to check are a file",
        study(STUDY),
        "schema --check study.yaml",
        2,
        "study.yaml: cannot read the schemas: Not a directory",
    ),
    (
        "schemas to check are a link to nothing",
        a_link("nowhere"),
        "schema --check study.yaml",
        2,
        "try: dunnage schema --write study.yaml",
    ),
    (
        "a pipe in place of a schema",
        a_pipe_among_schemas,
        "schema --check .",
        4,
        ".: out of date: study.schema.json",
    ),
    (
        "schemas written into a file",
        study(STUDY),
        "schema --write study.yaml",
        4,
        "try: move away what is in its place, then: dunnage schema --write study.yaml",
    ),
    (
        "schemas written into a link to nothing",
        a_link("nowhere"),
        "schema --write study.yaml",
        4,
        "try: move away what is in its place, then: dunnage schema --write study.yaml",
    ),
    (
        "completion for no shell",
        nothing,
        "--install-completion nope",
        2,
        "`--install-completion` stands alone",
    ),
    ("schema misspelt", nothing, "schema recrod", 2, "try: dunnage schema record"),
    ("init of an empty path", nothing, "init ''", 2, "a word of this command is empty"),
    (
        "init of fakes on what is real",
        nothing,
        "init z.yaml --database fake --platform docker",
        2,
        "try: dunnage init z.yaml --database fake",
    ),
    (
        "init of what is real on fakes",
        nothing,
        "init z.yaml --database redis --platform fake --platform native",
        2,
        "try: dunnage init z.yaml --database redis --platform native",
    ),
    (
        "init of a fake platform alone",
        nothing,
        "init z.yaml --platform fake",
        2,
        "try: dunnage init z.yaml --database fake --platform fake",
    ),
    ("init of an option", nothing, "init -x", 2, "try: dunnage init -h"),
    ("init over a device", nothing, "init /dev/null", 2, "try: dunnage init study.yaml"),
    (
        "init over a link to nothing",
        a_link("nowhere"),
        "init study.yaml",
        2,
        "try: dunnage init study-2.yaml",
    ),
    (
        "init over a file, with options",
        study(STUDY),
        "init study.yaml --database redis --platform native",
        2,
        "try: dunnage init study-2.yaml --database redis --platform native",
    ),
    (
        "init into nowhere, with options",
        nothing,
        "init nowhere/study.yaml --database redis",
        2,
        "try: mkdir -p -- nowhere, then: dunnage init nowhere/study.yaml --database redis",
    ),
    (
        "init of a platform that is misspelt",
        nothing,
        "init mine.yaml --platform native --platform doker --database redis",
        2,
        "try: dunnage init mine.yaml --database redis --platform native --platform docker",
    ),
    (
        "blocks of words, with options",
        study(STUDY),
        "run study.yaml --only late --blocks some --results out",
        2,
        "try: dunnage run study.yaml --only late --blocks 12 --results out",
    ),
    (
        "blocks added to nothing, with a place",
        study(STUDY),
        "run study.yaml --blocks +3 --results out",
        2,
        "try: dunnage run --resume out/tried --blocks +3",
    ),
    (
        "only unknown, and what there is",
        study(STUDY),
        "run study.yaml --only nobody",
        2,
        "try: dunnage plan study.yaml --runs",
    ),
    (
        "resume of a part",
        nothing,
        "run --resume nowhere --only late --blocks +6",
        2,
        "try: dunnage run --resume nowhere --blocks +6",
    ),
    (
        "tolerance without a unit",
        nothing,
        "compare a b --tolerance 3 --all",
        2,
        "try: dunnage compare a b --tolerance 3% --all",
    ),
    (
        "rates of nothing, with options",
        study(STUDY),
        "run study.yaml --only late --rates-of nowhere",
        2,
        "try: dunnage run study.yaml --only late",
    ),
    (
        "results in a file, with options",
        a_file("results"),
        "run study.yaml --only late",
        4,
        "try: move away what is in its place, then: dunnage run study.yaml --only late",
    ),
    (
        "a study whose secret is masked",
        study(MASKED),
        "run study.yaml --yes",
        2,
        "study.yaml, line 4: a secret is masked here, so this is not the study that was measured",
    ),
    (
        "the path in a study whose secret is masked",
        study(MASKED),
        "path study.yaml late",
        2,
        "try: dunnage path STUDY late  # STUDY is the file that holds the secret",
    ),
    ("export as nothing known", nothing, "export --to out --as pdf", 2, "export results --to out"),
    ("unknown verb", nothing, "measure", 2, "No such command 'measure'."),
    ("unknown option", nothing, "plan --nonsense", 2, "No such option: --nonsense"),
    (
        "unknown format",
        study(STUDY),
        "plan study.yaml --format xml",
        2,
        "Invalid value for '--format': 'xml' is not one of 'text', 'json'.",
    ),
    (
        "clean with too many words",
        nothing,
        "clean everything",
        2,
        "Got unexpected extra argument(s) (everything)",
    ),
    (
        "quickstart with too many words",
        nothing,
        "quickstart everything",
        2,
        "Got unexpected extra argument(s) (everything)",
    ),
    ("nothing", nothing, "", 2, "Usage: dunnage [OPTIONS] COMMAND [ARGS]..."),
)
"""Command lines that cannot be carried out."""


def attempts() -> dict[str, Attempt]:
    """Every attempt, by its name."""
    plan = ("plan", "study.yaml")
    found = {
        name: Attempt(study(changed((old, new))), plan, 2, says) for name, old, new, says in SPOILT
    }
    found |= {f"file: {name}": Attempt(study(text), plan, 2, says) for name, text, says in CONTENTS}
    for name, arrange, line, code, says in COMMANDS:
        words = ["" if word == "''" else word for word in line.split()]
        found[f"typed: {name}"] = Attempt(arrange, words, code, says)
    return found
