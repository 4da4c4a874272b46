"""The configuration: precedence, variables, databases, and what is said about every way of writing it wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sqlassay.errors import ConfigError, ExitCode
from sqlassay.records.case import Tolerance
from sqlassay.records.config import Config, DatabaseSettings
from sqlassay.records.json_schema import schema
from sqlassay.records.settings import Rule
from sqlassay.running.configure import from_mapping, load

FULL = """\
cases: [cases/, more.yaml]
database:
  films: sqlite:///films.db
  shop: {url: "postgresql://u:${SHOP_PASSWORD}@h/shop"}
  frozen: {snapshot: snap}
agent: {kind: http, url: "http://h/ask", headers: {Authorization: "Bearer ${AGENT_TOKEN}"}}
retriever: {kind: http, url: "http://h/retrieve"}
score: {tolerance: {abs: 0.01}, columns: by_name, ties: strict, exact_as: bird}
run: {jobs: 8, timeout_s: 60, repeats: 2}
limits: {timeout_s: 5}
gate: {require: ["execution.exact >= 0.9"], no_regressions: true, baseline: last}
runs: kept
limit: 10
tag: smoke
output: report.html
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "sqlassay.yaml"
    file.write_text(text)
    return file


def test_every_kind_of_key_is_read(tmp_path: Path) -> None:
    config = load(write(tmp_path, FULL), environment={"SHOP_PASSWORD": "pw"})
    assert config.cases == ("cases/", "more.yaml")
    assert config.databases == {
        "films": DatabaseSettings(url=f"sqlite:///{tmp_path}/films.db"),
        "shop": DatabaseSettings(url="postgresql://u:pw@h/shop"),
        "frozen": DatabaseSettings(snapshot=f"{tmp_path}/snap"),
    }
    assert config.agent is not None
    assert config.agent["headers"] == {"Authorization": "Bearer ${AGENT_TOKEN}"}
    assert config.score.tolerance == Tolerance(mode="plain", abs="0.01", rel="0")
    assert (config.score.columns, config.score.ties, config.score.exact_as) == ("by_name", "strict", (Rule.BIRD,))
    assert (config.run.jobs, config.run.timeout_s, config.run.repeats, config.limits.timeout_s) == (8, 60.0, 2, 5.0)
    assert isinstance(config.run.timeout_s, float)
    assert config.gate.require == ("execution.exact >= 0.9",)
    assert config.gate.no_regressions == "by_case"
    assert (config.runs, config.limit, config.tag) == (f"{tmp_path}/kept", "10", ("smoke",))
    assert config.output == (f"{tmp_path}/report.html",)
    assert config.base_dir == str(tmp_path)


def test_the_published_schema_takes_the_same_file() -> None:
    import yaml

    jsonschema.validate(yaml.safe_load(FULL), schema("config"))
    for wrong in ({"cases": "x", "jbos": 1}, {"run": {"jbos": 1}}, {"score": {"ties": "maybe"}}):
        assert not jsonschema.Draft202012Validator(schema("config")).is_valid(wrong)


def test_no_secret_shows(tmp_path: Path) -> None:
    text = FULL + "judge: {model: m, api_key: literal-secret}\n"
    config = load(
        write(tmp_path, text),
        environment={"SHOP_PASSWORD": "pw-secret"},
        overrides={"database": "films=mysql://root:cli-secret@h/films"},
    )
    assert config.databases["films"].url == "mysql://root:cli-secret@h/films"
    for shown in (repr(config), str(config.redacted())):
        for secret in ("pw-secret", "literal-secret", "cli-secret"):
            assert secret not in shown
    assert config.redacted()["database"]["shop"] == {"url": "postgresql://u:${SHOP_PASSWORD}@h/shop"}
    assert config.redacted()["database"]["films"] == "mysql://root:***@h/films"


