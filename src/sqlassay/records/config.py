"""What the user asked for: every key of `sqlassay.yaml`, each with what it does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlassay.records.plain import to_plain
from sqlassay.records.settings import Limits, RunSettings, ScoreSettings

SHORT: Mapping[str, str] = {
    "jobs": "run.jobs",
    "repeats": "run.repeats",
    "timeout": "run.timeout_s",
    "fast": "run.fast",
}
"""Flags that are keys of a section; each may also stand at the top of the file under its own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """One database: a URL, or the folder of a snapshot of which every run builds a throw-away copy."""

    url: str | None = field(default=None, repr=False)
    """As SQLAlchemy writes it: sqlite:///f.db, duckdb:///f.duckdb, postgresql://user@host/db, mysql://user@host/db."""
    snapshot: str | None = None
    """A folder written by `sqlassay snapshot`."""
    overridden: bool = False
    """True when the command line or the environment replaced what the file says; named in manifest and signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """The rules that decide; `run` and `report` only describe."""

    require: tuple[str, ...] = ()
    """Rules such as `execution.exact >= 0.9`, `execution.exact[category=filter] >= 0.95`, `bucket.declined == 0`
    and `ceiling.leak == 0`."""
    baseline: str | None = None
    """The run to compare with: an id, a folder, or `latest`."""
    no_regressions: Literal["off", "by_case", "significant"] = "off"
    """Against the baseline: no case may break (by_case), or not significantly many (significant)."""
    level: float = 0.05
    """The level of significance of `no_regressions: significant`."""
    all_pass: bool = False
    """The strict gate of a release: any failing sample fails."""
    on_run: bool = False
    """`run` also judges, as with `--gate`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`sqlassay.yaml` with environment and command line merged in: paths absolute, every value of its type.

    `agent`, `retriever` and `judge` keep `${VARIABLE}` as written; whoever builds them fills it in, so that no
    secret lies here. `redacted()` is what may be stored and shown.
    """

    cases: tuple[str, ...] = ()
    """Case files or folders, relative to this file."""
    databases: Mapping[str, DatabaseSettings] = field(default_factory=dict)
    """A URL, {snapshot: DIR}, or a mapping of names to either; cases choose one by `database`."""
    agent: Mapping[str, Any] | None = field(default=None, repr=False)
    """The system under test: `kind` (python, command, http, replay, or a framework) and the settings of that kind."""
    retriever: Mapping[str, Any] | None = field(default=None, repr=False)
    """The retriever called directly: `kind` (http, python) and its settings."""
    score: ScoreSettings = ScoreSettings()
    """How results are compared."""
    run: RunSettings = RunSettings()
    """How the run is carried out."""
    limits: Limits = Limits()
    """What one SQL statement may take."""
    gate: GateSettings = GateSettings()
    """The rules of `gate` and `run --gate`."""
    judge: Mapping[str, Any] | None = field(default=None, repr=False)
    """Model judges of the final text: optional, off by default, not reproducible."""
    no_judge: bool = False
    """Never call a model judge."""
    runs: str = "runs"
    """The folder that keeps runs, relative to this file."""
    limit: str | None = None
    """Only the first N cases, or the A-th to the B-th (`10`, `11-20`)."""
    case_id: tuple[str, ...] = ()
    """Only these cases."""
    tag: tuple[str, ...] = ()
    """Only cases with one of these tags."""
    category: tuple[str, ...] = ()
    """Only cases of one of these categories."""
    output: tuple[str, ...] = ()
    """Files to write after a run; the suffix chooses the format."""
    json: bool = False
    """Machine-readable output on stdout and nothing else."""
    resume: bool = False
    """Go on with the newest interrupted run."""
    file: str | None = None
    """The configuration file; None when everything came from elsewhere."""
    base_dir: str = "."
    """The folder that relative paths start from."""
    written: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What was written before variables were filled in, command line and environment included."""
    notices: tuple[str, ...] = ()
    """What a reader should know, such as a SQLASSAY_ variable that no key answers to."""

    def redacted(self) -> dict[str, Any]:
        """The settings for a manifest: values as they hold, secrets as `${NAME}` or `***`."""
        effective = {name: to_plain(getattr(self, name)) for name in ("score", "run", "limits", "gate", "no_judge")}
        chosen = {
            name: to_plain(getattr(self, name))
            for name in ("limit", "case_id", "tag", "category")
            if getattr(self, name)
        }
        sections = {
            name: redact(self.written[name])
            for name in ("cases", "database", "agent", "retriever", "judge")
            if self.written.get(name) is not None
        }
        return {**sections, **effective, **chosen}


