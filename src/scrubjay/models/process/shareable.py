"""Base of a local model that the model process may run instead of this process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.errors import Unavailable
from scrubjay.models.process import caller
from scrubjay.models.process.messages import BadMessage, arrays_in
from scrubjay.models.process.place import can_share

if TYPE_CHECKING:
    from scrubjay.models import Matrix
    from scrubjay.models.process.caller import Reply


class Shareable:
    """A model that is loaded where it first answers: in the model process, or else here.
    Only a model that the registry made is shared: the model process makes it from the same name."""

    _loaded: Any = None
    """What runs the model in this process."""
    _wanted: Mapping[str, Any] | None = None
    """How the model process finds this model; None for one that is not shared."""
    _elsewhere: Mapping[str, Any] | None = None
    """What the model process says about it, once it is loaded there."""
    _fingerprint = ""

    def load(self) -> None:
        """Load the model now rather than later; raises Unavailable if it cannot."""
        raise NotImplementedError

    def share_as(self, role: str, **made_from: Any) -> None:
        """Share this model as one that the registry makes in that role from these arguments."""
        self._wanted = {"role": role, **made_from}

    def model_files(self) -> Sequence[Path]:
        """Return the files of the model, all of them here."""
        raise NotImplementedError

    def learn(self, about: Mapping[str, Any]) -> None:
        """Take over what is known of a model only once it is loaded."""

    def about(self) -> dict[str, Any]:
        """Return what `learn` takes over, of a loaded model."""
        return {"device": getattr(self, "device", "")}

    def load_elsewhere(self) -> bool:
        """Load the model in the model process; False where it has to be loaded here."""
        if self._elsewhere is not None:
            return True
        reply = self._ask("load", {})
        if reply is None or not isinstance(reply.result, dict):
            return False
        self.learn(reply.result)
        self._elsewhere = reply.result
        return True

    def answer(self, call: str, **arguments: Any) -> Reply | None:
        """Return the answer of the model process; None where the model has to answer here.
        A model that was loaded here stays here."""
        if self._loaded is not None or self._wanted is None or not self.load_elsewhere():
            return None
        reply = self._ask(call, arguments)
        if reply is None:
            self._elsewhere = None
        return reply

    def encoded(
        self, texts: Sequence[str], *, as_query: bool, keep_tokens: bool
    ) -> tuple[Matrix, list[Matrix]] | None:
        """Return the vectors of an embedder, and its token vectors, from the model process."""
        if not texts:
            return None
        reply = self.answer(
            "encode", texts=list(texts), as_query=as_query, keep_tokens=keep_tokens
        )
        if reply is None:
            return None
        try:
            vectors, *rows = arrays_in(reply.header, reply.content)
            return vectors, _parts(rows[0], reply.result) if rows else []
        except (BadMessage, TypeError, ValueError):
            return None

    def _ask(self, call: str, arguments: Mapping[str, Any]) -> Reply | None:
        if self._loaded is not None or self._wanted is None or not can_share():
            return None
        try:
            self._fingerprint = self._fingerprint or fingerprint(self.model_files())
        except (OSError, Unavailable):  # loading it here says what is missing
            return None
        wanted = {**self._wanted, "files": self._fingerprint}
        return caller.ask({"model": wanted, "call": call, "arguments": arguments})


def _parts(rows: Matrix, lengths: Sequence[int]) -> list[Matrix]:
    import numpy as np

    return np.split(rows, np.cumsum(lengths)[:-1])


def fingerprint(files: Sequence[Path]) -> str:
    """Return what tells these files from others of the same names.
    Their checksums would take longer than to load them; a replaced file has another inode or time."""
    found = [(str(path), path.stat()) for path in files]
    state = [[path, one.st_size, one.st_mtime_ns, one.st_ino] for path, one in found]
    return hashlib.sha256(json.dumps(state).encode("utf-8", "replace")).hexdigest()[:24]
