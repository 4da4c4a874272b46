"""How are messages framed between a parent and its worker? Length-prefixed pickles over the worker's own pipes."""

from __future__ import annotations

import pickle
import struct
from typing import IO

from sqlassay.running.jobs import Message, Request

_LENGTH = struct.Struct("<Q")


def write_message(stream: IO[bytes], message: Request | Message) -> None:
    """Send one message."""
    data = pickle.dumps(message, protocol=5)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next pickle, None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None