_SECRET_KEY = re.compile(
    r"authori[sz]ation|token|secret|passw(?:or)?d|passphrase|pwd|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|cookie"
    r"|credential|signature|^auth$|^key$|^dsn$",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"^(?:max_|min_)?tokens?(?:_(?:in|out|per_minute|limit|budget))$|^max_tokens$", re.IGNORECASE)
_PLAIN_HEADERS = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "user-agent"})
_VARIABLE = re.compile(r"\$\{(\w+)(?::-[^}]*)?\}")
_ONLY_VARIABLES = re.compile(r"^(?:(?:Bearer|Basic|Token|ApiKey|Digest) +)?(?:\$\{\w+\})+$", re.IGNORECASE)
_URL_USER = re.compile(r"(?P<head>[\w+.-]+://[^/?#\s:@]*:)(?P<secret>[^/?#\s]*)(?=@)")
_OPTION = re.compile(r"(?P<head>(?<![\w-])--?(?P<name>[\w-]+) +)(?P<secret>'[^']*'|\"[^\"]*\"|[^\s-]\S*)")
_FLAG = re.compile(rf"--?[\w-]*(?:{_SECRET_KEY.pattern})[\w-]*", re.IGNORECASE)
_TOKEN = re.compile(r"\b(?:sk-|gh[pousr]_|xox[abp]-|AKIA|eyJ)[\w.-]{12,}")
"""What well-known services' secrets look like, wherever they stand."""
_PARAMETER = re.compile(r"(?P<head>(?P<name>[\w.-]+)\s*=\s*)(?P<secret>'[^']*'|[^\s&;,'\"]+)")


def redact(value: Any, *, secret: bool = False) -> Any:
    """Plain data without its secrets: what stands under telling keys, in headers, and in URLs becomes `***`.

    A reference to a variable stays, since it tells where the secret is and not what it is.

    >>> redact({"url": "http://u:pw@h/?api_key=1", "headers": {"X-Mine": "abc", "Authorization": "Bearer ${T}"}})
    {'url': 'http://u:***@h/?api_key=***', 'headers': {'X-Mine': '***', 'Authorization': 'Bearer ${T}'}}
    """
    if isinstance(value, Mapping):
        return {str(name): _redact_item(str(name), item, secret=secret) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        flags = [False, *(isinstance(item, str) and bool(_FLAG.fullmatch(item)) for item in value)]
        return [redact(item, secret=secret or flag) for item, flag in zip(value, flags, strict=False)]
    if value is None or isinstance(value, bool):
        return value
    if secret:
        text = _VARIABLE.sub(r"${\1}", str(value))
        return text if _ONLY_VARIABLES.match(text) else "***"
    return _redact_text(value) if isinstance(value, str) else value


def _redact_item(name: str, item: Any, *, secret: bool) -> Any:
    if name.lower() in ("headers", "cookies", "env", "environment"):
        if isinstance(item, Mapping):
            return {
                str(key): redact(inner, secret=str(key).lower() not in _PLAIN_HEADERS) for key, inner in item.items()
            }
        return redact(item, secret=True)
    return redact(item, secret=secret or telling(name))


def telling(name: str) -> bool:
    """Whether a key, header or variable of this name holds a secret.

    >>> telling("X-Auth-Token"), telling("max_tokens"), telling("host")
    (True, False, False)
    """
    return bool(_SECRET_KEY.search(name)) and not _COUNTS.match(name)


def secrets_in(text: str) -> tuple[str, ...]:
    """The secrets that stand in a URL, a query string or a command line.

    >>> secrets_in("http://me:pw1@h/?api_key=k2&page=3"), secrets_in("ask --token t4")
    (('pw1', 'k2'), ('t4',))
    """
    found = [match["secret"] for match in _URL_USER.finditer(text)]
    for pattern in (_OPTION, _PARAMETER):
        found += [match["secret"].strip("'\"") for match in pattern.finditer(text) if _SECRET_KEY.search(match["name"])]
    return (*found, *_TOKEN.findall(text))


def _redact_text(text: str) -> str:
    text = _URL_USER.sub(lambda m: m["head"] + (m["secret"] if _ONLY_VARIABLES.match(m["secret"]) else "***"), text)
    text = _OPTION.sub(_redact_parameter, text)
    return _TOKEN.sub("***", _PARAMETER.sub(_redact_parameter, text))


def _redact_parameter(match: re.Match[str]) -> str:
    if not _SECRET_KEY.search(match["name"]) or _ONLY_VARIABLES.match(match["secret"]):
        return match.group()
    return match["head"] + "***"
