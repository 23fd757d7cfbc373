"""A model behind HTTP: its address in one line, and JSON requests to it with one time limit."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrubjay._version import __version__
from scrubjay.config import offline
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.runtime.worker import call_within

if TYPE_CHECKING:
    from email.message import Message
    from urllib.request import Request

_EXAMPLE = "http://localhost:11434/v1#qwen3:1.7b"
_LONGEST_TIMEOUT_S = 86_400.0
_MAX_BYTES = 4 << 20
_BLOCK = 1 << 16
_MAX_CHARS = 200
_ADVICE = {
    400: "it does not accept this request",
    401: "check the api key",
    403: "check the api key",
    404: "check the address and the model's name",
    422: "it does not accept this request",
    429: "it limits how often it may be called",
}


class Refused(Unavailable):
    """The server answered with an error: `status` is its number and `body` its message.
    `retry_s` is how long it asks to wait; 0 where it does not say."""

    def __init__(self, sentence: str, status: int, body: str, retry_s: float = 0.0) -> None:
        super().__init__(sentence)
        self.status = status
        self.body = body
        self.retry_s = retry_s


class Endpoint(NamedTuple):
    """A model's address and how to call it. Its key is in no text made from it."""

    url: str
    model: str = ""
    api_key: str = ""
    timeout_s: float = 10.0
    dialect: str = ""
    key_header: str = ""
    """The header that carries the key as it is; `Authorization: Bearer` if empty."""

    @property
    def name(self) -> str:
        """The model's name, or the host where no model is named."""
        return self.model or urlsplit(self.url).netloc

    @property
    def key(self) -> str:
        """The model's key in caches: its address and its name."""
        return f"{without_query(self.url)}#{self.model}"

    def __repr__(self) -> str:
        key = "'***'" if self.api_key else "''"
        return (
            f"Endpoint(url={without_query(self.url)!r}, model={self.model!r}, api_key={key},"
            f" timeout_s={self.timeout_s!r}, dialect={self.dialect!r})"
        )

    def post(self, url: str, payload: dict[str, Any], *, since: float | None = None) -> Any:
        """Send `payload` and return the JSON of the answer, or raise Unavailable with the reason.
        The time limit covers everything together: name lookup, connecting, waiting and reading. It
        runs from `since` (by `time.monotonic`) where several requests share one limit. Nothing is
        retried."""
        from urllib.request import Request

        shown = without_query(url)
        if offline() and not is_loopback(url):
            raise Refused(f"SCRUBJAY_OFFLINE forbids to ask {shown}, another machine", 0, "")
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"scrubjay/{__version__}",
        }
        if self.api_key and self.key_header:
            headers[self.key_header] = self.api_key
        elif self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        # Half of a surrogate pair in a text would make JSON that servers refuse.
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        left_s = self.timeout_s if since is None else since + self.timeout_s - time.monotonic()
        answer = _exchange(Request(url, body, headers, method="POST"), left_s, self.timeout_s)
        if not 200 <= answer.status < 300:
            raise self._refusal(shown, answer)
        try:
            return json.loads(answer.body)
        # Brackets nested a thousand deep are a RecursionError.
        except (ValueError, RecursionError):
            start = self.one_line(answer.body.decode(errors="replace"))
            raise Unavailable(
                f"{shown} answered with something that is not JSON; check that the address is"
                f" that of a model. It begins: {start!r}"
            ) from None

    def one_line(self, text: str) -> str:
        """Return a server's message as one short line; a key that it repeats is removed."""
        # Before the cut: half a key is still a secret.
        text = self._without_key(text)
        line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
        return line if len(line) <= _MAX_CHARS else line[: _MAX_CHARS - 1] + "…"

    def _without_key(self, text: str) -> str:
        return text.replace(self.api_key, "***") if self.api_key else text

    def _refusal(self, url: str, answer: _Answer) -> Refused:
        """Return the error for an answer: its number, what it means, and the server's message."""
        status, body = answer.status, self._without_key(answer.body.decode(errors="replace"))
        sentence = f"{url} answered {status}: "
        if 300 <= status < 400:
            place = self.one_line(without_query(answer.headers.get("Location", "")))
            sentence += f"it redirects to {place or 'no address'}, which is not followed;"
            return Refused(f"{sentence} use that address if it is the right one", status, body)
        failed = "the server failed" if status >= 500 else "it refused the request"
        sentence += _ADVICE.get(status, failed)
        if again := self.one_line(answer.headers.get("Retry-After", "")):
            sentence += f" (it asks to wait {again}{' s' if again.isdigit() else ''})"
        try:
            message = error_message(json.loads(body))
        except (ValueError, RecursionError):
            message = body
        if message := self.one_line(message):
            sentence += f"; it says: {message}"
        if not self.model and status in (400, 404, 422) and "model" in body.lower():
            named = f"{without_query(self.url)}#name"
            sentence += f"; if it needs a model's name, add it after a #: {named}"
        return Refused(sentence, status, body, _retry_s(answer.headers.get("Retry-After", "")))


def endpoint(spec: str, api_key: str = "", timeout_s: float = 10.0, dialect: str = "") -> Endpoint:
    """Parse `http://localhost:11434/v1#qwen3:1.7b`; no request is sent.
    Raises InvalidInput where the address, the key or the time limit cannot be used."""
    url, _, model = spec.strip().partition("#")
    # A key out of a file ends with a line break, which no header can carry.
    return checked(
        Endpoint(url.rstrip("/"), model.strip(), api_key.strip(), timeout_s, dialect.strip())
    )


