"""May this request be answered? Only for our own host name and origin, and with a token when bound elsewhere."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from sqlassay.errors import ConfigError

COOKIE = "sqlassay_token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Where the server is bound, and the token it wants (None on loopback)."""

    host: str
    port: int
    token: str | None = None

    @property
    def local(self) -> bool:
        return is_loopback(self.host)

    def refuses(self, headers: Mapping[str, str], *, writing: bool = False) -> str | None:
        """Why the request is refused, or None. Header names are in lower case."""
        host = headers.get("host", "")
        if self.local and host not in self._names():
            return "this server answers to its own name only"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "this server answers to its own pages only"
        if writing and origin is None:
            return "a review must come from this server's own page"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "this server answers to its own pages only"
        return None

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether the request carries the token, where one is wanted."""
        if self.token is None:
            return True
        given = headers.get("authorization", "").removeprefix("Bearer ")
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        return self.is_token(given) or (cookie is not None and self.is_token(cookie.value))

    def is_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def _names(self) -> set[str]:
        names = {"localhost", "127.0.0.1", "[::1]", f"[{self.host}]" if ":" in self.host else self.host}
        ports = {f"{name}:{self.port}" for name in names}
        return ports | names if self.port == 80 else ports


def is_loopback(host: str) -> bool:
    """Whether an address or name can only be reached from this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def guard(*, host: str, port: int, token: str | None) -> Guard:
    """The guard of a server.

    Raises:
        ConfigError: bound beyond loopback without a token, or with one that is easily guessed.
    """
    if not is_loopback(host) and not token:
        raise ConfigError(
            f"view on {host} can be reached by others and needs a token", hint="set --token, or bind to 127.0.0.1"
        )
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token):
        raise ConfigError("a view token has at least 16 printable ASCII characters and no blanks")
    return Guard(host=host, port=port, token=token)
