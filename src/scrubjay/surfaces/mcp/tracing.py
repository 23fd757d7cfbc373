"""A span for each message of MCP: which method, which tool, whether it failed, and nothing that was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerMiddleware
from mcp.shared.exceptions import MCPError
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, StatusCode, get_current_span, get_tracer

from scrubjay._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from opentelemetry.context import Context

_CALLED = "tools/call"
_NAMED = (_CALLED, "prompts/get")
_METHODS = frozenset(
    (
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
        "logging/setLevel",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
        *_NAMED,
    )
)
_OTHER = "other"


class Traced(ServerMiddleware[Any]):
    """Makes the spans; a tool or prompt has its name in one only where it is known here."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._tracer = get_tracer("scrubjay", __version__)

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Follow one message; `traceparent` in its `_meta` says of what it is a part."""
        method = ctx.method if ctx.method in _METHODS else _OTHER
        about = {"mcp.method.name": method, "mcp.protocol.version": ctx.protocol_version}
        name = (ctx.params or {}).get("name") if method in _NAMED else None
        known = name if isinstance(name, str) and name in self._names else None
        if known:
            about["gen_ai.tool.name" if method == _CALLED else "gen_ai.prompt.name"] = known
        with self._tracer.start_as_current_span(
            f"{method} {known}" if known else method,
            context=_context_of(ctx.meta),
            kind=SpanKind.SERVER,
            attributes=about,
            record_exception=False,  # its text may hold what was asked
            set_status_on_exception=False,
        ) as span:
            try:
                result = await call_next(ctx)
            except Exception as error:  # whatever it is, it goes on; the span says of which kind
                code = str(error.error.code) if isinstance(error, MCPError) else ""
                span.set_attribute("error.type", code or type(error).__qualname__)
                span.set_status(StatusCode.ERROR)
                raise
            match result:
                case types.CallToolResult(is_error=True) | {"isError": True}:
                    span.set_attribute("error.type", "tool_error")
                    span.set_status(StatusCode.ERROR)
            return result


def _context_of(meta: Mapping[str, Any] | None) -> Context | None:
    """Return of what a message is a part; None where it says nothing that makes sense."""
    carried = {
        name: one
        for name in ("traceparent", "tracestate")
        if isinstance(one := (meta or {}).get(name), str)
    }
    context = extract(carried)
    return context if get_current_span(context).get_span_context().is_valid else None
