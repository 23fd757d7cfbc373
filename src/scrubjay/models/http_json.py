"""One question as JSON over HTTP: one total time limit, and every failure is one sentence."""

from __future__ import annotations

import http.client
import ipaddress
import json
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrubjay._version import __version__
from scrubjay.config import offline
from scrubjay.errors import Unavailable
from scrubjay.models.endpoint import shown
from scrubjay.runtime.worker import call_within

if TYPE_CHECKING:
    from email.message import Message

    from scrubjay.models.endpoint import Endpoint

_MOST_BYTES = 4 << 20
_BLOCK = 1 << 16
_MOST_CHARS = 200
_ADVICE = {
    400: "it does not take this request",
    401: "check the api key",
    403: "check the api key",
    404: "check the address and the model's name",
    422: "it does not take this request",
    429: "it limits how often it may be asked",
}


class Refused(Unavailable):
    """The server answered with an error; `status` is its number and `body` its own words."""

    def __init__(self, sentence: str, status: int, body: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.body = body


class _Raw(NamedTuple):
    status: int
    headers: Message
    body: bytes


class _TooLong(ValueError):
    """The answer goes on and on."""


class _Plain(urllib.request.HTTPErrorProcessor):
    """Hands every answer back as it is: a redirect is not followed, for the key would go along."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


def ask(at: Endpoint, url: str, payload: dict[str, Any], *, since: float | None = None) -> Any:
    """Post to one of an endpoint's addresses, with its key and its time limit."""
    try:
        return post_json(url, payload, api_key=at.api_key, timeout_s=at.timeout_s, since=since)
    except Refused as error:
        if at.model or error.status not in (400, 404, 422) or "model" not in error.body.lower():
            raise
        hint = (
            f"{error}; if it wants a model's name, give it after a #, as in {shown(at.url)}#name"
        )
        raise Refused(hint, error.status, error.body) from error


def post_json(
    url: str,
    payload: dict[str, Any],
    *,
    api_key: str,
    timeout_s: float,
    since: float | None = None,
) -> Any:
    """Send `payload` and return the JSON that comes back, or raise `Unavailable` saying why not.

    `timeout_s` bounds everything together: name lookup, connecting, waiting and reading. It runs
    from `since` (by `time.monotonic`) where several requests share one limit. Nothing is retried.
    """
    if offline() and not is_loopback(url):
        raise Refused(f"SCRUBJAY_OFFLINE forbids to ask {shown(url)}, another machine", 0, "")
    left_s = timeout_s if since is None else since + timeout_s - time.monotonic()
    raw = _exchange(_request(url, payload, api_key), left_s, timeout_s)
    if not 200 <= raw.status < 300:
        raise _refusal(url, raw, api_key)
    try:
        return json.loads(raw.body)
    # Brackets nested a thousand deep are a RecursionError.
    except (ValueError, RecursionError):
        start = shortened(raw.body.decode(errors="replace"), api_key=api_key)
        raise Unavailable(
            f"{shown(url)} answered with something that is not JSON; check that the address is"
            f" that of a model. It begins: {start!r}"
        ) from None


def message_in(answer: Any) -> str:
    """Return the words of an error out of the shapes servers give it, or nothing."""
    if isinstance(answer, dict):
        for name in ("error", "message", "detail", "msg"):
            if name in answer:
                return message_in(answer[name])
        return ""
    if isinstance(answer, list):
        return "; ".join(filter(None, map(message_in, answer)))
    return answer if isinstance(answer, str) else ""


def shortened(text: str, *, api_key: str) -> str:
    """Return a server's words as one short line; a key that it repeats is left out."""
    # Before the cut: half a key is still a secret.
    text = _without_key(text, api_key)
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= _MOST_CHARS else line[: _MOST_CHARS - 1] + "…"


def _without_key(text: str, api_key: str) -> str:
    return text.replace(api_key, "***") if api_key else text


def _request(url: str, payload: dict[str, Any], api_key: str) -> urllib.request.Request:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": f"scrubjay/{__version__}",
    }
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    # Half of a surrogate pair in a text would make the JSON one that servers refuse.
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
    return urllib.request.Request(url, body, headers, method="POST")