@pytest.mark.parametrize(
    ("file", "environment", "overrides", "jobs"),
    [
        ("", {}, {}, 4),
        ("run: {jobs: 5}", {}, {}, 5),
        ("jobs: 5", {}, {}, 5),
        ("run: {jobs: 5}", {"SQLASSAY_JOBS": "6"}, {}, 6),
        ("run: {jobs: 5}", {"SQLASSAY_RUN_JOBS": "6"}, {}, 6),
        ("run: {jobs: 5}", {"SQLASSAY_JOBS": "6"}, {"jobs": 7}, 7),
        ("run: {jobs: 5}", {"SQLASSAY_JOBS": "6"}, {"run.jobs": 7}, 7),
        ("run: {jobs: 5}", {"SQLASSAY_JOBS": ""}, {"jobs": None}, 5),
    ],
)
def test_command_line_over_environment_over_file_over_default(
    tmp_path: Path, file: str, environment: Mapping[str, str], overrides: Mapping[str, Any], jobs: int
) -> None:
    assert load(write(tmp_path, file), environment=environment, overrides=overrides).run.jobs == jobs


def test_every_flag_has_a_variable(tmp_path: Path) -> None:
    environment = {
        "SQLASSAY_LIMIT": "3-4",
        "SQLASSAY_CASE_ID": "a, b",
        "SQLASSAY_TAG": "smoke",
        "SQLASSAY_CATEGORY": "x,y",
        "SQLASSAY_FAST": "yes",
        "SQLASSAY_REPEATS": "3",
        "SQLASSAY_TIMEOUT": "1.5",
        "SQLASSAY_NO_JUDGE": "1",
        "SQLASSAY_OUTPUT": "a.json,b.html",
        "SQLASSAY_JSON": "true",
        "SQLASSAY_GATE": "true",
        "SQLASSAY_RESUME": "on",
        "SQLASSAY_SCORE_EXACT_AS": "spider,bird",
        "SQLASSAY_GATE_REQUIRE": "execution.exact >= 0.9",
        "SQLASSAY_LIMITS_MAX_ROWS": "100",
        "SQLASSAY_SCORE_TOLERANCE": "exact",
    }
    config = load(write(tmp_path, "cases: x\ngate: {all_pass: true}\n"), environment=environment)
    assert (config.limit, config.case_id, config.tag, config.category) == ("3-4", ("a", "b"), ("smoke",), ("x", "y"))
    assert (config.run.fast, config.run.repeats, config.run.timeout_s, config.no_judge) == (True, 3, 1.5, True)
    assert [Path(name).name for name in config.output] == ["a.json", "b.html"]
    assert (config.json, config.gate.on_run, config.gate.all_pass, config.resume) == (True, True, True, True)
    assert config.score.exact_as == (Rule.SPIDER, Rule.BIRD)
    assert config.gate.require == ("execution.exact >= 0.9",)
    assert (config.limits.max_rows, config.score.tolerance.mode) == (100, "exact")
    assert config.notices == ()


