"""Does the agent's `map` point at nothing? Told of the run as a whole, for one answer may well lack a field."""

from __future__ import annotations

from collections import Counter

from sqlassay.records.case import Status
from sqlassay.records.turn import Turn

_NOTHING = ": nothing at "


class Unmapped:
    """Counts the mapped fields that answers lack.

    Only answers that claim success count: a refusal has no SQL by right.

    >>> seen = Unmapped()
    >>> seen.look(Turn(status=Status.SUCCESS, gaps=("candidate_sql: nothing at 'reslt.sql'",)))
    >>> seen.look(Turn(status=Status.UNSUPPORTED))
    >>> seen.notices()
    ("candidate_sql: nothing at 'reslt.sql' in 1 of 1 answers that say SUCCESS; is the agent's map right?",)
    """

    def __init__(self) -> None:
        self._answers = 0
        self._lacked: Counter[str] = Counter()

    def look(self, turn: Turn) -> None:
        """Take one answer into account."""
        if turn.status is Status.SUCCESS:
            self._answers += 1
            self._lacked.update(gap for gap in set(turn.gaps) if _NOTHING in gap and not gap.startswith("error"))

    def notices(self) -> tuple[str, ...]:
        """One sentence for each field that no answer has."""
        return tuple(
            f"{gap} in {count:,} of {count:,} answers that say SUCCESS; is the agent's map right?"
            for gap, count in sorted(self._lacked.items())
            if count == self._answers
        )
