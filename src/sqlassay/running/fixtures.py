"""Databases that are snapshots: every run gets a throw-away copy, and the snapshot itself is never opened."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlassay.records.config import Config


@contextmanager
def snapshots_copied(config: Config) -> Iterator[Config]:
    """The configuration with each `{snapshot: DIR}` replaced by the URL of a copy that lives as long as this does.

    Raises:
        ArchiveError: a folder holds no snapshot, or its file is not the one that its manifest describes.
    """
    wanted = {name: each.snapshot for name, each in config.databases.items() if each.snapshot and each.url is None}
    if not wanted:
        yield config
        return
    from sqlassay.databases.snapshot import read_manifest, throwaway_copy

    with tempfile.TemporaryDirectory(prefix="sqlassay-") as folder:
        databases = dict(config.databases)
        for place, (name, directory) in enumerate(sorted(wanted.items())):
            source, into = Path(directory), Path(folder) / str(place)
            url = throwaway_copy(source, into)
            file = read_manifest(source).file
            taken = (source / file).stat()
            os.utime(into / file, ns=(taken.st_atime_ns, taken.st_mtime_ns))
            databases[name] = replace(databases[name], url=url)
        yield replace(config, databases=databases)
