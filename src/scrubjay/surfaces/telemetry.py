"""OpenTelemetry spans: one for each request, below it one for each search and each of its stages.
Only if OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_TRACES_EXPORTER is set; otherwise nothing is imported. Spans
contain neither queries nor results."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay._version import __version__
from scrubjay.types import Results, Step

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"
_FLUSH_S = 3.0
_MAX_CHARS = 200
INSTALL = 'pip install "scrubjay[telemetry]"'


class Request:
    """A request in progress; without a span if tracing is off."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def answered(self, method: str, route: str, status: int) -> None:
        """Record the response. `route` is a pattern, never the requested path."""
        if self._span is None:
            return
        from opentelemetry.trace import StatusCode

        self._span.update_name(f"{method} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(StatusCode.ERROR)


class Telemetry:
    """Makes spans; does nothing without a provider."""

    def __init__(self, provider: TracerProvider | None = None, *, own: bool = True) -> None:
        self._own = provider if own else None
        self._tracer: Tracer | None = None
        if provider is not None:
            self._tracer = provider.get_tracer("scrubjay", __version__)

    @property
    def on(self) -> bool:
        return self._tracer is not None

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Request]:
        """Trace one request; a `traceparent` header names the parent span."""
        if self._tracer is None:
            yield Request()
            return
        from opentelemetry.trace import SpanKind

        with self._tracer.start_as_current_span(
            method,
            context=_parent_in(headers),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method},
            record_exception=False,  # its text may quote the query
            set_status_on_exception=False,
        ) as span:
            yield Request(span)

    def searched(self, results: Results) -> None:
        """Make the spans of a finished search, below the span that is current in this thread."""
        if self._tracer is None or not results.trace:
            return
        from opentelemetry.trace import set_span_in_context

        span = self._tracer.start_span(
            "search",
            start_time=results.trace[0].at_us * 1000,
            attributes={
                "scrubjay.profile": results.profile,
                "scrubjay.hits": len(results.hits),
                "scrubjay.degraded": len(results.degraded),
            },
        )
        inside = set_span_in_context(span)
        ends_us = [
            _stage_span(self._tracer, step, inside, results.query) for step in results.trace
        ]
        span.end(max(ends_us) * 1000)

    def close(self, timeout_s: float = _FLUSH_S) -> None:
        """Send the remaining spans, for a limited time: a dead receiver must not keep a server running."""
        if self._own is not None:
            flush = threading.Thread(None, self._own.shutdown, "scrubjay-telemetry", daemon=True)
            flush.start()
            flush.join(timeout_s)


def start() -> Telemetry:
    """Return telemetry as the environment configures it; a wrong setting is logged once.
    Uses the OpenTelemetry provider of this process if another program has set one."""
    environ = os.environ
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    endpoint = next((environ[name] for name in _ENDPOINTS if environ.get(name)), None)
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if disabled or exporter == "none" or not (exporter or endpoint):
        return Telemetry()
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), _HTTP)
    if exporter not in ("", "otlp", "console"):
        return _off(f"OTEL_TRACES_EXPORTER is {exporter}; scrubjay supports otlp and console")
    if exporter != "console" and protocol != _HTTP:
        return _off(f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}; scrubjay supports {_HTTP}")
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        existing = trace.get_tracer_provider()
        if isinstance(existing, TracerProvider):
            return Telemetry(existing, own=False)
        return Telemetry(_make_provider(exporter))
    except ModuleNotFoundError:
        return _off(f"OpenTelemetry is not installed. Install it with: {INSTALL}")


def _off(why: str) -> Telemetry:
    logging.getLogger(__name__).warning("no traces are sent: %s", why)
    return Telemetry()


def _make_provider(exporter: str) -> TracerProvider:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

    sender: SpanExporter
    if exporter == "console":
        import sys

        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        sender = ConsoleSpanExporter(out=sys.stderr)  # standard output may carry a protocol
    else:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        sender = OTLPSpanExporter()  # reads the rest of the environment
    resource = Resource.create({"service.version": __version__})
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "scrubjay"}))
    # By default the SDK waits at exit for as long as the receiver does not answer.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(sender))
    trace.set_tracer_provider(provider)
    return provider


def _parent_in(headers: Mapping[str, str]) -> Context:
    """Return the parent span that a request names; an invalid header is ignored."""
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    lowered = {name.lower(): value for name, value in headers.items()}
    return TraceContextTextMapPropagator().extract(lowered, Context())


def _stage_span(tracer: Tracer, step: Step, inside: Context, query: str) -> int:
    """Make the span of a stage and of those inside it; return its end in microseconds."""
    from opentelemetry.trace import set_span_in_context

    attributes: dict[str, Any] = {
        "scrubjay.stage": step.stage,
        "scrubjay.went_in": step.went_in,
        "scrubjay.came_out": step.came_out,
    }
    if step.lost is not None:
        # A server may quote the query in its message.
        lost = step.lost.replace(query, "…") if query.strip() else step.lost
        attributes["scrubjay.lost"] = lost[:_MAX_CHARS]
    span = tracer.start_span(
        step.stage, context=inside, start_time=step.at_us * 1000, attributes=attributes
    )
    end_us = step.at_us + int(step.took_ms * 1000)
    within = set_span_in_context(span)
    for branch in step.branches:
        end_us = max(end_us, _stage_span(tracer, branch, within, query))
    span.end(end_us * 1000)
    return end_us
