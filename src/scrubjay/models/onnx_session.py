"""onnxruntime as every local model here uses it: on the CPU, quiet, its errors made ours."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_MOST_THREADS = 8
_FATAL = 4  # below that onnxruntime writes to stderr what it also raises


def open_session(
    name: str, graph: bytes | Path, *, threads: int, weights: Path | None = None
) -> Any:
    """Open a graph, from bytes or from its file; `weights` is where a graph in bytes finds its own.

    Raises `Unavailable` when onnxruntime is not there or refuses the graph.
    """
    keep_quiet()
    with packages_of(name):
        import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = _FATAL
    options.intra_op_num_threads = threads
    # Threads that spin while they wait cost up to half of the CPU time of short texts.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if weights is not None:
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(weights))
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except runtime_errors() as error:
        raise Unavailable(f"onnxruntime cannot load {name}: {error}") from error


def keep_quiet() -> None:
    """Tell onnxruntime not to report to its maker; it hears that only before it is imported.

    Since 1.29 it does, and on import it writes an id of the device and a database into the user's cache.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


@contextmanager
def packages_of(name: str) -> Iterator[None]:
    """Turn the failed import of a package that a model needs into `Unavailable`."""
    try:
        yield
    except ImportError as error:
        raise Unavailable(
            f"{name} needs a package that does not load ({error}); "
            "install it with: pip install onnxruntime tokenizers"
        ) from error


def runtime_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: its errors have no base class of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [kind for kind in vars(state).values() if isinstance(kind, type)]
    return (RuntimeError, ValueError, *(kind for kind in own if issubclass(kind, Exception)))


def batches(lengths: Sequence[int], most_tokens: int) -> Iterator[list[int]]:
    """Yield positions in groups of similar length that stay, with padding, within the budget."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > most_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def sensible_threads() -> int:
    """Return the cores this process may use, but no more than a model this small can feed."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, _MOST_THREADS))