def _exchange(request: urllib.request.Request, left_s: float, timeout_s: float) -> _Raw:
    """Ask in a thread of its own and wait for it no longer than `left_s`.

    A socket timeout bounds neither the name lookup nor a server that sends a byte now and then.
    """
    url = shown(request.full_url)
    late = Unavailable(f"{url} timed out after {timeout_s:g} s; is it busy, or still loading?")
    if left_s <= 0:
        raise late
    given_up = threading.Event()
    try:
        return call_within(left_s, lambda: _transfer(request, left_s, given_up), url)
    except (Unavailable, TimeoutError):
        raise late from None
    # A ValueError is an address or a header that cannot be sent; with the latter, its text has the
    # key in it, hence `from None`.
    except (OSError, http.client.HTTPException, ValueError) as error:
        is_late = isinstance(getattr(error, "reason", None), TimeoutError)
        raise late if is_late else Unavailable(_complaint(url, error)) from None
    finally:
        given_up.set()


def _transfer(request: urllib.request.Request, left_s: float, given_up: threading.Event) -> _Raw:
    handlers: list[Any] = [_Plain()]
    if is_loopback(request.full_url):
        handlers.append(urllib.request.ProxyHandler({}))
    with urllib.request.build_opener(*handlers).open(request, timeout=left_s) as response:
        body = bytearray()
        # Whatever has arrived, not a full block: only so is giving up noticed between two bytes.
        while not given_up.is_set() and (block := response.read1(_BLOCK)):
            body += block
            if len(body) > _MOST_BYTES:
                raise _TooLong
        if response.length:
            raise http.client.IncompleteRead(b"")
        return _Raw(response.status, response.headers, bytes(body))


def _refusal(url: str, raw: _Raw, api_key: str) -> Refused:
    """Say which error the server answered with, what it means, and what the server says."""
    body = _without_key(raw.body.decode(errors="replace"), api_key)
    if 300 <= raw.status < 400:
        place = shortened(shown(raw.headers.get("Location", "")), api_key=api_key)
        sentence = (
            f"{shown(url)} answered {raw.status}: it wants to be asked at {place or 'no address'},"
            " which is not followed; give that address if it is the right one"
        )
        return Refused(sentence, raw.status, body)
    advice = _ADVICE.get(raw.status) or (
        "the server failed" if raw.status >= 500 else "it refused the request"
    )
    sentence = f"{shown(url)} answered {raw.status}: {advice}"
    if again := raw.headers.get("Retry-After"):
        again = shortened(again, api_key=api_key)
        sentence += f" (it asks to wait {again}{' s' if again.isdigit() else ''})"
    try:
        said = message_in(json.loads(body))
    except (ValueError, RecursionError):
        said = body
    if said := shortened(said, api_key=api_key):
        sentence += f"; it says: {said}"
    return Refused(sentence, raw.status, body)


def _complaint(url: str, error: Exception) -> str:
    """Say what went wrong on the way to an answer and back."""
    reason = getattr(error, "reason", error)
    if isinstance(error, _TooLong):
        return (
            f"{url} sent more than {_MOST_BYTES >> 20} MB, which no answer should need; check that"
            " the address is that of a model"
        )
    if isinstance(reason, (http.client.IncompleteRead, ConnectionError)) and not isinstance(
        reason, ConnectionRefusedError
    ):
        return f"{url} closed the connection before its answer was complete"
    if isinstance(error, urllib.error.URLError):
        return f"Cannot connect to {url} ({reason}); is the server running there?"
    if isinstance(error, http.client.HTTPException):
        return f"{url} does not answer as a web server does; check the address"
    if isinstance(error, OSError):
        return f"{url} cannot be asked: {reason}"
    return f"{url} cannot be asked: the address or the api key has characters that cannot be sent"


def is_loopback(url: str) -> bool:
    """Say whether the address is on this machine, where no proxy can reach for us."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
