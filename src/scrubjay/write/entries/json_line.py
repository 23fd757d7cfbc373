"""An entry as one line of JSON: the fields of `add`, those that are set."""

from __future__ import annotations

import json
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.types import Memory
from scrubjay.write.entries.fields import fields_of, given_from

# A terminal may obey these even inside JSON, and some readers end a line at the last three.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


def to_line(memory: Memory) -> str:
    """Return a memory as JSON on one line, without the line's end."""
    return json.dumps(fields_of(memory), ensure_ascii=False).translate(_ESCAPED)


def from_line(line: str) -> dict[str, Any]:
    """Read such a line into what `add` takes; say what is wrong with any other."""
    try:
        found = json.loads(line)
    except RecursionError:
        raise InvalidInput("the line is nested too deeply to be read") from None
    except ValueError as error:
        raise InvalidInput(f"the line is not JSON: {error}; write one object a line") from None
    if not isinstance(found, dict):
        raise InvalidInput('the line is not a JSON object; write one as {"text": "…"}')
    return given_from(found)
