"""Remote generator: a language model behind OpenAI's chat completions API."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.endpoint import (
    Endpoint,
    Refused,
    checked,
    error_message,
    full_address,
    without_query,
)

_PATH = "/chat/completions"
_FORMATS = ("json_schema", "json_object", "")  # of JSON, the strictest first; "" asks for none


class _RequestForm(NamedTuple):
    """What one server accepts, as its answers showed."""

    format: str = _FORMATS[0]
    limit: str = "max_tokens"
    temperature: bool = True


class RemoteGenerator:
    """Writes text by a model behind HTTP: Ollama, llama.cpp, vLLM, LM Studio, OpenAI and others.
    Servers differ in what they accept, so a refused request is sent again in a simpler form; what
    worked is remembered, and the next call is one request. All requests share one time limit."""

    def __init__(self, at: Endpoint, *, most_tokens: int = 400) -> None:
        if most_tokens < 1:
            raise InvalidInput(f"most_tokens is {most_tokens}; it should be at least 1")
        self.endpoint = checked(at)
        self.most_tokens = most_tokens
        self.name = at.name
        self.key = at.key
        self.timeout_s = at.timeout_s
        self._url = full_address(at.url, _PATH)
        self._form = _RequestForm()

    def __repr__(self) -> str:
        return f"RemoteGenerator({self.endpoint!r})"

    def patient(self, most_tokens: int, timeout_s: float) -> RemoteGenerator:
        """Return the same model for background work: longer answers, and time for them."""
        patient = self.endpoint._replace(timeout_s=max(timeout_s, self.timeout_s))
        return RemoteGenerator(patient, most_tokens=max(most_tokens, self.most_tokens))

    def complete(self, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """Return what the model writes, as JSON of the schema where the server can promise that."""
        started = time.monotonic()
        form = self._form
        while True:
            payload = self._payload(prompt, schema, form)
            try:
                answer = self.endpoint.post(self._url, payload, since=started)
            except Refused as error:
                simpler = _simpler(form, error, with_schema=schema is not None)
                if simpler is None:
                    raise
                form = simpler
            else:
                self._form = form
                return self._text(answer)

    def _payload(
        self, prompt: str, schema: dict[str, object] | None, form: _RequestForm
    ) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "messages": [{"role": "user", "content": prompt}],
            "stream": False,
            form.limit: self.most_tokens,
        }
        if self.endpoint.model:
            payload["model"] = self.endpoint.model
        if form.temperature:
            payload["temperature"] = 0
        if schema is not None and form.format:
            payload["response_format"] = {"type": form.format}
            if form.format == "json_schema":
                payload["response_format"]["json_schema"] = {"name": "answer", "schema": schema}
        return payload

    def _text(self, answer: Any) -> str:
        """Return the text of an answer, or raise Unavailable with the reason why there is none."""
        try:
            choice = answer["choices"][0]
            reply = choice["message"]
            text = _without_thoughts(_content(reply.get("content")))
            refusal, reason = reply.get("refusal"), choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError):
            message = self.endpoint.one_line(error_message(answer))
            raise Unavailable(
                f"{without_query(self._url)} answered without choices[0].message, so not as chat"
                " completions do; check the address" + (f"; it says: {message}" if message else "")
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
            f"{self.name} at {without_query(self._url)} wrote nothing: "
            + self.endpoint.one_line(why)
        )


def _simpler(form: _RequestForm, error: Refused, *, with_schema: bool) -> _RequestForm | None:
    """Return the form to try after a refusal; None where the form is not the reason."""
    if error.status not in (400, 422):
        return None
    # OpenAI's newer models know only the new name, and only their own temperature.
    if form.limit == "max_tokens" and "max_tokens" in error.body:
        return form._replace(limit="max_completion_tokens")
    if form.temperature and "temperature" in error.body:
        return form._replace(temperature=False)
    if with_schema and form.format:
        return form._replace(format=_FORMATS[_FORMATS.index(form.format) + 1])
    return None


def _content(content: Any) -> str:
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(_content(part.get("text")) for part in parts)
    return content if isinstance(content, str) else ""


def _without_thoughts(text: str) -> str:
    """Return what follows a leading <think> block; one that never ends leaves nothing.
    Some templates open the block in the prompt, so that only its end is in the answer."""
    text = text.strip()
    thoughts, end, rest = text.partition("</think>")
    if text.startswith("<think>"):
        return rest.strip()
    if end and "<think>" not in thoughts and not text.startswith(("{", "[")):
        return rest.strip()
    return text
