"""Change the embedding model of a store, and remove the indexes of models that are not in use."""

from __future__ import annotations

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.runtime.progress import Progress
from scrubjay.storage.model_switch import BUILDING, IN_USE
from scrubjay.store.context import Context
from scrubjay.types.reports import ModelChange, PrunedModel
from scrubjay.write.embedding import Embedding


def use_model(
    context: Context, name: str, wait: bool, timeout_s: float | None, progress: Progress | None
) -> ModelChange:
    """Change to another model; its index is built in the background, or now with `wait`."""
    if not isinstance(name, str):
        raise InvalidInput(f"the model is {name!r}; give its name, folder or URL")
    context.db.check_writable()
    embedding = context.embedding
    before = None if embedding.embedder is None else embedding.embedder.name
    model = embedding.change(name)
    if wait:
        embedding.wait(timeout_s, progress)
    change = change_under_way(embedding)
    if change is not None and change.model == model:
        return change._replace(before=before)
    main, _ = embedding.switch.chosen()
    if main is None or main.name != model:
        raise Unavailable(f"the index of {model} was removed by `models prune` while it was built")
    total = embedding.switch.count_chunks()
    left, failed = embedding.queue.left(model)
    return ModelChange(model, IN_USE, max(total - left, 0), total, failed, before)


def prune_models(context: Context, name: str | None) -> list[PrunedModel]:
    """Remove kept and unfinished indexes, or the one of that name."""
    if name is not None and not isinstance(name, str):
        raise InvalidInput(f"the model is {name!r}; give its name")
    context.db.check_writable()
    context.embedding.activate()  # so that what this process uses is known to be in use
    pruned = [PrunedModel(*index) for index in context.embedding.switch.prune(name)]
    context.embedding.follow()
    return pruned


def change_under_way(embedding: Embedding) -> ModelChange | None:
    """Return how far the index of the next model is; None without one."""
    _, coming = embedding.switch.chosen()
    built = None if coming is None else embedding.switch.progress(coming.name)
    if coming is None or built is None:
        return None
    reason = embedding.next.outage if embedding.next is not None else ""
    if not reason and built.total - built.done <= built.failed and built.failed:
        reason = "; ".join(embedding.queue.failures(coming.name))
    return ModelChange(coming.name, BUILDING, *built, reason=reason)