def checked(at: Endpoint) -> Endpoint:
    """Return the endpoint as it is, or raise InvalidInput with what would be right."""
    _check_url(at.url)
    if not (at.api_key.isascii() and at.api_key.isprintable()):
        raise InvalidInput(
            f"the api key for {without_query(at.url)} has characters that no header can carry;"
            " give it as one line of plain letters, digits and signs"
        )
    if not 0 < at.timeout_s <= _LONGEST_TIMEOUT_S:
        raise InvalidInput(
            f"the time limit {at.timeout_s!r} cannot be used; give seconds greater than 0"
            f" and at most {_LONGEST_TIMEOUT_S:g}"
        )
    return at


def _check_url(url: str) -> None:
    shown = _without_login(url)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(
            f"the host or port in {shown!r} cannot be read; a port is a number"
            f" from 1 to 65535, as in {_EXAMPLE}"
        ) from None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            f"the address {shown!r} has a name or password before the host;"
            " remove them and give the key by the api key setting"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidInput(
            f"{shown!r} is not the address of a model; it starts with http:// or"
            f" https:// and a host, as in {_EXAMPLE}"
        )
    if port == 0:
        raise InvalidInput(f"port 0 in {shown!r} cannot be used; a port is 1 to 65535")
    if not (parts.path + parts.query).isascii() or any(
        sign.isspace() or not sign.isprintable() for sign in url
    ):
        raise InvalidInput(
            f"the address {shown!r} has spaces or letters that cannot be sent; write them"
            " as %20 and the like"
        )


def _without_login(url: str) -> str:
    start, slashes, rest = without_query(url).partition("//")
    if not slashes:
        start, rest = "", start
    host, slash, path = rest.partition("/")
    return start + slashes + host.rpartition("@")[2] + slash + path


def with_path(url: str, path: str) -> str:
    return urlsplit(url)._replace(path=path).geturl()


def path_of(url: str) -> str:
    return urlsplit(url).path.rstrip("/")


def full_address(url: str, path: str) -> str:
    """Return the full address for a host, a base such as …/v1, or the full address itself."""
    base = path_of(url)
    return url if base.endswith(path) else with_path(url, (base or "/v1") + path)


def without_query(url: str) -> str:
    """Return an address for messages: what follows a `?` may be a secret."""
    return url.partition("?")[0]


def is_loopback(url: str) -> bool:
    """True when the address is on this machine, where no proxy is needed."""
    import ipaddress

    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _retry_s(header: str) -> float:
    """Return the seconds that a `Retry-After` asks for, as a number or as a date; 0 for neither."""
    from email.utils import parsedate_to_datetime

    try:
        return max(float(header), 0.0) if math.isfinite(float(header)) else 0.0
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return 0.0


def error_message(answer: Any) -> str:
    """Return the message of an error in any of the shapes servers give it, or an empty text."""
    if isinstance(answer, dict):
        for name in ("error", "message", "detail", "msg"):
            if name in answer:
                return error_message(answer[name])
        return ""
    if isinstance(answer, list):
        return "; ".join(filter(None, map(error_message, answer)))
    return answer if isinstance(answer, str) else ""


class _Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


class _TooLong(ValueError):
    """The answer has more than `_MAX_BYTES`."""


def _exchange(request: Request, left_s: float, timeout_s: float) -> _Answer:
    """Send a request in another thread and wait no longer than `left_s`.
    A socket time-out covers neither the name lookup nor a server that sends a byte now and
    then."""
    import http.client

    url = without_query(request.full_url)
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


def _transfer(request: Request, left_s: float, given_up: threading.Event) -> _Answer:
    import http.client
    from urllib.request import HTTPErrorProcessor, ProxyHandler, build_opener

    class AsItIs(HTTPErrorProcessor):
        """Returns errors and redirects as answers: a redirect would take the key along."""

        def http_response(self, request: Any, response: Any) -> Any:
            return response

        https_response = http_response

    handlers: list[Any] = [AsItIs()]
    if is_loopback(request.full_url):
        handlers.append(ProxyHandler({}))
    with build_opener(*handlers).open(request, timeout=left_s) as response:
        body = bytearray()
        # What has arrived, not a full block: only so is giving up noticed between two bytes.
        while not given_up.is_set() and (block := response.read1(_BLOCK)):
            body += block
            if len(body) > _MAX_BYTES:
                raise _TooLong
        if response.length:
            raise http.client.IncompleteRead(b"")
        return _Answer(response.status, response.headers, bytes(body))


def _complaint(url: str, error: Exception) -> str:
    """Return what went wrong on the way to an answer and back."""
    import http.client
    from urllib.error import URLError

    reason = getattr(error, "reason", error)
    if isinstance(error, _TooLong):
        return (
            f"{url} sent more than {_MAX_BYTES >> 20} MB, which no answer should need; check that"
            " the address is that of a model"
        )
    if isinstance(reason, (http.client.IncompleteRead, ConnectionError)) and not isinstance(
        reason, ConnectionRefusedError
    ):
        return f"{url} closed the connection before its answer was complete"
    if isinstance(error, URLError):
        return f"Cannot connect to {url} ({reason}); is the server running there?"
    if isinstance(error, http.client.HTTPException):
        return f"{url} does not answer as a web server does; check the address"
    if isinstance(error, OSError):
        return f"{url} cannot be reached: {reason}"
    return f"{url} cannot be called: the address or the api key has characters that cannot be sent"
