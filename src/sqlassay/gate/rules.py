"""What does a gate demand? Rules as people write them: `execution.exact[category=filter] >= 0.95`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlassay.errors import ConfigError
from sqlassay.records.measurement import Bucket
from sqlassay.records.value import Ceiling
from sqlassay.summary.slices import DIMENSIONS


class Subject(StrEnum):
    """What a rule is about."""

    METRIC = "metric"
    BUCKET = "bucket"
    CEILING = "ceiling"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The part of the run that a rule looks at."""

    dimension: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One comparison: a metric's mean, or how many trials fell into a bucket or met a ceiling, against a number."""

    text: str
    subject: Subject
    name: str
    operator: str
    threshold: float
    slice: Slice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRegressions:
    """No case that passed in the baseline fails now; with `level` only a significant worsening counts (0..1)."""

    level: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """Everything one gate demands. `min_scored` is the share of attempted cases that must be scored at all."""

    require: tuple[Rule, ...] = ()
    all_pass: bool = False
    no_regressions: NoRegressions | None = None
    min_scored: float | None = None

    def __bool__(self) -> bool:
        return bool(self.require or self.all_pass or self.no_regressions or self.min_scored)


_RULE = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w.@-]*)\s*(?:\[\s*(?P<slice>[^\]]*)\])?\s*(?P<op>>=|<=|==|!=|=|>|<)\s*(?P<number>\S+)\s*"
)


def parse(text: str) -> Rule:
    """Read one rule.

    Raises:
        ConfigError: it is no rule, or names a metric, bucket, ceiling or slice that does not exist.

    >>> rule = parse("execution.exact[category=filter] >= 95%")
    >>> rule.name, rule.slice, rule.operator, rule.threshold
    ('execution.exact', Slice(dimension='category', value='filter'), '>=', 0.95)
    >>> parse("bucket.sql_eror == 0")
    Traceback (most recent call last):
        ...
    sqlassay.errors.ConfigError: gate rule 'bucket.sql_eror == 0': unknown bucket 'sql_eror'
    """
    found = _RULE.fullmatch(text)
    if found is None:
        raise ConfigError(
            f"gate rule {text!r} is no comparison",
            hint='write for example "execution.exact >= 0.9" or "bucket.sql_error == 0"',
        )
    subject, name = _subject(text, found["name"])
    operator = "==" if found["op"] == "=" else found["op"]
    return Rule(
        text=text.strip(),
        subject=subject,
        name=name,
        operator=operator,
        threshold=_number(text, found["number"]),
        slice=_slice(text, found["slice"]),
    )


def rules(
    require: Iterable[str] = (),
    *,
    all_pass: bool = False,
    no_regressions: bool = False,
    level: float | None = None,
    min_scored: float | None = None,
) -> GateRules:
    """Read what a configuration or a command line demands; `no_regressions` and `all_pass` may stand among the rules.

    Raises:
        ConfigError: as `parse`, or a share lies outside 0..1.

    >>> rules(["execution.exact >= 0.9", "all_pass"]).all_pass
    True
    """
    for name, share in (("level", level), ("min_scored", min_scored)):
        if share is not None and not 0 <= share <= 1:
            raise ConfigError(f"gate: {name} {share} lies outside 0..1")
    parsed: list[Rule] = []
    for text in require:
        match text.strip():
            case "all_pass":
                all_pass = True
            case "no_regressions":
                no_regressions = True
            case _:
                parsed.append(parse(text))
    return GateRules(
        require=tuple(parsed),
        all_pass=all_pass,
        no_regressions=NoRegressions(level=level) if no_regressions else None,
        min_scored=min_scored,
    )


def _subject(text: str, name: str) -> tuple[Subject, str]:
    for subject, kind in ((Subject.BUCKET, Bucket), (Subject.CEILING, Ceiling)):
        prefix, _, rest = name.partition(".")
        if prefix in (subject.value, f"{subject.value}s") and rest:
            members = [str(member.value) for member in kind]
            if rest not in members:
                raise ConfigError(f"gate rule {text!r}: unknown {subject.value} {rest!r}", hint=_meant(rest, members))
            return subject, rest
    names = _metric_names()
    if not any(re.fullmatch(pattern, name) for pattern in map(_pattern, names)):
        plain = [known for known in names if "{" not in known]
        raise ConfigError(f"gate rule {text!r}: unknown metric {name!r}", hint=_meant(name, plain))
    return Subject.METRIC, name


def _metric_names() -> list[str]:
    from sqlassay.metrics import registry

    return [card.name for card in registry.cards()]


def _pattern(name: str) -> str:
    return re.sub(r"\\\{\w+\\\}", r"[\\w.-]+", re.escape(name))


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if not near:
        tail = name.rpartition(".")[2]
        near = [candidate for candidate in known if tail and tail in candidate][:3]
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"


def _slice(text: str, written: str | None) -> Slice | None:
    if written is None:
        return None
    dimension, equals, value = (part.strip() for part in written.partition("="))
    if not equals or not value:
        raise ConfigError(f"gate rule {text!r}: a slice is written [category=filter]")
    if dimension not in DIMENSIONS:
        raise ConfigError(f"gate rule {text!r}: unknown slice {dimension!r}", hint=_meant(dimension, DIMENSIONS))
    return Slice(dimension=dimension, value=value.strip("'\""))


def _number(text: str, written: str) -> float:
    percent = written.endswith("%")
    try:
        number = float(written.removesuffix("%"))
    except ValueError:
        raise ConfigError(f"gate rule {text!r}: {written!r} is no number") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise ConfigError(f"gate rule {text!r}: {written!r} is no number to compare with")
    return number / 100 if percent else number
