"""Secrets in every shape: no file of a result, no export, no message and no JSON holds one."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import put_into_worlds
from hostile import Shown, dunnage
from tried import changed

from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.world import Call, World
from dunnage.secrets.names import MASK
from dunnage.store.read import Result, open_result

MARK = "GEHEIM"
"""Every secret begins with it."""
SETTINGS = f"""\
  {{kind: fake, topology: single, version: "1.0", settings: {{
    requirepass: {MARK}-1, token: "{MARK}-2", AWS_SECRET_ACCESS_KEY: {MARK}-3,
    source: "redis://user:{MARK}-4@host:6379/0", hz: 20,
    options: "-Xmx1G -Djavax.net.ssl.keyStorePassword={MARK}-5",
    include: "requirepass {MARK}-6", encryption: "{{keystore_password: {MARK}-7, algorithm: x}}"}}}}
# masterauth: {MARK}-8, as it was
# keystore_password: |
#   {MARK}-9
# before that it was {MARK}-1
"""
STUDY = changed(
    ("name: tried", f"name: tried  # token: {MARK}-10"),
    ("hosts: {db: 3,", "hosts: {db: 1,"),
    (
        ' {kind: fake, topology: sharded, members: 3, version: "1.0"}\n',
        f"\n{SETTINGS}",
    ),
    ("blocks: 6", "blocks: 1"),
)
FILES = {
    "/etc/redis.conf": f"port 6379\nrequirepass {MARK}-11\n# masterauth {MARK}-12\nhz 20\n"
    f"user default on >{MARK}-13 ~* +@all\n",
    "/etc/cassandra.yaml": f"keystore: x\nkeystore_password: {MARK}-14\nserver_encryption_options:"
    f' {{"truststore_password": "{MARK}-15", "port": 7001}}\ncredentials: {MARK}-16\n',
    "/etc/jvm.options": f"-Xmx1G\n-Djavax.net.ssl.trustStorePassword={MARK}-17\n",
    "/etc/key.conf": f"-----BEGIN PRIVATE KEY-----\n{MARK}-18\n-----END PRIVATE KEY-----\n",
}
ARGUMENTS = ("--requirepass", f"{MARK}-19", f"--masterauth={MARK}-20 x", f"API_TOKEN={MARK}-21")
VARIABLES = {"GITHUB_TOKEN": f"{MARK}-22", "OPTIONS": f"-Dpassword={MARK}-23 -Xmx1G", "LANG": "C"}
SAID = (
    f"cannot log in to redis://user:{MARK}-24@host: AWS_SECRET_ACCESS_KEY={MARK}-25\n"
    f"  requirepass {MARK}-26\n  'password': '{MARK}-27'\n  --auth-token {MARK}-28 was refused"
)


def telling(world: World) -> None:
    """Servers have configurations and variables with secrets, and the first load quotes some."""
    engine, load = world.programs["dunnage-engine"], world.programs["fake-load"]
    failed: list[Call] = []

    def inspect(call: Call) -> Task:
        if call.argv[1:2] != ("inspect",):
            return engine(call)

        def say(text: str) -> None:
            told = json.loads(text)
            told["files"] |= FILES
            told["argv"] += ARGUMENTS
            told["environment"] |= VARIABLES
            call.streams.say(json.dumps(told) + "\n")

        streams = dataclasses.replace(call.streams, say=say)
        return engine(dataclasses.replace(call, streams=streams))

    def quote(call: Call) -> Task:
        if "/runs/" in call.option("--plan") and not failed:
            failed.append(call)
            return call.fail(SAID, 3)
        return load(call)

    world.programs["dunnage-engine"], world.programs["fake-load"] = inspect, quote


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Result, list[Shown]]]:
    """The result of a study with secrets, and all that every verb said of it."""
    place = tmp_path_factory.mktemp("secrets")
    (place / "study.yaml").write_text(STUDY)
    results = place / "results"
    with pytest.MonkeyPatch.context() as patch:
        put_into_worlds(telling, patch)
        every = [dunnage("run", place / "study.yaml", "--results", results)]
    assert every[0].code in (0, 5), every[0].err
    study = place / "study.yaml"
    verbs: tuple[tuple[object, ...], ...] = (
        ("plan", study, "--runs"),
        ("status", results),
        ("report", results, "--details"),
        ("verify", results),
        ("export", results, "--to", place / "out"),
        ("run", "--resume", results),
    )
    for verb in verbs:
        every += [dunnage(*verb), dunnage(*verb, "--format", "json")]
    study.unlink()
    yield open_result(results), every


def test_no_file_of_the_result_or_of_an_export_holds_a_secret(
    told: tuple[Result, list[Shown]],
) -> None:
    place = told[0].layout.root.parents[2]
    files = [path for path in place.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"study.yaml", "plan.json", "stay.json", "record.json", "journal.jsonl"} <= names
    assert {"index.html", "analysis.json", "runs.parquet"} <= names
    holding = [path for path in files if MARK.encode() in path.read_bytes()]
    assert holding == []


def test_no_verb_says_a_secret(told: tuple[Result, list[Shown]]) -> None:
    for shown in told[1]:
        assert MARK not in shown.out + shown.err
    assert MASK in told[1][0].err


def test_what_is_no_secret_stays_readable(told: tuple[Result, list[Shown]]) -> None:
    result, _ = told
    text = result.study_text
    for kept in ("hz: 20", "-Xmx1G", "redis://user:", "algorithm: x", "before that it was"):
        assert kept in text
    stay = result.stays[0]
    assert stay.facts["hz"] == 20
    (process,) = stay.processes
    assert process.environment["LANG"] == "C"
    assert process.environment["OPTIONS"] == f"-Dpassword={MASK} -Xmx1G"
    lines = process.files["/etc/redis.conf"].splitlines()
    assert lines == [
        "port 6379",
        f"requirepass {MASK}",
        f"# masterauth {MASK}",
        "hz 20",
        f"user default on >{MASK} ~* +@all",
    ]
    (why,) = {event["why"] for event in result.events() if event["event"] == "run failed"}
    assert "cannot log in to redis://user:" in why
    assert "was refused" in why


def test_a_study_with_a_secret_in_a_comment_alone_can_be_resumed(tmp_path: Path) -> None:
    text = changed(("blocks: 6", f"blocks: 1  # requirepass: {MARK}"))
    (tmp_path / "study.yaml").write_text(text)
    shown = dunnage("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    assert shown.code == 0
    assert "cannot be resumed" not in shown.err
    result = open_result(tmp_path / "results")
    assert MASK in result.study_text
    assert MARK not in result.study_text
    next(result.layout.runs.glob("*/record.json")).unlink()
    assert dunnage("run", "--resume", tmp_path / "results").code == 0


WRONG = (
    ("settings: {requirepass: [GEHEIM]}", "`requirepass` must be"),
    ("settings: {password: 99999999999999999991234567}", "`•••` is too large a number"),
    ("settings: {token: !GEHEIM x}", "the tag `•••` is not allowed"),
    ("settings: {requirepass: *GEHEIM}", "found undefined alias"),
    ('settings: {token: "GEHEIM\\n1"}', "setting `token` is not one line of text: `•••`"),
    ('settings: {url: "redis://:GEHEIM@x\\n"}', "not one line of text: `redis://:•••@x"),
    ('settings: {"requirepass ": GEHEIM}', "`requirepass` is not the name of a setting"),
    ("settings: requirepass GEHEIM", "`settings` must be a mapping, not `requirepass •••`"),
    ("topology: 'API_KEY=GEHEIM'", "has no topology `API_KEY=•••`"),
    ("topology: 'https://GEHEIM@host/x'", "has no topology `https://•••@host/x`"),
)
"""What stands among the keys of a database, and what must be said of it."""


@pytest.mark.parametrize(("key", "says"), WRONG)
@pytest.mark.parametrize("words", [(), ("--format", "json")], ids=["text", "json"])
def test_an_error_about_a_secret_does_not_quote_it(
    key: str, says: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    database = f'database:\n  kind: fake\n  version: "1.0"\n  {key}\n'
    whole = 'database: {kind: fake, topology: sharded, members: 3, version: "1.0"}\n'
    (tmp_path / "study.yaml").write_text(changed((whole, database)))
    for verb in ("plan", "run"):
        shown = dunnage(verb, tmp_path / "study.yaml", *words)
        assert shown.code == 2
        assert "GEHEIM" not in shown.out + shown.err
        assert "1234567" not in shown.out + shown.err
        assert says in shown.err


def test_a_bug_is_told_without_what_the_user_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"password={MARK}")

    (tmp_path / "study.yaml").write_text(changed())
    monkeypatch.setattr("dunnage.cli.plan.foreseen", broken)
    shown = dunnage("plan", tmp_path / "study.yaml")
    assert shown.code == 1
    assert "this is a bug in Dunnage" in shown.err
    assert MARK not in shown.err


def test_nothing_advises_what_a_masked_secret_forbids(told: tuple[Result, list[Shown]]) -> None:
    """Neither to go on with the result, nor to measure its copy of the study."""
    result, every = told
    for shown in every:
        said = shown.out + shown.err
        assert "--blocks" not in said
        assert "dunnage run --resume" not in said
        assert f"dunnage run {result.layout.study}" not in said


def test_lost_runs_of_a_result_that_masks_a_secret_are_measured_in_a_new_one(
    told: tuple[Result, list[Shown]], tmp_path: Path
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(told[0].layout.root, root)
    shutil.rmtree(next((root / "runs").iterdir()))
    for verb in ("report", "status", "verify"):
        shown = dunnage(verb, root)
        said = shown.out + shown.err
        assert "again first" not in said
        assert "--resume" not in said
    assert "in a new result: dunnage run STUDY" in said


@pytest.mark.parametrize("words", [(), ("--scale", "50%"), ("--only", "plain")])
def test_a_study_with_a_mask_in_the_place_of_a_secret_is_not_measured(
    told: tuple[Result, list[Shown]], words: tuple[str, ...], tmp_path: Path
) -> None:
    copy = tmp_path / "study.yaml"
    copy.write_text(told[0].study_text)
    shown = dunnage("run", copy, *words, "--results", tmp_path / "results")
    assert shown.code == 2
    assert f"{copy}, line" in shown.err
    assert "a secret is masked here" in shown.err
    assert "try: dunnage run STUDY" in shown.err
    assert "the file that holds the secret" in shown.err
    assert not (tmp_path / "results").exists()


def test_a_study_with_a_secret_that_is_interrupted_names_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "study.yaml").write_text(STUDY)
    monkeypatch.setattr("dunnage.cli.shared.carrying_out.carry_out", interrupted)
    shown = dunnage("run", tmp_path / "study.yaml", "--results", tmp_path / "results")
    assert shown.code == 130
    assert "--resume" not in shown.err
    assert f"try: dunnage run {tmp_path}/study.yaml" in shown.err


def test_a_study_in_a_directory_that_is_called_study_is_resumed_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "STUDY").mkdir()
    (tmp_path / "STUDY" / "study.yaml").write_text(changed())
    monkeypatch.setattr("dunnage.runner.blocks.carry_out_run", interrupted)
    words = ("run", tmp_path / "STUDY" / "study.yaml", "--results", tmp_path / "STUDY")
    assert f"try: dunnage run --resume {tmp_path}/STUDY/tried/" in dunnage(*words).err


@pytest.mark.parametrize("second", ["GEHEIM-1", "GEHEIM-2"])
def test_results_with_secrets_are_not_called_equal_in_them(second: str, tmp_path: Path) -> None:
    results = []
    for number, secret in enumerate(("GEHEIM-1", second)):
        text = changed(
            ('version: "1.0"}', f'version: "1.0", settings: {{requirepass: {secret}}}}}')
        )
        (tmp_path / "study.yaml").write_text(text)
        place = tmp_path / f"results-{number}"
        assert dunnage("run", tmp_path / "study.yaml", "--results", place).code in (0, 5)
        results.append(open_result(place).layout.root)
    shown = dunnage("compare", *results)
    said = " ".join(shown.out.split())
    assert "whether these secrets are the same" in said
    assert "requirepass" in said
    document = json.loads(dunnage("compare", *results, "--format", "json").out)
    assert "database.settings.requirepass" in document["masked"]


def test_a_secret_of_one_deployment_is_not_called_that_of_another(tmp_path: Path) -> None:
    own = "{platform: fake, network: late, database: {settings: {requirepass: GEHEIM}}}"
    text = changed(("{platform: fake, network: late}", own), ("blocks: 6", "blocks: 1"))
    (tmp_path / "study.yaml").write_text(text)
    assert dunnage("run", tmp_path / "study.yaml", "--results", tmp_path / "results").code in (0, 5)
    shown = dunnage("report", tmp_path / "results", "--details")
    said = " ".join(shown.out.split())
    assert "whether `database.settings.requirepass` of late is that of other deployments" in said
    assert "GEHEIM" not in said
    page = (open_result(tmp_path / "results").layout.report / "index.html").read_text()
    assert "that of other deployments" in page
