"""The log holds no secrets, wherever somebody may have put one: in a path, a request's id, an error."""

from __future__ import annotations

import logging

from scrubjay.sharing.api_keys import masked


class Masking(logging.Formatter):
    """A line of the log without the secrets of tokens."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with what an error said."""
        return masked(super().format(record))
