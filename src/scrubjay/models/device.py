"""Device of local models: which of onnxruntime's execution providers runs them, and why."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from scrubjay.config import device
from scrubjay.errors import Unavailable

log = logging.getLogger(__name__)

CPU = "CPUExecutionProvider"
PROVIDERS = {
    "cuda": "CUDAExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "cpu": CPU,
}
# Not CoreML: it is part of every wheel for macOS, compiles a graph again for each length of text, and may
# compute in 16 bits, so that the default would differ between machines.
_AUTOMATIC = ("cuda", "directml")
# Both packages have the same module: the one for the CPU has to go, and takes the files of the other along.
_REPLACE = "pip uninstall -y onnxruntime && pip install --force-reinstall --no-deps"
_TO_INSTALL = {
    "cuda": f'install it with: pip install "scrubjay[cuda]" && {_REPLACE} onnxruntime-gpu',
    "directml": f"install it with: {_REPLACE} onnxruntime-directml",
    "coreml": "onnxruntime has it on macOS only",
}


class Device(NamedTuple):
    """The device that is used, its execution provider, and the reason."""

    name: str
    provider: str
    why: str


def choose_device() -> Device:
    """Return the device of the settings; Unavailable if onnxruntime has no provider for it."""
    import onnxruntime as ort

    chosen, available = device(), ort.get_available_providers()
    if chosen == "auto":
        for name in _AUTOMATIC:
            if PROVIDERS[name] in available:
                return Device(
                    name, PROVIDERS[name], "device = auto: onnxruntime has a provider for it"
                )
        return Device("cpu", CPU, "device = auto: onnxruntime has no provider for a GPU")
    if PROVIDERS[chosen] not in available:
        raise Unavailable(
            f"device is {chosen}, but the installed onnxruntime has no {PROVIDERS[chosen]};"
            f" {_TO_INSTALL[chosen]}; or set device to auto or cpu"
        )
    return Device(chosen, PROVIDERS[chosen], f"device = {chosen}")


def open_on_device(
    name: str, open_with: Callable[[list[str]], Any], errors: tuple[type[Exception], ...]
) -> Any:
    """Open a session on the device of the settings.
    With `auto`, the CPU is used where the GPU does not work. A GPU that was chosen has to work."""
    chosen = choose_device()
    if chosen.provider == CPU:
        return _open(name, open_with, errors, [CPU])
    _load_libraries(chosen)
    try:
        session = _open(name, open_with, errors, [chosen.provider, CPU])
        # Without a working driver onnxruntime only writes to its log, and uses the CPU.
        if chosen.provider in session.get_providers():
            return session
        why = f"{chosen.provider} cannot be used: its libraries or the driver do not load"
    except Unavailable as error:
        why = str(error)
    if device() != "auto":
        raise Unavailable(f"{name} cannot run on the device {chosen.name}: {why}")
    log.warning("%s runs on the CPU: %s", name, why)
    return _open(name, open_with, errors, [CPU])


def _open(
    name: str,
    open_with: Callable[[list[str]], Any],
    errors: tuple[type[Exception], ...],
    providers: list[str],
) -> Any:
    try:
        return open_with(providers)
    except errors as error:
        raise Unavailable(f"onnxruntime cannot load {name}: {error}") from error


def _load_libraries(chosen: Device) -> None:
    """Load the libraries of CUDA where they are Python packages, as `onnxruntime-gpu` needs it."""
    import io
    from contextlib import redirect_stdout

    import onnxruntime as ort

    if chosen.name == "cuda" and hasattr(ort, "preload_dlls"):
        with redirect_stdout(io.StringIO()) as said:  # it prints what it does not find
            ort.preload_dlls()
        log.debug("%s", said.getvalue())


def device_of(session: Any) -> str:
    """Return the name of the device that a session uses."""
    first = session.get_providers()[0]
    return next((name for name, provider in PROVIDERS.items() if provider == first), first)
