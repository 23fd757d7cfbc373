"""What the list of MCP tools costs a model, in tokens: `python -m tools.mcp_tokens`.

The whole of a tool is counted as it is sent: name, title, description, both schemas, annotations. The
tokens are those of o200k_base, which OpenAI's models use; others count within some percent of it.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import import_module
from typing import Any

from scrubjay.surfaces.mcp.server import describe
from scrubjay.surfaces.mcp.toolsets import tools_of
from scrubjay.surfaces.verbs.operate import TOOL_SETS

ENCODING = "o200k_base"


@lru_cache(maxsize=1)
def _encoding() -> Any:
    return getattr(import_module("rs_bpe.bpe").openai, ENCODING)()


def tokens(value: object) -> int:
    """Return how many tokens a value has as JSON without spaces."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return int(_encoding().count(text))


def listed_as_json(name: str) -> list[dict[str, Any]]:
    """Return the tools of a set as they are sent."""
    return [
        describe(one).model_dump(by_alias=True, mode="json", exclude_none=True)
        for one in tools_of(name)
    ]


def cost(name: str) -> int:
    """Return the tokens of the list of a set."""
    return tokens({"tools": listed_as_json(name)})


def table() -> None:
    """Print the cost of each set, and of each tool of the default one."""
    print("| tools | how many | tokens |\n|---|---:|---:|")
    for name in TOOL_SETS:
        print(f"| `--tools {name}` | {len(tools_of(name))} | {cost(name):,} |")
    print("\n| tool of the default set | tokens |\n|---|---:|")
    for one in listed_as_json(TOOL_SETS[0]):
        print(f"| `{one['name']}` | {tokens(one):,} |")


if __name__ == "__main__":
    table()