def test_a_misspelt_variable_is_noticed_and_a_strange_one_left_alone(tmp_path: Path) -> None:
    config = load(write(tmp_path, ""), environment={"SQLASSAY_JOB": "1", "SQLASSAY_PUBLIC_DATA": "x", "OTHER": "y"})
    assert config.notices == ("the variable SQLASSAY_JOB sets nothing; did you mean SQLASSAY_JOBS?",)


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("case: x", ":1", "unknown key 'case'; did you mean 'cases'?", "known: cases"),
        ("run:\n  jbos: 3", ":2", "run.jbos: unknown field 'jbos'; did you mean 'jobs'?", "known: jobs"),
        ("run: {jobs: 0}", ":1", "run.jobs: should be at least 1, is 0", None),
        ("run: {jobs: many}", ":1", "run.jobs: should be a whole number, is 'many'", None),
        ("limits: {timeout_s: 0}", ":1", "limits.timeout_s: should be above 0", None),
        ("gate: {level: 2}", ":1", "gate.level: should be above 0 and at most 1, is 2", None),
        ("score: {pair_threshold: 1.5}", ":1", "score.pair_threshold: should be at least 0 and at most 1", None),
        ("score:\n  tolerance: gaurded", ":2", "did you mean 'guarded'?", "one of: guarded"),
        ("score: {exact_as: [brid]}", ":1", "score.exact_as[0]: 'brid' is not one of spider, bird", None),
        ("score: strict", ":1", "score: should be a mapping", None),
        ("jobs: 2\nrun: {jobs: 3}", ":1", "'jobs' and 'run.jobs' are the same key; keep one", None),
        ("database: a.db\ndatabases: {x: b.db}", ":2", "'databases' and 'database' are the same key", None),
        ("database: ${NOPE}", ":1", "database: the environment variable NOPE is not set", "export NOPE=..."),
        ("database: {url: '${a b}'}", ":1", "names no environment variable", "$${"),
        ("database: films", ":1", "database: is no database URL", "sqlite:///file.db"),
        ("database: {x: {url: a.db, snapshot: s}}", ":1", "database.x: takes either url or snapshot", None),
        ("database: {x: {ulr: a.db}}", ":1", "database.x.ulr: unknown field 'ulr'; did you mean 'url'?", None),
        ("database: [a.db]", ":1", "database: should be a URL or a mapping of names to URLs", None),
        ("agent: python", ":1", "agent: should be a mapping with a kind", None),
        ("limit: some", ":1", "limit: 'some' is neither a count nor a range", "11-20"),
        ("cases: {a: b}", ":1", "cases: should be a list", None),
        ("- cases", ":1", "should be a mapping of keys", None),
        ("run: {jobs: 1, jobs: 2}", ":1", "key 'jobs' stands twice", None),
        ("run: {jobs: 1", ":1", "not YAML", None),
    ],
)
def test_a_wrong_configuration_is_told_with_place_key_and_remedy(
    tmp_path: Path, text: str, place: str, message: str, hint: str | None
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(file, environment={})
    assert message in caught.value.message
    assert f"{file}{place}" in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE
    if hint is not None:
        assert caught.value.hint is not None
        assert hint in caught.value.hint


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, "case: x\nrun: {jbos: 1}\nlimit: some\n"), environment={})
    assert [line.partition(": ")[0][-2:] for line in caught.value.message.splitlines() if not line.startswith(" ")] == [
        ":1",
        ":2",
        ":3",
    ]


def test_a_wrong_flag_or_variable_is_named_itself(tmp_path: Path) -> None:
    file = write(tmp_path, "")
    with pytest.raises(ConfigError, match=r"^--jobs: run\.jobs: should be at least 1"):
        load(file, overrides={"jobs": 0}, environment={})
    with pytest.raises(ConfigError, match=r"^\$SQLASSAY_JOBS: run\.jobs: should be a whole number"):
        load(file, environment={"SQLASSAY_JOBS": "x"})
    with pytest.raises(ConfigError, match="unknown key 'jbos'; did you mean 'jobs'"):
        load(file, overrides={"jbos": 1}, environment={})


def test_variables_have_defaults_and_an_escape(tmp_path: Path) -> None:
    text = "database: {a: '${A:-sqlite:///a.db}', b: '${B}'}\nruns: $${literal}\njobs: ${N:-3}\n"
    config = load(write(tmp_path, text), environment={"B": "duckdb:///b.duckdb"})
    assert config.databases["a"].url == f"sqlite:///{tmp_path}/a.db"
    assert config.databases["b"].url == f"duckdb:///{tmp_path}/b.duckdb"
    assert config.runs == f"{tmp_path}/${{literal}}"
    assert config.run.jobs == 3


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("films.db", "sqlite:///{base}/films.db"),
        ("sub/../films.sqlite", "sqlite:///{base}/films.sqlite"),
        ("films.duckdb", "duckdb:///{base}/films.duckdb"),
        ("sqlite:////abs/films.db", "sqlite:////abs/films.db"),
        ("sqlite:///films.db?mode=ro", "sqlite:///{base}/films.db?mode=ro"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://h/films", "postgresql://h/films"),
    ],
)
def test_file_databases_lie_beside_the_configuration(tmp_path: Path, written: str, url: str) -> None:
    config = load(write(tmp_path, f"database: {written!r}"), environment={})
    assert config.databases["default"].url == url.format(base=tmp_path)


