"""Anthropic's memory tool on a store: Claude keeps its memories as files, and every search finds them.

client.beta.messages.tool_runner(..., tools=[ScrubjayMemoryTool(store)])
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, MissingExtra, NotFound
from scrubjay.text.memory_paths import show_change
from scrubjay.types.files import ROOT

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool
except ImportError:
    raise MissingExtra("anthropic", 'pip install "scrubjay[anthropic]"') from None

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from scrubjay.store import Store


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Return a refusal to the model as the result of its call; any other error ends the run."""
    try:
        yield
    except (InvalidInput, NotFound) as error:
        raise ToolError(str(error)) from error


class ScrubjayMemoryTool(BetaAbstractMemoryTool):
    """The tool `memory_20250818` over `Store.files`, with the texts of the reference implementation.

    Several agents may use one store: no edit is lost, and every change can be undone.
    """

    def __init__(
        self, store: Store, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = store.files

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        # The reference implementation ignores a range that is not one.
        lines = command.view_range if len(command.view_range or ()) == 2 else None
        with _tool_errors():
            return self._files.view(command.path, lines=lines)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        with _tool_errors():
            self._files.create(command.path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        with _tool_errors():
            file = self._files.str_replace(command.path, command.old_str, command.new_str)
        shown = show_change(file.text, file.line)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line"
            f" numbers):\n{shown}"
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        with _tool_errors():
            self._files.insert(command.path, command.insert_line, command.insert_text)
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        with _tool_errors():
            self._files.delete(command.path)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        with _tool_errors():
            self._files.rename(command.old_path, command.new_path)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete every file; other memories of the store stay."""
        for path in self._files.paths(ROOT):
            self._files.delete(path)
        return "All memory cleared"
