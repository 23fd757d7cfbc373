"""The readers of formats, by name."""

from __future__ import annotations

from scrubjay.write.importers import (
    chatgpt,
    chroma,
    claude,
    claude_code,
    claude_mem,
    codex,
    mcp_memory,
    mem0,
)
from scrubjay.write.importers.record import Format

_MODULES = (mcp_memory, mem0, claude_code, codex, chatgpt, claude, claude_mem, chroma)
READERS: dict[str, Format] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
