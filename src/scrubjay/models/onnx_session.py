"""onnxruntime for local models: on the chosen device, quiet, with its errors raised as Unavailable."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay.errors import Unavailable
from scrubjay.models.device import open_on_device

if TYPE_CHECKING:
    from pathlib import Path

_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_MAX_THREADS = 8
_FATAL = 4  # below that onnxruntime writes to stderr what it also raises


def open_session(
    name: str,
    graph: bytes | Path,
    *,
    threads: int,
    weights: Path | None = None,
    operators: str = "",
) -> Any:
    """Open a graph, from bytes or from its file; `weights` is the folder of a graph in bytes, and
    `operators` a library with operators that onnxruntime does not have.
    Raises Unavailable when onnxruntime is not installed, or refuses the graph or the device."""
    disable_telemetry()
    with required_packages(name):
        import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = _FATAL
    options.intra_op_num_threads = threads
    # Threads that spin while they wait cost up to half of the CPU time of short texts.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if weights is not None:
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(weights))
    if operators:
        options.register_custom_ops_library(operators)
    source = graph if isinstance(graph, bytes) else str(graph)
    return open_on_device(
        name,
        lambda providers: ort.InferenceSession(source, options, providers=providers),
        runtime_errors(),
    )


def disable_telemetry() -> None:
    """Disable the telemetry of onnxruntime; it reads the variable only when it is imported.
    Since 1.29 it writes an id of the device and a database into the user's cache on import."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


@contextmanager
def required_packages(name: str) -> Iterator[None]:
    """Raise the failed import of a package that a model needs as Unavailable."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0] or "onnxruntime tokenizers"
        raise Unavailable(
            f"{name} needs a package that does not load ({error});"
            f" install it with: pip install {package}"
        ) from error


def runtime_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: its errors have no common base class."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [kind for kind in vars(state).values() if isinstance(kind, type)]
    return (RuntimeError, ValueError, *(kind for kind in own if issubclass(kind, Exception)))


def batches(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Yield positions in groups of similar length that stay, with padding, within `max_tokens`."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > max_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def depends_on_neighbours(path: Path, inputs: Collection[str]) -> bool:
    """True when texts in one batch would change each other's results.
    Without a mask a text sees its padding. A graph that quantizes as it runs takes its scale from
    the whole batch; the names of its operators stand in the file as they are."""
    import mmap

    if "attention_mask" not in inputs:
        return True
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(b"DynamicQuantize") >= 0


def as_declared(values: Mapping[str, Any], declared: Mapping[str, str]) -> dict[str, Any]:
    """Return the inputs that a graph declares, in the types that it declares."""
    import numpy as np

    kinds: dict[str, Any] = {
        "tensor(int32)": np.int32,
        "tensor(float)": np.float32,
        "tensor(float16)": np.float16,
        "tensor(bool)": np.bool_,
    }
    return {
        name: values[name].astype(kinds.get(kind, np.int64)) for name, kind in declared.items()
    }


def default_threads() -> int:
    """Return the number of cores this process may use, up to what a small model can feed."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, _MAX_THREADS))
