"""What a search did, looked up by the name of a stage."""

from __future__ import annotations


def steps(results):
    """Every step of the trace by its name, those inside others too."""
    found = {}

    def walk(some):
        for step in some:
            found[step.stage] = step
            walk(step.branches)

    walk(results.trace)
    return found