def test_a_database_of_the_command_line_replaces_and_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, "database: {films: a.db, shop: '${NOT_NEEDED}'}")
    config = load(file, overrides={"database": ["films=x.db", "shop=y.db"]}, environment={})
    assert [(name, each.url, each.overridden) for name, each in config.databases.items()] == [
        ("films", f"sqlite:///{tmp_path}/x.db", True),
        ("shop", f"sqlite:///{tmp_path}/y.db", True),
    ]
    with pytest.raises(ConfigError, match=r"several databases are configured \(films, shop\)"):
        load(file, overrides={"database": "x.db"}, environment={})
    with pytest.raises(ConfigError, match="unknown database 'flims'; did you mean 'films'"):
        load(file, overrides={"database": "flims=x.db"}, environment={})
    one = load(write(tmp_path, "database: {snapshot: snap}"), overrides={"database": "x.db"}, environment={})
    assert one.databases == {"default": DatabaseSettings(url=f"sqlite:///{tmp_path}/x.db", overridden=True)}


def test_paths_of_the_command_line_start_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    file = write(tmp_path / "sub", "cases: a.yaml\nruns: r\n")
    monkeypatch.chdir(tmp_path)
    config = load(file, overrides={"cases": ["b.yaml"], "output": ["o.json"]}, environment={})
    assert config.cases == (f"{tmp_path}/b.yaml",)
    assert config.output == (f"{tmp_path}/o.json",)
    assert config.runs == f"{tmp_path}/sub/r"


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load(environment={})
    assert (config.file, config.base_dir, config.run.jobs) == (None, str(tmp_path), Config().run.jobs)
    write(tmp_path, "jobs: 9")
    assert load(environment={}).run.jobs == 9
    with pytest.raises(ConfigError, match=r"no configuration file 'other\.yaml'"):
        load("other.yaml", environment={})


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({}, 30.0),
        ({"run": {"timeout_s": 60}}, 30.0),
        ({"run": {"timeout_s": 2}}, 2.0),
        ({"timeout": 2}, 2.0),
        ({"run": {"timeout_s": 2}, "limits": {"max_rows": 5}}, 2.0),
        ({"run": {"timeout_s": 2}, "limits": {"timeout_s": 45}}, 45.0),
    ],
)
def test_a_statement_takes_no_longer_than_a_turn_may_unless_its_own_limit_is_written(
    settings: dict[str, object], seconds: float
) -> None:
    assert from_mapping(settings, environment={}).limits.timeout_s == seconds


def test_a_program_can_hand_its_settings_over(tmp_path: Path) -> None:
    config = from_mapping({"database": "films.db", "gate": ["a >= 1"]}, base_dir=str(tmp_path), environment={})
    assert config.databases["default"].url == f"sqlite:///{tmp_path}/films.db"
    assert config.gate.require == ("a >= 1",)
    with pytest.raises(ConfigError, match="configuration: unknown key 'databse'; did you mean 'database'"):
        from_mapping({"databse": "x"}, environment={})


def test_the_documentation_tells_every_key_with_its_default_and_words() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    made = schema("config")
    assert {name for name in made["properties"] if f"`{name}`" not in page} == set()
    for definition in ("ScoreSettings", "RunSettings", "Limits", "GateSettings"):
        for name, key in made["$defs"][definition]["properties"].items():
            default = key.get("default")
            shown = "" if default in (None, []) else f"`{default if isinstance(default, str) else json.dumps(default)}`"
            assert f"| `{name}` | {shown} | {' '.join(key['description'].split())} |" in page
