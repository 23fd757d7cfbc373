"""Second process of these tests: `python worker.py PATH`, drawing a fact from each message."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
sys.path.insert(0, str(Path(__file__).parent))

from talks import offer, says

import scrubjay
from scrubjay.conversations.extraction import run as extract


class Writer:
    """Says of every turn that it was told; it takes a moment, in which it may be killed."""

    name = "writer"

    def complete(self, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """Offer one fact a turn."""
        time.sleep(0.02)
        conversation = prompt.rpartition("Conversation:")[2]
        asked = re.search(r"facts of the turns ([\d, ]+);", prompt)
        assert asked
        numbers = set(asked[1].split(", "))
        return says(
            *(
                offer(int(number), f"thing{n}", f"the user likes thing{n}")
                for number, n in re.findall(r"\[(\d+)\] user: .*thing(\d+)", conversation)
                if number in numbers
            )
        )


def main(path: str) -> None:
    """Draw until nothing waits, and say so."""
    # So that the test need not wait until a dead process's claims run out.
    extract.TIME_LIMIT_S, extract._LEASE_SLACK_S = 0.4, 0.0
    with scrubjay.open(path, embedder=False, generator=Writer()) as store:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while store.extract().left:
            time.sleep(0.02)
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main(sys.argv[1])
