"""Widths of models: how many dimensions a database has for the vectors of a model."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.storage.sql.scope import SqlTable
from scrubjay.storage.sql.vectors import is_width


class ModelWidth(NamedTuple):
    """Dimensions of a model's vectors and of its token vectors; 0 where they are not known."""

    dims: int = 0
    token_dims: int = 0


class SqlModelWidths(SqlTable):
    """The widths in the table `models`."""

    def of(self, model: str) -> ModelWidth:
        row = self._row("SELECT dims, token_dims FROM models WHERE name = ?", (model,))
        if row is None or not is_width(row[0]):
            return ModelWidth()
        return ModelWidth(row[0], row[1] if is_width(row[1]) else 0)
