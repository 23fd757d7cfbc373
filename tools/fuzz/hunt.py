"""`python -m tools.fuzz.hunt NAME SECONDS FOLDER`: let atheris look for inputs that break one target.

It begins with FOLDER/corpus and adds to it what reaches new code. Each different failure is written into
FOLDER/found with its traceback, and the search goes on; it ends at an input that takes too long.
"""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import Any

SLOW_S = 2.0  # of CPU time, instrumented
_HANG_S = 30


class TooSlow(Exception):
    """An input took too long."""


class Hunt:
    """One target with its store, which is opened anew now and then, and what was found."""

    def __init__(self, target: Any, found: Path) -> None:
        self._target = target
        self._found = found
        self._stack = ExitStack()
        self._check = self._stack.enter_context(target.open())
        self._left = target.renewed

    def __call__(self, data: bytes) -> None:
        """Check one input, and write down why it fails."""
        self._left -= 1
        if self._left < 0:
            self.renew()
        begun = time.process_time()
        try:
            self._check(data)
            took_s = time.process_time() - begun
            if took_s > SLOW_S:
                raise TooSlow(f"{took_s:.1f} s of CPU time")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self._write(data, error)
            self.renew()

    def renew(self) -> None:
        """Open the target again."""
        self._stack.close()
        self._check = self._stack.enter_context(self._target.open())
        self._left = self._target.renewed

    def _write(self, data: bytes, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [one for one in frames if "scrubjay" in one.filename or "fuzz" in one.filename]
        last = ours[-1] if ours else None
        where = f"{Path(last.filename).name}:{last.lineno}" if last else ""
        name = hashlib.sha256(f"{type(error).__name__} {where}".encode()).hexdigest()[:12]
        file = self._found / name
        if file.exists() and file.stat().st_size <= len(data):
            return
        file.write_bytes(data)
        text = "".join(traceback.format_exception(error))
        file.with_suffix(".txt").write_text(text, encoding="utf-8", errors="backslashreplace")


def main(name: str, seconds: str, folder: Path) -> None:
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed; install it with: pip install --group fuzz")
    corpus, found = folder / "corpus", folder / "found"
    for one in (corpus, found):
        one.mkdir(parents=True, exist_ok=True)
    # As long as the search goes on: many modules are imported by the first call that needs them.
    with atheris.instrument_imports(include=["scrubjay"]):
        from tools.fuzz.targets import TARGETS

        target = TARGETS[name]
        words = folder / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        options = (
            f"-max_total_time={seconds}",
            f"-timeout={_HANG_S}",
            f"-max_len={target.max_bytes}",
            f"-dict={words}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            "-rss_limit_mb=4096",
            "-use_value_profile=0",
        )
        atheris.Setup([sys.argv[0], *options, str(corpus)], Hunt(target, found))
        atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
