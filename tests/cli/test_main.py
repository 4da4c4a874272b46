"""The catch site: messages on stderr, the exit codes of the specification, suggestions for misspelt words."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from sqlassay.cli.main import main, run_command


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom sqlassay.cli.main import run_command\nassert run_command(['--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'sqlglot', 'pydantic', 'apsw', 'duckdb', 'pyarrow', 'httpx', 'jinja2', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_fault_of_ours_is_never_taken_for_a_gate_that_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_arguments: object) -> int:
        raise ZeroDivisionError("a slip")

    monkeypatch.setattr(sys.modules["sqlassay.cli.main"], "run_command", broken)
    with pytest.raises(SystemExit) as ended:
        main(["list"])
    assert ended.value.code == 3
    said = capsys.readouterr().err
    assert "ZeroDivisionError: a slip" in said
    assert "fault of sqlassay" in said


@pytest.mark.parametrize("arguments", [["schema", "config"], ["--help"], ["list", "--runs", "nowhere"]])
def test_output_that_nobody_reads_is_never_taken_for_a_gate_that_failed(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "sqlassay", *arguments]
    with os.fdopen(writing, "wb") as unread:
        done = subprocess.run(command, stdout=unread, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "")


def test_a_misspelt_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["shcema", "case"]) == 2
    assert "Did you mean 'schema'?" in capsys.readouterr().err


def test_a_misspelt_flag_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["init", "--databse", "x.db"]) == 2
    message = capsys.readouterr().err
    assert "--databse" in message
    assert "--database" in message


def test_a_format_without_a_schema_is_named_with_those_that_have_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["schema", "cse"]) == 2
    said = capsys.readouterr().err
    assert "'case'" in said
    assert "Value error" not in said


@pytest.mark.parametrize("name", ["case", "turn", "score", "summary", "manifest", "config"])
def test_a_schema_refers_to_no_document_that_a_user_cannot_open(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["schema", name]) == 0
    said = capsys.readouterr().out
    assert json.loads(said)["title"] == name
    assert "specification" not in said


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from sqlassay import __version__

    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out == f"sqlassay {__version__}\n"
