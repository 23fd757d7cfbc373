"""Sample memories of an invented team with an invented product, and two questions to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One thing the team remembers."""

    text: str
    type: str
    topics: tuple[str, ...]
    days_ago: int

    def fields(self, now: datetime) -> dict[str, Any]:
        """Return what `add_many` takes."""
        return {
            "text": self.text,
            "type": self.type,
            "topics": self.topics,
            "created_at": now - timedelta(days=self.days_ago),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the beginning of the memory that answers it, and what it shows."""

    text: str
    answer: str
    shows: str
    shares_no_word: bool = False


SAMPLES = (
    Sample("Oriel must never eat shrimp, crab or mussels: her throat swells within minutes.",
           "fact", ("oriel", "health"), 210),
    Sample("Tamsin prefers Go for command-line tools and Python for everything with data.",
           "preference", ("tamsin", "languages"), 180),
    Sample("Bram works from Lisbon on Mondays and is offline until ten in the morning.",
           "fact", ("bram", "calendar"), 95),
    Sample("We store invoices in Postgres, because an audit has to join them with orders.",
           "decision", ("database", "billing"), 160),
    Sample("Lantern raises E_CACHE_4417 when two workers warm the same shard; restart the warmer "
           "with --single to clear it.", "fact", ("lantern", "errors"), 33),
    Sample("E_CACHE_4471 is harmless: the shard was evicted before anyone read it.",
           "fact", ("lantern", "errors"), 31),
    Sample("Releases leave on Tuesdays. Nothing is deployed after Thursday noon.",
           "decision", ("release",), 140),
    Sample("Keep the dashboard dark by default; Wren gets headaches from white screens.",
           "preference", ("dashboard", "wren"), 77),
    Sample("Rotate the signing key of the mobile app before the first of March.",
           "task", ("security", "mobile"), 12),
    Sample("The nightly import of the harbour feed takes forty minutes since the schema grew.",
           "fact", ("imports", "performance"), 26),
    Sample("Retry a payment at most three times, then hand it to a person.",
           "decision", ("billing", "retries"), 118),
    Sample("Ask Quill to review everything that touches the scheduler.",
           "preference", ("review", "quill"), 54),
    Sample("The staging cluster sleeps from eight in the evening to save money.",
           "fact", ("staging", "costs"), 63),
    Sample("parse_tide_table() counts stations from zero, the printed almanac from one.",
           "fact", ("code", "tides"), 41),
    Sample("Feature flags are removed two sprints after they reach everybody.",
           "decision", ("flags", "process"), 132),
    Sample("Write the handbook for the new pump controller.",
           "task", ("docs", "hardware"), 8),
    Sample("Tamsin likes short pull requests and answers them before breakfast.",
           "preference", ("tamsin", "review"), 90),
    Sample("The customer in Bergen pays yearly and wants a paper contract.",
           "fact", ("customers", "contracts"), 201),
    Sample("Alerts go to the person on duty first and to the channel after ten minutes.",
           "decision", ("alerts", "on-call"), 47),
    Sample("Replace the hand-written retry loop in the uploader with the shared one.",
           "task", ("uploader", "retries"), 15),
    Sample("The old search box dropped every query that held a quotation mark.",
           "fact", ("bugs", "interface"), 250),
    Sample("Bram wants diagrams before prose in any design document.",
           "preference", ("bram", "design"), 70),
    Sample("Sensor clocks drift by about two seconds a day and are set right at midnight.",
           "fact", ("sensors", "time"), 36),
    Sample("We name services after lighthouses, and tables after what a row is.",
           "decision", ("names",), 300),
)  # fmt: skip

QUESTIONS = (
    Question(
        "who is allergic to seafood?",
        SAMPLES[0].text,
        "by meaning: the answer shares no word with the question",
        shares_no_word=True,
    ),
    Question("E_CACHE_4417", SAMPLES[4].text, "by an exact identifier: one digit decides"),
)
