"""The verbs of the library: run a configuration, open a run, read a payload, score two queries, compare two tables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlassay.archive.run_folder import RunFolder
from sqlassay.records.measurement import Measurement
from sqlassay.records.run import Manifest
from sqlassay.records.turn import Turn
from sqlassay.report.model import Report
from sqlassay.report.stored import find_run, report_of, summary_of
from sqlassay.running.configure import load
from sqlassay.running.fixtures import snapshots_copied
from sqlassay.running.run import Listener, RunResult
from sqlassay.running.run import run as carry_out
from sqlassay.summary.model import Summary

if TYPE_CHECKING:
    import pandas as pd

    from sqlassay.records.config import Config


@dataclass(frozen=True)
class Run:
    """A run on disk. Everything is read from its folder, so a run opened a year later says the same.

    `result` is how it ended, for a run that this process carried out; None for one that was opened.
    """

    folder: RunFolder
    result: RunResult | None = None

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def manifest(self) -> Manifest:
        return self.folder.manifest

    @cached_property
    def scores(self) -> list[Measurement]:
        """One per case, wording and repeat, in the order of case id, wording, repeat."""
        return sorted(self.folder.scores(), key=lambda score: (score.case_id, score.phrasing, score.repeat))

    @cached_property
    def turns(self) -> list[Turn]:
        """What the agent did, in the same order."""
        return sorted(self.folder.turns(), key=lambda turn: (turn.case_id, turn.phrasing, turn.repeat))

    @cached_property
    def summary(self) -> Summary:
        """The run in numbers (`summary.json`)."""
        return summary_of(self.folder)

    @cached_property
    def report(self) -> Report:
        """What every rendering reads."""
        return report_of(self.folder, self.summary)

    def to_frame(self) -> pd.DataFrame:
        """One row per case, wording and repeat: ids, bucket, shape, and every metric's value as a column.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from sqlassay.errors import MissingExtra
        from sqlassay.report.machine import rows

        try:
            import pandas
        except ImportError as error:
            raise MissingExtra("to_frame", needs="pandas") from error
        return pandas.DataFrame(list(rows(self.report)))

    def write_summary(self) -> Path:
        """Write `summary.json` into the run's folder."""
        path = self.path / "summary.json"
        text = json.dumps(self.summary.to_dict(), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
        return path


def run(
    config: str | os.PathLike[str] | Mapping[str, Any] | Config | None = None,
    *,
    run_id: str | None = None,
    resume: str | bool | None = None,
    on_event: Listener | None = None,
    **overrides: Any,
) -> Run:
    """Carry out a configuration: a file, a mapping with the same keys, or what `configure.load` returned.

    `overrides` are the command line's flags by name (`limit="10"`, `tag=["smoke"]`, `jobs=2`).

    Raises:
        ConfigError, DatasetError, NoCasesError: nothing was asked.
        DatabaseUnavailable, ArchiveError: a database or the run folder cannot be used.
    """
    from sqlassay.records.config import Config
    from sqlassay.running.configure import from_mapping

    if isinstance(config, Config):
        settings = config
    elif isinstance(config, Mapping):
        settings = from_mapping({**config, **overrides})
    else:
        settings = load(config, overrides=overrides)
    with snapshots_copied(settings) as ready:
        result = carry_out(ready, run_id=run_id, resume=resume, on_event=on_event)
    done = Run(RunFolder(result.path), result)
    done.write_summary()
    return done


def open_run(name: str | os.PathLike[str], *, runs: str | os.PathLike[str] = "runs") -> Run:
    """Open a run by its folder, its id within `runs`, an unambiguous beginning of that id, or `latest`.

    Raises:
        ArchiveError: there is no such run.
    """
    return Run(find_run(os.fspath(name), Path(runs)))


def read(adapter: str, payload: Any, *, settings: Mapping[str, Any] | None = None) -> Turn:
    """Build the turn record from a saved payload or trace (specification section 3).

    `adapter` is one of the names of section 10; `settings` the tool names and mappings that you have renamed.

    Raises:
        ConfigError: there is no such adapter.
        ExtractionError: the payload is not of this adapter's kind.

    >>> messages = [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "Of what?"}]
    >>> read("openai", messages).answer
    'Of what?'
    """
    from sqlassay.agents.registry import reader

    return reader(adapter, settings or {}).read(payload)
