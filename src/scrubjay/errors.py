"""Everything scrubjay raises on purpose.

ScrubjayError
├── NotFound        no memory, collection, profile … of that name
├── InvalidInput    what was given, where, and what would be right
├── Unavailable     a model or an index does not answer: the only error a search forgives
│   └── MissingExtra    an optional package is not installed; carries the command that installs it
├── Locked          the store is encrypted and no key was given
└── StoreError      the record store cannot be read or written: fatal to the call, never to the data
    └── TimedOut        it stopped a statement that took too long; a search goes on with its other sources
"""


class ScrubjayError(Exception):
    """Base of all errors shown to a user; its text is one clear sentence."""


class NotFound(ScrubjayError):
    """Nothing is stored under that name; `of` is "memory" where an id leads nowhere.

    Each door knows where ids are listed, and says so: no sentence of the library fits them all.
    """

    def __init__(self, said: str, *, of: str = "") -> None:
        super().__init__(said)
        self.of = of


class InvalidInput(ScrubjayError, ValueError):
    """The input cannot be used; the text says what would be right."""


class Unavailable(ScrubjayError):
    """A model or an index is missing or does not answer."""


class MissingExtra(Unavailable):
    """An optional package is needed; `command` installs it."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what} is not installed. Install it with: {command}")
        self.what = what
        self.command = command


class Locked(ScrubjayError):
    """The store is encrypted and was opened without its key."""


class StoreError(ScrubjayError):
    """The record store cannot be opened, read or written."""


class TimedOut(StoreError):
    """The record store answers, but stopped a statement that took too long."""
