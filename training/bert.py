"""A small BERT that learns to live with 8 bits: fixed scales for activations, 7-bit weights.

Scales of activations are measured once and then fixed, so the result for a text does not depend on
the texts beside it, and no scale is computed at run time. Weights stay within -63..63: products of
unsigned and signed bytes are added in pairs of 16 bits on CPUs without VNNI, and must not overflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.steps import ACTIVATION_STEPS, WEIGHT_STEPS, WORD_STEPS

SMOOTHING = 0.5


def rounded(values: Tensor, scale: Tensor, least: int, most: int) -> Tensor:
    """Round to whole steps; gradients pass as if nothing were rounded."""
    steps = (values / scale).clamp(least, most)
    return (steps + (steps.round() - steps).detach()) * scale


class Site(nn.Module):
    """A place where activations are rounded to 8 bits, by a range that was measured there."""

    low: Tensor
    high: Tensor
    smooth: Tensor
    largest: Tensor

    def __init__(self, width: int, *, smoothed: bool) -> None:
        super().__init__()
        self.smoothed, self.state = smoothed, "off"
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.zeros(()))
        self.register_buffer("smooth", torch.ones(width))
        self.register_buffer("largest", torch.zeros(width))

    def forward(self, rows: Tensor) -> Tensor:
        if self.state == "off":
            return rows
        rows = rows.float()
        if self.state == "largest":
            self.largest.copy_(
                torch.maximum(self.largest, rows.detach().abs().flatten(0, -2).amax(0))
            )
            return rows
        rows = rows / self.smooth
        if self.state == "range":
            flat = rows.detach().flatten()[:: max(1, rows.numel() // 4_000_000)].float()
            ordered = flat.sort().values
            cut = max(1, len(ordered) // 50_000)
            self.low.copy_(torch.minimum(self.low, ordered[cut]))
            self.high.copy_(torch.maximum(self.high, ordered[-cut]))
            return rows * self.smooth
        scale = self.scale
        zero = (-self.low / scale).round()
        return rounded(rows + zero * scale, scale, 0, ACTIVATION_STEPS) - zero * scale

    @property
    def scale(self) -> Tensor:
        return ((self.high - self.low) / ACTIVATION_STEPS).clamp_min(1e-8)


class Dense(nn.Linear):
    """A linear layer whose weights are rounded, one scale an output, once its site is on."""

    def multiply(self, rows: Tensor, site: Site) -> Tensor:
        if site.state != "on":
            return functional.linear(rows, self.weight, self.bias)
        weight = self.weight * site.smooth
        scale = weight.detach().abs().amax(1, keepdim=True).clamp_min(1e-9) / WEIGHT_STEPS
        return functional.linear(
            rows, rounded(weight, scale, -WEIGHT_STEPS, WEIGHT_STEPS), self.bias
        )


class Layer(nn.Module):
    """Attention and a feed-forward part, each beside what was there before."""

    def __init__(self, hidden: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (Dense(hidden, hidden) for _ in range(3))
        self.out, self.norm = Dense(hidden, hidden), nn.LayerNorm(hidden, eps=1e-12)
        self.wide, self.narrow = Dense(hidden, inner), Dense(inner, hidden)
        self.last = nn.LayerNorm(hidden, eps=1e-12)
        self.sites = nn.ModuleDict(
            {
                "seen": Site(hidden, smoothed=True),
                "context": Site(hidden, smoothed=False),
                "thought": Site(hidden, smoothed=True),
                "inner": Site(inner, smoothed=False),
            }
        )

    def forward(self, rows: Tensor, mask: Tensor, dropout: float) -> Tensor:
        batch, length, hidden = rows.shape
        sites: Mapping[str, Site] = self.sites  # type: ignore[assignment]
        given = sites["seen"](rows)
        parts = [
            part.multiply(given, sites["seen"]).view(batch, length, self.heads, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        found = functional.scaled_dot_product_attention(*parts, attn_mask=mask)
        context = sites["context"](found.transpose(1, 2).reshape(batch, length, hidden))
        seen = self.out.multiply(context, sites["context"])
        rows = self.norm(rows + functional.dropout(seen, dropout, self.training))
        wide = functional.gelu(
            self.wide.multiply(sites["thought"](rows), sites["thought"]), approximate="tanh"
        )
        thought = self.narrow.multiply(sites["inner"](wide), sites["inner"])
        return self.last(rows + functional.dropout(thought, dropout, self.training))


class Bert(nn.Module):
    """The encoder: one row a token. `quantise` says what its sites do."""

    def __init__(
        self,
        *,
        words: int = 30_522,
        hidden: int = 384,
        layers: int = 6,
        inner: int = 1536,
        heads: int = 12,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(words, hidden)
        self.places, self.types = nn.Embedding(512, hidden), nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(hidden, heads, inner) for _ in range(layers))
        self.dropout = 0.0
        self.on = False

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        words = self.words(ids)
        if self.on:
            scale = words.detach().abs().amax(-1, keepdim=True).clamp_min(1e-9) / WORD_STEPS
            words = rounded(words, scale, -WORD_STEPS, WORD_STEPS)
        places = self.places.weight[: ids.shape[1]]
        kinds = self.types.weight[0] if types is None else self.types(types)
        rows = self.norm(words + places + kinds)
        rows = functional.dropout(rows, self.dropout, self.training)
        seen = mask[:, None, None, :].bool()
        for layer in self.layers:
            rows = layer(rows, seen, self.dropout)
        return rows

    def sites(self) -> Iterator[Site]:
        return (part for part in self.modules() if isinstance(part, Site))

    def switch(self, state: str) -> None:
        """Set what all sites do: off, largest, range, on."""
        self.on = state == "on"
        for site in self.sites():
            site.state = state

    @torch.no_grad()
    def measure(self, batches: list[tuple[Any, ...]]) -> None:
        """Measure the sites on batches, smooth what has few large channels, and switch rounding on."""
        training = self.training
        self.eval()
        for site in self.sites():
            site.low.zero_()
            site.high.zero_()
            site.smooth.fill_(1)
            site.largest.zero_()
        self.switch("largest")
        for batch in batches:
            self(*batch)
        for layer in self.layers:
            for name, parts in (
                ("seen", (layer.query, layer.key, layer.value)),
                ("thought", (layer.wide,)),
            ):
                site = layer.sites[name]
                weights = torch.stack([part.weight.abs().amax(0) for part in parts]).amax(0)
                smooth = site.largest.clamp_min(1e-3) ** SMOOTHING / weights.clamp_min(1e-3) ** (
                    1 - SMOOTHING
                )
                site.smooth.copy_(smooth / smooth.log().mean().exp())
        self.switch("range")
        for batch in batches:
            self(*batch)
        self.switch("on")
        self.train(training)


def load_minilm(model: Bert, weights: Mapping[str, Any], chosen: tuple[int, ...]) -> None:
    """Start from layers of MiniLM; of a wider feed-forward part the strongest neurons are kept."""
    named = {name: torch.as_tensor(array).float() for name, array in weights.items()}
    state = {
        "words.weight": named["embeddings.word_embeddings.weight"],
        "places.weight": named["embeddings.position_embeddings.weight"],
        "types.weight": named["embeddings.token_type_embeddings.weight"],
        "norm.weight": named["embeddings.LayerNorm.weight"],
        "norm.bias": named["embeddings.LayerNorm.bias"],
    }
    names = {
        "attention.self.query": "query",
        "attention.self.key": "key",
        "attention.self.value": "value",
        "attention.output.dense": "out",
        "attention.output.LayerNorm": "norm",
        "intermediate.dense": "wide",
        "output.dense": "narrow",
        "output.LayerNorm": "last",
    }
    for at, source in enumerate(chosen):
        for theirs, ours in names.items():
            for kind in ("weight", "bias"):
                state[f"layers.{at}.{ours}.{kind}"] = named[
                    f"encoder.layer.{source}.{theirs}.{kind}"
                ]
        wide, narrow = state[f"layers.{at}.wide.weight"], state[f"layers.{at}.narrow.weight"]
        kept = (
            (wide.norm(dim=1) * narrow.norm(dim=0))
            .topk(model.layers[at].wide.out_features)
            .indices.sort()
            .values
        )
        state[f"layers.{at}.wide.weight"] = wide[kept]
        state[f"layers.{at}.wide.bias"] = state[f"layers.{at}.wide.bias"][kept]
        state[f"layers.{at}.narrow.weight"] = narrow[:, kept]
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or any("sites" not in name for name in missing):
        raise ValueError(f"{missing} {unexpected}")


def compile_rounding() -> None:
    """Let torch fuse the rounding of activations and weights, which is many small steps."""
    global rounded
    rounded = torch.compile(rounded, dynamic=True)
