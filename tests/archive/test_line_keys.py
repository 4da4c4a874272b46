"""The key of a line and the readings in it come out the same by the short way and by the careful one."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sqlassay.archive.run_folder import RunFolder, create
from sqlassay.records.measurement import Measurement
from sqlassay.records.run import Manifest, RunState, TrialKey
from sqlassay.records.value import Quantity, Ratio, Reading, Reason, Undefined
from sqlassay.records.wire import read_line, read_measurement, write_line

READINGS: st.SearchStrategy[Reading] = st.one_of(
    st.tuples(st.integers(0, 9), st.integers(9, 12)).map(lambda two: Ratio(hits=two[0], total=two[1])),
    st.floats(0, 1).map(lambda hits: Ratio(hits=hits, total=1.0)),
    st.sampled_from(Reason).map(lambda reason: Undefined(reason=reason)),
    st.floats(0, 1e9).map(lambda value: Quantity(value=value, unit="s")),
)


@given(st.text(), st.integers(0, 20), st.integers(0, 20), st.dictionaries(st.sampled_from("abc"), READINGS))
def test_a_score_line_comes_back_whole(case_id: str, phrasing: int, repeat: int, metrics: dict[str, Reading]) -> None:
    made = Measurement(case_id=case_id, phrasing=phrasing, repeat=repeat, metrics=metrics)
    line = write_line(made)
    read = read_measurement(read_line(line))
    assert read == made
    assert write_line(read) == line, "1 stays 1 and 1.0 stays 1.0"


def test_keys_are_read_however_a_line_is_spelled(tmp_path: Path) -> None:
    ids = ["plain", 'quo"te', "back\\slash", "ünïcode", "", '","repeat":7,"x":"', "tab\t"]
    with create(tmp_path, Manifest(run_id="r", state=RunState.COMPLETE, signature="")) as writer:
        for number, case_id in enumerate(ids):
            spelled = json.dumps(
                {"case_id": case_id, "phrasing": number, "repeat": 2, "metrics": {}},
                ensure_ascii=number % 2 == 0,
                separators=(",", ":") if number % 3 else (", ", ": "),
            )
            writer.add_score(spelled.encode(), None).result()
        writer.add_score(b'{"repeat": 1, "case_id": "turned round"}', None).result()
        writer.add_score(b'{"case_id": "short"}', None).result()
    expected = {TrialKey(case_id=case_id, phrasing=number, repeat=2) for number, case_id in enumerate(ids)}
    found = RunFolder(tmp_path / "r").scored()
    assert found == expected | {TrialKey(case_id="turned round", repeat=1), TrialKey(case_id="short")}
