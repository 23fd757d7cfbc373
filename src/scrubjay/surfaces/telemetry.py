"""OpenTelemetry: a span for each request, under it one for each search and for each of its stages.

Only where OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_TRACES_EXPORTER asks for it; otherwise nothing is imported.
Neither what was asked nor what was found is in a span.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay._version import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

    from scrubjay.types import Results, Step

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"
_FLUSH_S = 3.0
_MOST_CHARS = 200
INSTALL = 'pip install "scrubjay[telemetry]"'


class Request:
    """A request under way; one that nobody follows has no span."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def answered(self, method: str, route: str, status: int) -> None:
        """Say how it ended. The route is its pattern, never the path with what stands in it."""
        if self._span is None:
            return
        from opentelemetry.trace import StatusCode

        self._span.update_name(f"{method} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(StatusCode.ERROR)


class Telemetry:
    """Makes spans; without a provider it makes none, and costs nothing."""

    def __init__(self, provider: TracerProvider | None = None, *, own: bool = True) -> None:
        self._own = provider if own else None
        self._tracer: Tracer | None = None
        if provider is not None:
            self._tracer = provider.get_tracer("scrubjay", __version__)

    @property
    def on(self) -> bool:
        """True when spans are made."""
        return self._tracer is not None

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Request]:
        """Follow one request; `traceparent` among its headers says of what it is a part."""
        if self._tracer is None:
            yield Request()
            return
        from opentelemetry.trace import SpanKind

        with self._tracer.start_as_current_span(
            method,
            context=_context_of(headers),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method},
            record_exception=False,  # its text may hold what was asked
            set_status_on_exception=False,
        ) as span:
            yield Request(span)

    def searched(self, found: Results) -> None:
        """Make the spans of a search that is over, under whatever is under way in this thread."""
        if self._tracer is None or not found.trace:
            return
        from opentelemetry.trace import set_span_in_context

        span = self._tracer.start_span(
            "search",
            start_time=found.trace[0].at_us * 1000,
            attributes={
                "scrubjay.profile": found.profile,
                "scrubjay.hits": len(found.hits),
                "scrubjay.degraded": len(found.degraded),
            },
        )
        inside = set_span_in_context(span)
        ends_us = [_stage_span(self._tracer, one, inside, found.query) for one in found.trace]
        span.end(max(ends_us) * 1000)

    def close(self, most_s: float = _FLUSH_S) -> None:
        """Send what is left, for so long and no longer: a server must stop, whoever does not answer."""
        if self._own is None:
            return
        ending = threading.Thread(
            target=self._own.shutdown, name="scrubjay-telemetry", daemon=True
        )
        ending.start()
        ending.join(most_s)


def start() -> Telemetry:
    """Begin to make spans if the environment asks for them; what is wrong with it is said once.

    Where another program has set OpenTelemetry up in this process already, its settings are used.
    """
    environ = os.environ
    wanted = environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    where = next((environ[name] for name in _ENDPOINTS if environ.get(name)), None)
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if disabled or wanted == "none" or not (wanted or where):
        return Telemetry()
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), _HTTP)
    if wanted not in ("", "otlp", "console"):
        return _without(f"OTEL_TRACES_EXPORTER is {wanted}; scrubjay knows otlp and console")
    if wanted != "console" and protocol != _HTTP:
        return _without(f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}; scrubjay speaks {_HTTP}")
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        there = trace.get_tracer_provider()
        if isinstance(there, TracerProvider):
            return Telemetry(there, own=False)
        return Telemetry(_provider(_exporter(wanted)))
    except ModuleNotFoundError:
        return _without(f"OpenTelemetry is not installed. Install it with: {INSTALL}")


def _without(why: str) -> Telemetry:
    import logging

    logging.getLogger(__name__).warning("no traces are sent: %s", why)
    return Telemetry()


def _exporter(wanted: str) -> SpanExporter:
    if wanted == "console":
        import sys

        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)  # standard output may be that of a protocol
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()  # which reads the rest of the environment


def _provider(exporter: SpanExporter) -> TracerProvider:
    """Return what makes spans here, those of MCP's requests, too."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = Resource.create({"service.version": __version__})
    if str(named.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        named = named.merge(
            Resource({SERVICE_NAME: "scrubjay"})
        )  # the environment may say another
    # Left to itself the SDK waits at exit for as long as nobody answers.
    made = TracerProvider(resource=named, shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(made)
    return made


def _context_of(headers: Mapping[str, str]) -> Context:
    """Return of what a request is a part; a header that makes no sense is passed over."""
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carried = {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in ("traceparent", "tracestate")
    }
    return TraceContextTextMapPropagator().extract(carried, Context())


def _stage_span(tracer: Tracer, step: Step, inside: Context, query: str) -> int:
    """Make the span of a stage and of those inside it; return when it ended, in microseconds."""
    from opentelemetry.trace import set_span_in_context

    about: dict[str, Any] = {
        "scrubjay.stage": step.stage,
        "scrubjay.went_in": step.went_in,
        "scrubjay.came_out": step.came_out,
    }
    if step.lost is not None:
        # A server may repeat in its message what it was asked.
        said = step.lost.replace(query, "…") if query.strip() else step.lost
        about["scrubjay.lost"] = said[:_MOST_CHARS]
    span = tracer.start_span(
        step.stage, context=inside, start_time=step.at_us * 1000, attributes=about
    )
    end_us = step.at_us + int(step.took_ms * 1000)
    if step.branches:
        within = set_span_in_context(span)
        end_us = max(end_us, *_ends(tracer, step.branches, within, query))
    span.end(end_us * 1000)
    return end_us


def _ends(tracer: Tracer, steps: Sequence[Step], inside: Context, query: str) -> list[int]:
    return [_stage_span(tracer, one, inside, query) for one in steps]
