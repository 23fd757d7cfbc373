"""Messages between a process and the model process: a JSON header, and the numbers of arrays as bytes.

Nothing is unpickled. A message that is too long, or is not such a message, is refused before it is read.
"""

from __future__ import annotations

import json
import math
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.models import Matrix

PROTOCOL = 1
MOST_BYTES = (
    256 * 1024 * 1024
)  # of a message; a batch of texts has a few megabytes of token vectors
_LENGTHS = struct.Struct(">II")
_AT_ONCE = 64 * 1024
_BEAT = json.dumps({"wait": True}).encode()
BEAT = _LENGTHS.pack(len(_BEAT), 0) + _BEAT  # sent while an answer is computed


class BadMessage(Exception):
    """The other side sent something else than a message."""


def send(sock: socket.socket, header: Mapping[str, Any], arrays: Sequence[Matrix] = ()) -> None:
    """Send a header and float32 arrays. OSError if it cannot be sent, BadMessage if it is too long."""
    bodies = [array.astype("float32", copy=False).tobytes() for array in arrays]
    if arrays:
        header = {**header, "shapes": [list(array.shape) for array in arrays]}
    head, size = json.dumps(header).encode(), sum(len(body) for body in bodies)
    if max(len(head), size) > MOST_BYTES:
        raise BadMessage(f"a message of {len(head) + size:,} bytes is too long")
    parts = [_LENGTHS.pack(len(head), size), head, *bodies]
    if len(head) + size <= _AT_ONCE:
        sock.sendall(b"".join(parts))
        return
    for part in parts:
        sock.sendall(part)


def receive(sock: socket.socket) -> tuple[dict[str, Any], bytearray]:
    """Return the header and the bytes of the next message.
    EOFError at the end of the connection, BadMessage for anything that is not a message."""
    length, size = _LENGTHS.unpack(_read(sock, _LENGTHS.size))
    if not 2 <= length <= MOST_BYTES or size > MOST_BYTES:
        raise BadMessage("the lengths of a message are not possible")
    try:
        header = json.loads(_read(sock, length))
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"the header of a message is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise BadMessage("the header of a message is not an object")
    return header, _read(sock, size)


def arrays_in(header: Mapping[str, Any], content: bytearray) -> list[Matrix]:
    """Return the arrays of a message; BadMessage where its header and its bytes do not agree."""
    import numpy as np

    shapes = header.get("shapes", [])
    if not isinstance(shapes, list) or not all(map(_is_shape, shapes)):
        raise BadMessage("a message states impossible shapes")
    sizes = [math.prod(shape) for shape in shapes]
    if sum(sizes) * 4 != len(content):
        raise BadMessage("a message states other shapes than it has")
    arrays: list[Matrix] = []
    start = 0
    for shape, size in zip(shapes, sizes, strict=True):
        flat = np.frombuffer(content, np.float32, size, start * 4)
        arrays.append(flat.reshape(shape))
        start += size
    return arrays


def _is_shape(shape: object) -> bool:
    return isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape)


def _read(sock: socket.socket, size: int) -> bytearray:
    # It grows with what arrives: a stated length alone must not take the memory.
    content = bytearray()
    while len(content) < size:
        part = sock.recv(min(size - len(content), 1 << 20))
        if not part:
            raise EOFError("the connection was closed")
        content += part
    return content
