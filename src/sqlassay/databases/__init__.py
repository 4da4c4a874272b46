"""Running SQL on the engines people have: `connect(url)` opens one, each engine lives in one file."""

from sqlassay.databases.connect import connect

__all__ = ["connect"]
