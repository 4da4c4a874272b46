"""The line of one trial is found again without reading the others, whatever became of the file since."""

from __future__ import annotations

from pathlib import Path

from sqlassay.archive.lines import TrialLines
from sqlassay.archive.run_folder import SCORES, RunFolder, create
from sqlassay.records.measurement import Measurement
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.wire import write_line

A, B, C = (TrialKey(case_id=name) for name in "abc")


def line(name: str, cause: str = "") -> bytes:
    return write_line(Measurement(case_id=name, cause=cause)).encode() + b"\n"


def lines(tmp_path: Path, *written: bytes) -> TrialLines:
    with create(tmp_path, Manifest(run_id="r", state=RunState.COMPLETE, signature="")):
        (tmp_path / "r" / SCORES).write_bytes(b"".join(written))
    return RunFolder(tmp_path / "r").score_lines()


def test_each_line_is_found_after_one_pass(tmp_path: Path) -> None:
    found = lines(tmp_path, line("a"), b"\n", line("b"), b'{"case_id": "torn')
    assert [key for key, _ in found] == [A, B]
    assert [found.of(A), found.of(B), found.of(C)] == [line("a"), line("b"), None]


def test_a_line_is_found_without_a_pass_before(tmp_path: Path) -> None:
    assert lines(tmp_path, line("a"), line("b")).of(B) == line("b")


def test_the_newest_line_of_a_trial_counts(tmp_path: Path) -> None:
    found = lines(tmp_path, line("a", "old"), line("b"), line("a", "new"))
    assert len(list(found)) == 3
    assert found.of(A) == line("a", "new")


def test_a_file_that_grew_or_was_written_anew_is_read_again(tmp_path: Path) -> None:
    found = lines(tmp_path, line("a"))
    assert found.of(B) is None
    with found.path.open("ab") as file:
        file.write(line("b"))
    assert found.of(B) == line("b")
    found.path.write_bytes(line("b", "a longer one than before") + line("a", "moved"))
    assert found.of(A) == line("a", "moved")
    found.path.unlink()
    assert found.of(A) is None
    assert list(found) == []
