"""A model that writes, behind any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.endpoint import checked, path_of, shown, with_path

if TYPE_CHECKING:
    from scrubjay.models.endpoint import Endpoint
    from scrubjay.models.http_json import Refused

_PATH = "/chat/completions"
_FORMATS = ("json_schema", "json_object", "")
"""Ways to ask for JSON, the strictest first; the last is not to ask at all."""


class _Manners(NamedTuple):
    """What one server takes: found by asking, then kept."""

    format: str = _FORMATS[0]
    limit: str = "max_tokens"
    temperature: bool = True


class RemoteGenerator:
    """Writes text by a model behind HTTP: Ollama, llama.cpp, vLLM, LM Studio, OpenAI and others.

    Servers differ in what they take, so a refused request is sent again in a simpler form; what
    worked is remembered, and the next call is one request. All of it shares one time limit.
    """

    def __init__(self, at: Endpoint, *, most_tokens: int = 400) -> None:
        if most_tokens < 1:
            raise InvalidInput(f"most_tokens is {most_tokens}; it should be at least 1")
        self.endpoint = checked(at)
        self.most_tokens = most_tokens
        self.name = at.name
        self.key = at.key
        self.timeout_s = at.timeout_s
        self._url = _address(at.url)
        self._manners = _Manners()

    def __repr__(self) -> str:
        return f"RemoteGenerator({self.endpoint!r})"

    def patient(self, most_tokens: int, timeout_s: float) -> RemoteGenerator:
        """Return the same model for work that nobody waits for: longer answers, and time for them."""
        timeout_s = max(timeout_s, self.timeout_s)
        return RemoteGenerator(
            self.endpoint._replace(timeout_s=timeout_s),
            most_tokens=max(most_tokens, self.most_tokens),
        )

    def complete(self, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """Return what the model writes, as JSON of the schema where the server can promise that."""
        # Imported late: who never asks pays for no HTTP client.
        from scrubjay.models.http_json import Refused, ask

        started = time.monotonic()
        manners = self._manners
        while True:
            try:
                answer = ask(
                    self.endpoint, self._url, self._payload(prompt, schema, manners), since=started
                )
            except Refused as error:
                simpler = _simpler(manners, error, with_schema=schema is not None)
                if simpler is None:
                    raise
                manners = simpler
            else:
                self._manners = manners
                return self._text(answer)

    def _payload(
        self, prompt: str, schema: dict[str, object] | None, manners: _Manners
    ) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "messages": [{"role": "user", "content": prompt}],
            "stream": False,
            manners.limit: self.most_tokens,
        }
        if self.endpoint.model:
            payload["model"] = self.endpoint.model
        if manners.temperature:
            payload["temperature"] = 0
        if schema is not None and manners.format:
            payload["response_format"] = {"type": manners.format}
            if manners.format == "json_schema":
                payload["response_format"]["json_schema"] = {"name": "answer", "schema": schema}
        return payload

    def _text(self, answer: Any) -> str:
        """Return the words of an answer, or raise `Unavailable` saying why there are none."""
        from scrubjay.models.http_json import message_in, shortened

        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text = _without_thoughts(_words(message.get("content")))
            refusal, reason = message.get("refusal"), choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError):
            said = shortened(message_in(answer), api_key=self.endpoint.api_key)
            raise Unavailable(
                f"{shown(self._url)} answered without choices[0].message, so not as chat"
                " completions do; check the address" + (f"; it says: {said}" if said else "")
            ) from None
        if text:
            return text
        if isinstance(refusal, str) and refusal:
            why = f"the model refused: {refusal}"
        elif reason == "length":
            why = (
                f"its {self.most_tokens} tokens were used up before the answer began;"
                " allow more, or use a model that does not think first"
            )
        else:
            why = f"its answer is empty (finish_reason {reason!s})"
        raise Unavailable(
            f"{self.name} at {shown(self._url)} wrote nothing: "
            + shortened(why, api_key=self.endpoint.api_key)
        )


def _address(url: str) -> str:
    """Return the full address for a host, a base such as …/v1, or the full address itself."""
    path = path_of(url)
    if path.endswith(_PATH):
        return url
    return with_path(url, (path or "/v1") + _PATH)


def _simpler(manners: _Manners, error: Refused, *, with_schema: bool) -> _Manners | None:
    """Return what to try after a refusal; nothing where it cannot lie with our manners."""
    if error.status not in (400, 422):
        return None
    # OpenAI's newer models know only the new name, and only their own temperature.
    if manners.limit == "max_tokens" and "max_tokens" in error.body:
        return manners._replace(limit="max_completion_tokens")
    if manners.temperature and "temperature" in error.body:
        return manners._replace(temperature=False)
    if with_schema and manners.format:
        return manners._replace(format=_FORMATS[_FORMATS.index(manners.format) + 1])
    return None


def _words(content: Any) -> str:
    """Return a message's text, whether it comes as one or in parts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(_words(part.get("text")) for part in parts)
    return content if isinstance(content, str) else ""


def _without_thoughts(text: str) -> str:
    """Return what follows a leading <think> block; one that never ends leaves nothing.

    Some templates open the block in the prompt, so that only its end is in the answer.
    """
    text = text.strip()
    thoughts, end, rest = text.partition("</think>")
    if text.startswith("<think>"):
        return rest.strip()
    if end and "<think>" not in thoughts and not text.startswith(("{", "[")):
        return rest.strip()
    return text
