"""Is another process writing to this run? One advisory lock per run folder, gone when its holder dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from sqlassay.errors import ArchiveError


class FolderLock:
    """Held from `acquire` until `release` or the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._file: IO[bytes] | None = None

    def acquire(self) -> None:
        """Take the lock or say who has it.

        Raises:
            ArchiveError: another process holds it, or the folder cannot be written.
        """
        try:
            file = self._path.open("a+b")
        except OSError as error:
            raise ArchiveError(
                f"{self._path.parent}: the run folder cannot be written ({error.strerror})",
                hint="choose another place with --runs DIR, or mend the folder's permissions",
            ) from error
        if not _try_lock(file):
            file.seek(0)
            holder = file.read(32).decode("ascii", "replace").strip() or "unknown"
            file.close()
            raise ArchiveError(
                f"{self._path.parent}: another process (pid {holder}) is writing this run",
                hint="wait until it ends, or start a run of another name with --run-id",
            )
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()).encode())
        file.flush()
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(1024)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
