"""Check the embedder: whether it is here, and whether it embeds a sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter

from scrubjay.config import Settings, embedder_access
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.bundled import ENCODER, how_to_install, not_installed
from scrubjay.models.download.http_file import sha256_of
from scrubjay.models.download.pull import ModelCard, folder, is_cached
from scrubjay.models.guard import GuardedEmbedder, is_ready
from scrubjay.models.registry import DEFAULT, NONE, card_of, is_remote, load_embedder
from scrubjay.ops.doctor import Finding
from scrubjay.runtime.command_hints import to_fetch, to_type

_SENTENCE = "A scrub jay remembers where it hid each acorn."


def check_embedder(settings: Settings, embedder: GuardedEmbedder | None) -> Iterator[Finding]:
    """Check the embedder of an open store, or that of the settings; nothing is downloaded.
    A model on a server is asked for the vector of one sentence."""
    try:
        embedder = embedder or configured(settings)
    except (InvalidInput, NotFound, Unavailable) as error:
        yield Finding("model", "failed", str(error), _set_default())
        return
    found = _model(embedder, settings)
    yield found
    if settings.offline:
        # Only a problem where a model is missing.
        detail = "SCRUBJAY_OFFLINE is set: nothing is downloaded"
        missing = found.state == "missing"
        fix = found.fix if missing else ""
        yield Finding("network", "degraded" if missing else "ok", detail, fix)
    else:
        yield Finding("network", "ok", "allowed, for models only")
    if found.state == "ok":
        yield _embed(embedder)
    if embedder.languages:
        yield _languages(embedder, settings)


def configured(settings: Settings) -> GuardedEmbedder:
    """Return the embedder of the settings, not loaded; raises as `load_embedder` does."""
    access = settings.embedder_access
    if access.spec != settings.embedder:
        access = embedder_access(settings.embedder)
    return GuardedEmbedder(load_embedder(access))


def index_of(settings: Settings) -> str:
    """Return the name under which a store has the vectors of the configured embedder."""
    try:
        return configured(settings).name
    except (InvalidInput, NotFound, Unavailable):  # another check reports it
        return settings.embedder


def _model(embedder: GuardedEmbedder, settings: Settings) -> Finding:
    card = card_of(embedder.name)
    if card is not None and is_cached(card):
        return _checksums(card)
    if is_ready(embedder.inner):
        where = "on a server" if is_remote(embedder.name) else "on this machine"
        return Finding("model", "ok", f"{embedder.name}, {where}")
    if embedder.name == ENCODER.index:
        return Finding("model", "missing", not_installed(ENCODER.name), how_to_install())
    detail = f"{embedder.name} is not on this machine"
    if card is not None:
        detail = f"{card.name} is not in {folder(card)}"
    return Finding("model", "missing", detail, to_fetch(settings.db_given))


def _checksums(card: ModelCard) -> Finding:
    path = folder(card)
    damaged = [file.name for file in card.files if sha256_of(path / file.name) != file.sha256]
    if damaged:
        detail = f"{', '.join(damaged)} in {path} is damaged"
        return Finding("model", "failed", detail, to_type("models pull"))
    return Finding("model", "ok", f"{card.name} in {path}, checksums match")


def _embed(embedder: GuardedEmbedder) -> Finding:
    """Embed one sentence, and report dimensions, time, device and tokens, or the reason."""
    remote = is_remote(embedder.name)
    try:
        if not remote:
            embedder.embed([_SENTENCE], as_query=True)  # loads it, which is not counted
        sent, started = embedder.tokens_sent, perf_counter()
        width = embedder.embed([_SENTENCE], as_query=True).shape[1]
        took_ms = (perf_counter() - started) * 1000
    except Unavailable as error:
        fix = "start the server or correct the setting, then: scrubjay doctor" if remote else ""
        return Finding("embedding", "degraded" if remote else "failed", str(error), fix)
    detail = f"{embedder.name}: {width} dimensions, {took_ms:.1f} ms for one sentence"
    if remote:
        estimated = " (estimated)" if getattr(embedder.inner, "is_estimated", False) else ""
        detail += f", {embedder.tokens_sent - sent} tokens{estimated}"
    return Finding("embedding", "ok", detail + _device(embedder))


def _languages(embedder: GuardedEmbedder, settings: Settings) -> Finding:
    """Say which languages are searched by meaning; a missing multilingual model is no failure."""
    own, name = ", ".join(embedder.languages), settings.multilingual
    if name == NONE:
        return Finding("languages", "ok", f"by meaning: {own}; the setting multilingual is none")
    try:
        further = GuardedEmbedder(load_embedder(name))
    except (InvalidInput, NotFound, Unavailable) as error:
        return Finding("languages", "failed", f"multilingual: {error}", "")
    if is_ready(further.inner):
        covered = ", ".join(sorted({*embedder.languages, *further.languages}))
        return Finding("languages", "ok", f"by meaning: {covered}, by {further.name}")
    more = f"{further.name} is not on this machine; to get it: {to_fetch(settings.db_given)}"
    return Finding("languages", "ok", f"by meaning: {own}; {more}")


def _device(embedder: GuardedEmbedder) -> str:
    used = getattr(embedder.inner, "device", "")
    if not used:
        return ""
    from scrubjay.models.device import choose_device

    chosen = choose_device()
    why = chosen.why if used == chosen.name else f"{chosen.name} does not work here"
    return f", on the device {used} ({why})"


def _set_default() -> str:
    name = "SCRUBJAY_EMBEDDER"
    return f"set {name}={DEFAULT}" if os.name == "nt" else f"export {name}='{DEFAULT}'"
