"""Line plots as SVG, both axes logarithmic; readable on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

_WIDTH, _HEIGHT = 300, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 34, 30
_LEGEND = 26
_COLOURS = ("#2a6fdb", "#d9822b", "#8a5cc7", "#2e9e6b", "#c2415c", "#7d7d7d")


class Line(NamedTuple):
    """A named line through points, in the order of x."""

    name: str
    points: Sequence[tuple[float, float]]


class Panel(NamedTuple):
    """One plot."""

    title: str
    lines: Sequence[Line]


def svg(title: str, panels: Sequence[Panel]) -> str:
    """Draw panels side by side, with one legend; a name has the same colour in each."""
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    colours = {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(names)}
    width, height = _WIDTH * len(panels), _HEIGHT + _LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' font-family="sans-serif" font-size="11" fill="#808080">',
        f"<title>{escape(title)}</title>",
    ]
    for at, panel in enumerate(panels):
        parts.append(f'<g transform="translate({at * _WIDTH} 0)">')
        parts += _panel(panel, colours)
        parts.append("</g>")
    step = width / max(1, len(names))
    for at, name in enumerate(names):
        x = at * step + 12
        parts.append(
            f'<circle cx="{x:.0f}" cy="{_HEIGHT + 12}" r="4" fill="{colours[name]}"/>'
            f'<text x="{x + 9:.0f}" y="{_HEIGHT + 16}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, colours: dict[str, str]) -> Iterator[str]:
    points = [point for line in panel.lines for point in line.points]
    if not points:
        return
    (low_x, high_x), (low_y, high_y) = (
        _decades([point[axis] for point in points]) for axis in (0, 1)
    )

    def place(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - low_x) / (high_x - low_x)
        up = (log10(max(y, 10**low_y)) - low_y) / (high_y - low_y)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    yield f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(panel.title)}</text>'
    for power in range(low_y, high_y + 1):
        x, y = place(10**low_x, 10**power)
        yield (
            f'<line x1="{x:.1f}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
            ' stroke="#808080" stroke-opacity="0.3"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10**power:g}</text>'
        )
    for power in range(low_x, high_x + 1):
        x, _ = place(10**power, 10**low_y)
        yield f'<text x="{x:.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{_short(10**power)}</text>'
    for line in panel.lines:
        places = [place(*point) for point in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        colour = colours[line.name]
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _short(number: float) -> str:
    return f"{number / 1e6:g}M" if number >= 1e6 else f"{number / 1e3:g}k"
