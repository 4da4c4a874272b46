"""A run folder: whole lines, one writer, nothing torn, readable again."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path

import pytest

from sqlassay.archive.pack import PackReader, make_blob
from sqlassay.archive.results import STORED_ROWS, keep
from sqlassay.archive.run_folder import ROWS, RunFolder, create, raw_ref, reopen, runs_in
from sqlassay.errors import ArchiveError, DiskRefused, RecordError
from sqlassay.records.case import Case
from sqlassay.records.execution import Account, ErrorKind, NotRun, Rows, SqlError, TimedOut
from sqlassay.records.measurement import Measurement
from sqlassay.records.relation import Column, Kind, Relation, Schema, TableSchema
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.trial import Direct, Side, Trial
from sqlassay.records.turn import Turn
from sqlassay.records.value import Ratio
from sqlassay.records.wire import write_line


def a_manifest(run_id: str = "r1", started_at: str = "2026-01-01T00:00:00+00:00") -> Manifest:
    return Manifest(run_id=run_id, state=RunState.STARTED, signature="s", started_at=started_at)


def a_score(case_id: str) -> bytes:
    measured = Measurement(case_id=case_id, metrics={"outcome.pass": Ratio(hits=1, total=1)})
    return write_line(measured).encode()


def rows(*values: tuple[object, ...], truncated: bool = False) -> Rows:
    relation = Relation(
        columns=(Column(name="n", kind=Kind.DECIMAL), Column(name="n")), rows=list(values), truncated=truncated
    )
    return Rows(relation=relation, duration_s=0.25, account=Account(tables=("t",), origins=("t.n", None)))


def a_trial(case_id: str) -> Trial:
    return Trial(
        case=Case(id=case_id, question="?", gold_sql=("SELECT 1", "SELECT 2", "x")),
        turn=Turn(case_id=case_id, candidate_sql="SELECT 1"),
        golds=(
            Side(sql="SELECT 1", execution=rows((Decimal("1.50"), None)), auxiliary=rows((1, 2))),
            Side(sql="SELECT 2", execution=TimedOut(limit_s=2.0, killed=True)),
            Side(sql="x", execution=SqlError(kind=ErrorKind.SYNTAX, message="near x")),
        ),
        candidate=Side(sql=None, execution=NotRun()),
        direct=Direct(examples=("a",)),
        hidden_ids=("h",),
    )


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    case = Case(id="a", question="wie viele €?", gold_sql=("SELECT 1",))
    schema = Schema(dialect="sqlite", tables=(TableSchema(name="t", columns=("n",)),), fingerprint="f")
    raw = make_blob(b'{"sql": "SELECT 1"}')
    turn = Turn(case_id="a", question="wie viele €?", candidate_sql="SELECT '\ud800'", raw_ref=raw_ref(raw))
    key = TrialKey(case_id="a")
    with create(tmp_path, a_manifest()) as writer:
        writer.write_cases([case])
        writer.write_schemas({"db": schema})
        writer.mark_asked(key)
        writer.add_turn(turn, raw=raw).result()
        writer.add_score(a_score("a"), keep(a_trial("a"), key=key, database="db")).result()
        assert list(RunFolder(writer.path).turns()) == [turn], "a run can be read while it is written"
        writer.finish(RunState.COMPLETE, ended_at="2026-01-01T00:01:00+00:00")
    folder = RunFolder(tmp_path / "r1")
    assert folder.manifest.state is RunState.COMPLETE
    assert list(folder.cases()) == [case]
    assert folder.schemas() == {"db": schema}
    assert list(folder.turns()) == [turn]
    assert folder.raw(turn) == b'{"sql": "SELECT 1"}'
    assert [score.case_id for score in folder.scores()] == ["a"]
    assert folder.asked() == folder.turned() == folder.scored() == {key}


def test_both_sides_come_back_with_their_types(tmp_path: Path) -> None:
    key = TrialKey(case_id="a", phrasing=1, repeat=2)
    with create(tmp_path, a_manifest()) as writer:
        writer.add_score(a_score("a"), keep(a_trial("a"), key=key, database="db")).result()
    sides = RunFolder(tmp_path / "r1").sides_of(key)
    assert sides is not None
    trial = a_trial("a")
    assert sides.key == key
    assert sides.direct == trial.direct
    assert sides.hidden_ids == ("h",)
    assert sides.capped == ()
    assert [type(side.execution) for side in sides.golds] == [Rows, TimedOut, SqlError]
    first, auxiliary = sides.golds[0].execution, sides.golds[0].auxiliary
    assert isinstance(first, Rows)
    assert isinstance(auxiliary, Rows)
    assert first.relation.rows == [(Decimal("1.50"), None)]
    assert first.relation.columns == (Column(name="n", kind=Kind.DECIMAL), Column(name="n"))
    assert first.account == Account(tables=("t",), origins=("t.n", None))
    assert auxiliary.relation.rows == [(1, 2)]
    assert sides.golds[1].execution == TimedOut(limit_s=2.0, killed=True)
    assert sides.candidate == Side(sql=None)


def test_equal_results_are_stored_once(tmp_path: Path) -> None:
    with create(tmp_path, a_manifest()) as writer:
        for number in range(5):
            kept = keep(a_trial(str(number)), key=TrialKey(case_id=str(number)), database="db")
            writer.add_score(a_score(str(number)), kept).result()
    index = (tmp_path / "r1" / f"{ROWS}.index").read_text().splitlines()
    assert len(index) == 2


def test_a_result_above_the_limit_is_kept_in_part_and_says_so(tmp_path: Path) -> None:
    big = Rows(relation=Relation(columns=(Column(name="n"),), rows=[(i,) for i in range(STORED_ROWS + 7)]))
    trial = Trial(case=Case(id="a", question="?"), turn=Turn(), candidate=Side(sql="q", execution=big))
    key = TrialKey(case_id="a")
    with create(tmp_path, a_manifest()) as writer:
        writer.add_score(a_score("a"), keep(trial, key=key, database="db")).result()
    sides = RunFolder(tmp_path / "r1").sides_of(key)
    assert sides is not None
    assert sides.capped == ("candidate",)
    assert isinstance(sides.candidate.execution, Rows)
    assert sides.candidate.execution.relation.height == STORED_ROWS


@pytest.mark.parametrize("name", ["turns.jsonl", "scores.jsonl", "results/sides.jsonl", f"{ROWS}.index"])
@pytest.mark.parametrize("torn", [b'{"case_id": "b"', b"\x00\xff", b"x" * 100_000])
def test_a_torn_last_line_is_dropped_and_the_next_line_is_whole(tmp_path: Path, name: str, torn: bytes) -> None:
    with create(tmp_path, a_manifest()) as writer:
        writer.add_turn(Turn(case_id="a")).result()
        writer.add_score(a_score("a"), keep(a_trial("a"), key=TrialKey(case_id="a"), database="db")).result()
    with (tmp_path / "r1" / name).open("ab") as file:
        file.write(torn)
    before = RunFolder(tmp_path / "r1")
    assert before.turned() == before.scored() == {TrialKey(case_id="a")}
    with reopen(tmp_path / "r1") as writer:
        writer.add_turn(Turn(case_id="b")).result()
        writer.add_score(a_score("b"), keep(a_trial("b"), key=TrialKey(case_id="b"), database="db")).result()
    after = RunFolder(tmp_path / "r1")
    assert after.turned() == after.scored() == {TrialKey(case_id="a"), TrialKey(case_id="b")}
    assert len(list(after.sides())) == 2


def test_garbage_at_the_end_of_a_pack_is_skipped(tmp_path: Path) -> None:
    with create(tmp_path, a_manifest()) as writer:
        writer.add_turn(Turn(case_id="a"), raw=make_blob(b"one")).result()
    with (tmp_path / "r1" / "raw" / "payloads.gz").open("ab") as file:
        file.write(b"half a member")
    second = make_blob(b"two")
    with reopen(tmp_path / "r1") as writer:
        writer.add_turn(Turn(case_id="b"), raw=second).result()
    assert PackReader(tmp_path / "r1", "raw/payloads").read(second.digest) == b"two"


def test_a_damaged_payload_is_an_error_not_a_wrong_answer(tmp_path: Path) -> None:
    blob = make_blob(b"one" * 100)
    with create(tmp_path, a_manifest()) as writer:
        writer.add_turn(Turn(case_id="a"), raw=blob).result()
    pack = tmp_path / "r1" / "raw" / "payloads.gz"
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(bytes(data))
    with pytest.raises(RecordError):
        PackReader(tmp_path / "r1", "raw/payloads").read(blob.digest)


def test_one_writer_at_a_time_across_processes(tmp_path: Path) -> None:
    with create(tmp_path, a_manifest()) as writer:
        code = (
            "import sys; from sqlassay.archive.run_folder import reopen; from sqlassay.errors import ArchiveError\n"
            "try: reopen(sys.argv[1])\nexcept ArchiveError as error: print(error.message); sys.exit(9)"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(writer.path)], capture_output=True, text=True, check=False
        )
        assert other.returncode == 9, other.stderr
        assert str(os.getpid()) in other.stdout
    reopen(tmp_path / "r1").close()


def test_a_name_is_used_once_and_is_a_name(tmp_path: Path) -> None:
    create(tmp_path, a_manifest()).close()
    with pytest.raises(ArchiveError, match="exists"):
        create(tmp_path, a_manifest())
    for name in ("", "../x", "a/b", ".hidden", "x" * 200):
        with pytest.raises(ArchiveError, match="no name"):
            create(tmp_path, a_manifest(name))


def test_a_place_that_cannot_hold_a_run(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(ArchiveError, match="cannot be made"):
        create(tmp_path / "runs", a_manifest())
    with pytest.raises(ArchiveError, match="no run there"):
        RunFolder(tmp_path)


def test_a_full_disk_fails_clearly_and_tears_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    left = [10_000]

    def filling(fd: int, data: bytes | memoryview) -> int:
        part = memoryview(data)[: max(0, left[0])]
        if not part:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= len(part)
        return write(fd, part)

    monkeypatch.setattr("sqlassay.archive.journal.os.write", filling)
    with create(tmp_path, a_manifest()) as writer:
        kept = []
        for number in range(100):
            future = writer.add_turn(Turn(case_id=str(number), answer="x" * 500))
            if future.exception() is None:
                kept.append(str(number))
                continue
            assert isinstance(future.exception(), ArchiveError)
            assert "No space left" in str(future.exception())
            break
        assert 0 < len(kept) < 100
        left[0] = 10**9
        assert isinstance(writer.add_turn(Turn(case_id="later")).exception(), ArchiveError)
        assert writer.failure is not None
    text = (tmp_path / "r1" / "turns.jsonl").read_bytes()
    assert text.endswith(b"\n")
    assert [turn.case_id for turn in RunFolder(tmp_path / "r1").turns()] == kept


def test_what_was_asked_is_on_record_before_a_slow_disk_has_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs, slow = threading.Event(), threading.Event()

    def sync(_fd: int) -> None:
        syncs.set()
        assert slow.wait(30)

    monkeypatch.setattr(os, "fdatasync", sync, raising=False)
    with create(tmp_path, a_manifest()) as writer:
        turn = writer.add_turn(Turn(case_id="a"))
        assert syncs.wait(30)
        writer.mark_asked(TrialKey(case_id="b"))
        assert RunFolder(writer.path).asked() == {TrialKey(case_id="b")}
        assert not turn.done()
        slow.set()
        turn.result()


def test_a_disk_that_refuses_to_note_a_question_stops_the_run(tmp_path: Path) -> None:
    with create(tmp_path, a_manifest()) as writer:
        (writer.path / "asked.jsonl").mkdir()
        writer.mark_asked(TrialKey(case_id="a"))
        assert writer.failure is not None
        with pytest.raises(DiskRefused):
            writer.add_turn(Turn(case_id="a")).result()


def test_runs_are_listed_oldest_first(tmp_path: Path) -> None:
    create(tmp_path, a_manifest("b", "2026-01-01T00:00:00+00:00")).close()
    create(tmp_path, a_manifest("a", "2026-01-02T00:00:00+00:00")).close()
    assert [run.manifest.run_id for run in runs_in(tmp_path)] == ["b", "a"]


def test_scores_are_replaced_at_once(tmp_path: Path) -> None:
    with create(tmp_path, a_manifest()) as writer:
        writer.add_score(a_score("a"), None).result()
        writer.replace_scores([a_score("b")])
        writer.add_score(a_score("c"), None).result()
    assert [score.case_id for score in RunFolder(tmp_path / "r1").scores()] == ["b", "c"]
