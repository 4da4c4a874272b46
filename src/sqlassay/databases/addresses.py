"""How is a database URL read, and how is it shown without its password?"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlassay.errors import ConfigError, DatabaseUnavailable

_PASSWORD_IN_URL = re.compile(r"(?P<head>[\w+.-]+://[^/?#\s:@]*:)(?P<secret>[^/?#\s]*)(?=@)")
_SECRET_PARAMETERS = re.compile(
    r"(?P<head>\b(?:password|passwd|pwd|token|secret|access_token|api_key|private_key|sslpassword|passphrase)\s*=\s*)"
    r"(?P<secret>'[^']*'|[^\s&;,]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server's address as a URL gives it; percent escapes are decoded."""

    user: str | None
    password: str | None = field(repr=False)
    host: str | None
    port: int | None
    database: str | None
    options: Mapping[str, str]


def redact(text: str) -> str:
    """Any password in a URL, a query string or a key=value list replaced by `***`.

    >>> redact("postgresql://ann:s3cret@db/shop?sslpassword=x")
    'postgresql://ann:***@db/shop?sslpassword=***'
    """
    text = _PASSWORD_IN_URL.sub(r"\g<head>***", text)
    return _SECRET_PARAMETERS.sub(r"\g<head>***", text)


def without_secret(text: str, password: str | None) -> str:
    """A driver's message with the password gone, however the driver quoted it."""
    return redact(text.replace(password, "***") if password else text)


def server_address(url: str, *, name: str) -> Address:
    """The parts of a server's URL.

    Raises:
        ConfigError: the port is no number or the text is no URL; the message shows no password.

    >>> server_address("postgresql://u:p%40ss@db:5433/shop", name="x").password
    'p@ss'
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(
            f"database {name!r}: {redact(url)!r} is not a database URL ({redact(str(error))})",
            hint="write scheme://user:password@host:port/database; characters like @ and / in a password are "
            "percent-encoded",
        ) from None
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    return Address(
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
        host=parts.hostname or options.pop("host", None),
        port=port,
        database=unquote(parts.path.removeprefix("/")) or None,
        options=options,
    )


_FILE_URL = re.compile(r"(?P<scheme>(?:sqlite|duckdb)(?:\+\w+)?):///(?P<path>[^?]*)(?P<rest>\?.*)?", re.DOTALL)


def absolute_url(url: str, base: str) -> str:
    """The URL with the path of a file engine made absolute, counted from the folder `base`; others as they are.

    >>> absolute_url("sqlite:///films.db", "/data"), absolute_url("mysql://db/films", "/data")
    ('sqlite:////data/films.db', 'mysql://db/films')
    """
    found = _FILE_URL.fullmatch(url)
    if found is None or found["path"].startswith((":memory:", "file:")) or not found["path"]:
        return url
    return f"{found['scheme']}:///{os.path.normpath(os.path.join(base, found['path']))}{found['rest'] or ''}"


def file_path(url: str, *, name: str) -> Path:
    """The existing file that a file-engine URL names; a relative path is relative to the working directory.

    Raises:
        DatabaseUnavailable: in-memory, missing, a folder, or not readable.
    """
    location, _, _ = url.partition("://")[2].partition("?")
    text = location.removeprefix("/").removeprefix("file:")
    if not text or text == ":memory:":
        raise DatabaseUnavailable(
            f"database {name!r}: {redact(url)!r} is an in-memory database, which is empty when it is opened",
            hint="name a file: sqlite:///path/to/file.db",
        )
    path = next((path for path in (Path(text), Path(unquote(text))) if path.exists()), Path(text))
    if not path.exists():
        raise DatabaseUnavailable(
            f"database {name!r}: the file {str(path)!r} does not exist",
            hint=f"looked for {path.absolute()}; an absolute path takes one slash more (sqlite:////absolute/file.db)",
        )
    if not path.is_file():
        raise DatabaseUnavailable(f"database {name!r}: {str(path)!r} is not a file")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise DatabaseUnavailable(f"database {name!r}: {str(path)!r} cannot be read ({error.strerror})") from None
    return path
