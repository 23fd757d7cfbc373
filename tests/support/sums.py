"""The workings of a score, done again as with a pencil."""

from __future__ import annotations

import re
from math import exp, log, sqrt

import pytest

from scrubjay.surfaces.render.explain import reasons

# `name amount = working: what it is`; a figure that is not a part has no name.
WORKING = re.compile(r"^(?:\S+ )?(-?\d+\.\d+) = ([^:]+)(?:: .+)?$")
# A figure that was measured, not worked out, and what the parts are made of.
WORDS = re.compile(r"^(each part|\d\.\d{6}|√\(2 ln \d+\)): [a-z1].{20,}$")


def worked_out(working):
    """Do the sum: digits, signs, brackets, a root, a logarithm and a power of e only."""
    plain = working.replace("×", "*").replace("√", "sqrt").replace("e^", "exp")
    plain = plain.replace("^", "**")
    plain = re.sub(r"2 ln (\d+)", r"2 * log(\1)", plain)
    plain = re.sub(r"(\d) s\b", r"\1", plain)
    assert re.fullmatch(r"(sqrt|log|exp|[\d.e()*/+\- ])+", plain), working
    return eval(plain, {"sqrt": sqrt, "log": log, "exp": exp})


def assert_comes_out(found):
    """Every line of every hit is a sum that is right."""
    for hit in found:
        _, total, *lines = reasons(hit, found)
        sum_of = total.partition("=")[2].replace("- ", "-")
        parts = [float(one) for one in re.findall(r"(-?\d+\.\d{6}) [a-z_]", sum_of)]
        assert sum(parts) == pytest.approx(hit.score, abs=5e-6)
        for line in lines:
            if WORDS.match(line):
                continue
            amount, working = WORKING.match(line).groups()
            assert worked_out(working) == pytest.approx(float(amount), abs=2e-5, rel=2e-5), line
