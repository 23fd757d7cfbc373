"""Train a small cross-encoder from all-MiniLM-L6-v2 on one GPU, in minutes.

Two steps, the second on a machine with a GPU and torch:

    python -m training.rank prepare IN --train TRAIN --not-in EVAL
    python -m training.rank train IN --out OUT --seconds 420

TRAIN has squad_train.jsonl (CC BY-SA 4.0) and medquad.jsonl (CC BY 4.0). A passage or question
that is also in EVAL is left out. OUT gets the weights, and held-out groups with their logits.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
import re
import shutil
import time
import zlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HELD_OUT_EVERY = 16  # of titles and diseases: none of their passages is trained on
LAYERS, INNER = tuple(range(6)), 1536
MADE_UP = 25_000  # pairs of each of the two kinds
TESTED = 600  # held-out groups of each kind, at most
MOST_TOKENS, MOST_QUERY_TOKENS = 256, 96
MINED, RANDOM, MINED_FROM, LIKELY_FALSE = 8, 3, 30, 0.93
GROUPS, LEARNING_RATE, WARM_UP, BCE_SHARE = 64, 6e-5, 0.06, 0.3
ROUNDED_FROM = 0.4  # of the time: from then on weights and activations are rounded
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")

Array = np.ndarray[Any, Any]
Example = tuple[str, str, int, str]
"""Kind, query, number of the right passage, and what to read in its place, if anything."""


def marks(text: str) -> set[str]:
    """Return the text and those of its sentences that no other text has by chance."""
    parts = [text, *(part for part in SENTENCE_END.split(text) if len(part) > 60)]
    return {" ".join(part.lower().split()) for part in parts}


def collect(rows: list[Any], forbidden: set[str]) -> tuple[list[Any], list[Example]]:
    """Return passages, each with its family and whether it is held out, and their questions.

    Several sources answer one medical question: no such answer is wrong where another is right.
    """
    passages: dict[str, tuple[int, str, bool]] = {}
    examples: list[Example] = []
    for kind, topic, passage, queries in rows:
        if forbidden & marks(passage):
            continue
        text = " ".join(passage.split()[:MOST_TOKENS])
        held = zlib.crc32((topic or text).lower().encode()) % HELD_OUT_EVERY == 0
        at, *_ = passages.setdefault(text, (len(passages), queries[0].lower(), held))
        examples += [(kind, query, at, "") for query in queries if not forbidden & marks(query)]
    return [(text, family, held) for text, (_, family, held) in passages.items()], examples


def make_up(texts: list[str]) -> list[Example]:
    """Return sentences that look for their paragraph, and keywords that look for theirs."""
    rng = random.Random(7)
    bags = [Counter(re.findall(r"\w{3,}", text.lower())) for text in texts]
    spread = Counter(word for bag in bags for word in bag)
    sentences, keywords = [], []
    for at in rng.sample(range(len(texts)), len(texts)):
        parts = SENTENCE_END.split(" ".join(texts[at].split()[:150]))  # the window ends there
        fit = [part for part in parts if 6 <= len(part.split()) <= 40]
        if len(fit) >= 3:
            sentence = rng.choice(fit)
            rest = texts[at].replace(sentence, "", 1) if rng.random() < 0.5 else ""
            sentences.append(("sentence", sentence, at, rest))
        weights = {word: n * math.log(len(bags) / spread[word]) for word, n in bags[at].items()}
        rare = sorted(weights, key=lambda word: -weights[word])[:12]
        if len(rare) >= 6:
            query = " ".join(rng.sample(rare, rng.randint(2, 6)))
            keywords.append(("keywords", query, at, ""))
    return sentences[:MADE_UP] + keywords[:MADE_UP]


def prepare(args: argparse.Namespace) -> None:
    """Write what the GPU machine needs: the examples, and the base model at half its size."""
    from tools.compare_precision import read_jsonl
    from tools.int8_graph import Int8Graph

    from scrubjay.models.download.pull import MINILM, pull

    files = [*args.not_in.rglob("corpus.jsonl"), *args.not_in.rglob("queries.jsonl")]
    forbidden = {mark for path in files for row in read_jsonl(path) for mark in marks(row["text"])}
    squad = read_jsonl(args.train / "squad_train.jsonl")
    medical = read_jsonl(args.train / "medquad.jsonl")
    rows: list[Any] = [("squad", row["title"], row["passage"], row["queries"]) for row in squad]
    rows += [("medquad", row["focus"], row["passage"], [row["query"]]) for row in medical]
    passages, examples = collect(rows, forbidden - {""})
    examples += make_up([text for text, _, _ in passages])
    args.folder.mkdir(parents=True, exist_ok=True)
    with lzma.open(args.folder / "data.json.xz", "wt", preset=9, encoding="utf-8") as file:
        json.dump({"passages": passages, "examples": examples}, file)
    shutil.copy(pull(MINILM) / "tokenizer.json", args.folder)
    base = Int8Graph(pull(MINILM) / "model.safetensors", per_token=False)
    names = [name for name, entry in base.tensors.items() if entry.get("dtype") == "F32"]
    halves = {name: base.array(name).astype(np.float16) for name in names}
    np.savez(args.folder / "base.npz", allow_pickle=False, **halves)
    print(len(files), "files kept out,", len(passages), "passages; (kind, held out):")
    print(Counter((kind, passages[at][2]) for kind, _, at, _ in examples))


def padded(pairs: list[Any]) -> dict[str, Array]:
    """Return pairs, or single texts beside an empty one, as inputs cut at the passage's end."""
    shape = (len(pairs), min(MOST_TOKENS, 3 + max(len(a) + len(b) for a, b in pairs)))
    ids, mask, types = (np.zeros(shape, np.int64) for _ in INPUTS)
    for at, (query, passage) in enumerate(pairs):
        left = [101, *query[: MOST_QUERY_TOKENS if passage else MOST_TOKENS - 2], 102]
        right = [*passage[: MOST_TOKENS - len(left) - 1], 102] if passage else []
        length = len(left) + len(right)
        ids[at, :length] = left + right
        mask[at, :length] = 1
        types[at, len(left) : length] = 1
    return dict(zip(INPUTS, (ids, mask, types), strict=True))


class Trainer:
    """The model on the GPU and the texts as tokens: mines, scores and learns."""

    def __init__(self, folder: Path) -> None:
        import torch
        from tokenizers import Tokenizer

        from training.bert import Bert, load_minilm

        self.torch = torch
        torch.manual_seed(7)
        with lzma.open(folder / "data.json.xz", "rt", encoding="utf-8") as file:
            data = json.load(file)
        self.passages, self.examples = data["passages"], data["examples"]
        families = {name: at for at, (_, name, _) in enumerate(self.passages)}
        self.families = torch.tensor([families[name] for _, name, _ in self.passages]).cuda()
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS)
        tokens = partial(tokenizer.encode_batch, add_special_tokens=False)
        self.texts = [found.ids for found in tokens([text for text, _, _ in self.passages])]
        self.queries = [found.ids for found in tokens([query for _, query, *_ in self.examples])]
        own = iter([found.ids for found in tokens([rest for *_, rest in self.examples if rest])])
        self.right = [next(own) if rest else self.texts[at] for _, _, at, rest in self.examples]
        base = np.load(folder / "base.npz")
        self.bert = Bert(layers=len(LAYERS), inner=INNER)
        load_minilm(self.bert, {name: base[name] for name in base.files}, LAYERS)
        self.bert.dropout = 0.1
        pooler, head = torch.nn.Linear(384, 384), torch.nn.Linear(384, 1)
        pooler.load_state_dict(
            {
                kind: torch.from_numpy(base[f"pooler.dense.{kind}"]).float()
                for kind in ("weight", "bias")
            }
        )
        head.weight.data.normal_(0, 0.02)
        parts = {"bert": self.bert, "pooler": pooler, "head": head}
        self.model = torch.nn.ModuleDict(parts).cuda().eval()

    def run(self, network: Any, pairs: list[Any], parts: int) -> Any:
        """Return a row for each pair, from batches of like length: little is padding."""
        order = np.argsort([len(query) + len(passage) for query, passage in pairs])
        found = []
        for rows in np.array_split(order, parts):
            inputs = padded([pairs[at] for at in rows])
            batch = {name: self.torch.from_numpy(array).cuda() for name, array in inputs.items()}
            found.append(network(**batch))
        return self.torch.cat(found)[self.torch.from_numpy(np.argsort(order)).cuda()]

    def logits(self, **batch: Any) -> Any:
        """Return one number a pair."""
        first = self.rows(**batch)[:, 0]
        return self.model["head"](self.model["pooler"](first).tanh())[:, 0].float()

    def rows(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        """Return one row a token."""
        return self.bert(input_ids, attention_mask, token_type_ids)

    def embed(self, texts: list[list[int]]) -> Any:
        """Return the base model's vectors of texts: their tokens' mean, of length one."""

        def mean(**batch: Any) -> Any:
            tokens = self.rows(**batch).float()
            total = (tokens * batch["attention_mask"][..., None]).sum(1)
            return self.torch.nn.functional.normalize(total)

        with self.torch.no_grad(), self.torch.autocast("cuda", self.torch.bfloat16):
            return self.run(mean, [(text, []) for text in texts], len(texts) // 1024 + 1)

    def mine(self, chosen: list[int], *, held: bool, likely_false: float) -> tuple[Array, Array]:
        """Return 11 wrong passages an example, and the cosines of all 12, the right one first."""
        torch, wrong, cosines = self.torch, [], []
        pool = torch.tensor([at for at, row in enumerate(self.passages) if row[2] == held]).cuda()
        vectors = self.embed([self.texts[at] for at in pool.tolist()])
        for rows in np.array_split(chosen, len(chosen) // 4096 + 1):
            queries = self.embed([self.queries[at] for at in rows])
            right = (queries * self.embed([self.right[at] for at in rows])).sum(1, True)
            family = self.families[[self.examples[at][2] for at in rows]]
            near = queries @ vectors.T
            # What is nearly as close as the right one probably answers the question as well.
            barred = (self.families[pool] == family[:, None]) | (near > likely_false * right)
            hits = near.masked_fill(barred, -2).topk(MINED_FROM)
            # While learning any of the nearest, in a test the very nearest.
            luck = torch.rand_like(near[:, :MINED_FROM]) if likely_false < 1 else hits.values
            mined = (luck - 9 * (hits.values < -1)).topk(MINED).indices
            found = torch.randint(len(pool), (len(rows), MINED + RANDOM), device="cuda")
            usable = hits.values.gather(1, mined) > -1
            found[:, :MINED] = hits.indices.gather(1, mined).where(usable, found[:, :MINED])
            wrong.append(pool[found])
            cosines.append(torch.cat([right, near.gather(1, found)], 1))
        return torch.cat(wrong).cpu().numpy(), torch.cat(cosines).cpu().numpy()

    def pairs(self, chosen: list[int], wrong: Array) -> list[Any]:
        """Return the pairs of all groups, in each the right one first."""
        return [
            (self.queries[at], passage)
            for at, others in zip(chosen, wrong, strict=True)
            for passage in (self.right[at], *(self.texts[other] for other in others))
        ]

    def learn(self, chosen: list[int], wrong: Array, seconds: float) -> None:
        """Learn to put the right passage first, and to say how sure that is."""
        torch, functional = self.torch, self.torch.nn.functional
        optimizer = torch.optim.AdamW(self.model.parameters(), weight_decay=0.01, fused=True)
        order = np.random.default_rng(7).permutation(len(chosen))
        truth = torch.eye(1 + MINED + RANDOM, device="cuda")[:1].repeat(GROUPS, 1)
        losses, began, step, share = [], time.monotonic(), 0, 0.0
        self.model.train()
        while share < 1:
            if not self.bert.on and share > ROUNDED_FROM:
                self.measure([self.pairs([chosen[at]], wrong[[at]]) for at in order[:64]])
            rate = min((share + 0.01) / WARM_UP, (1 - share) / (1 - WARM_UP))
            optimizer.param_groups[0]["lr"] = LEARNING_RATE * max(rate, 0.005)
            rows = order.take(range(step * GROUPS, (step + 1) * GROUPS), mode="wrap")
            with torch.autocast("cuda", torch.bfloat16):
                pairs = self.pairs([chosen[at] for at in rows], wrong[rows])
                scores = self.run(self.logits, pairs, 4).view(GROUPS, -1)
            ranking = functional.cross_entropy(scores, truth.argmax(1))
            yes_or_no = functional.binary_cross_entropy_with_logits(scores, truth)
            optimizer.zero_grad()
            (ranking + BCE_SHARE * yes_or_no).backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimizer.step()
            losses.append(torch.stack([ranking, yes_or_no]).detach())
            step += 1
            if step % 10 == 0:
                torch.cuda.synchronize()
            spent = time.monotonic() - began
            share = spent / seconds
            if step % 100 == 0:
                means = torch.stack(losses[-100:]).mean(0).tolist()
                print(f"{step}: {spent:.0f} s, softmax and BCE {means}", flush=True)

    def measure(self, groups: list[Any]) -> None:
        """Measure the ranges of activations on groups of pairs, and round from now on."""
        batches = []
        for pairs in groups:
            inputs = {
                name: self.torch.from_numpy(array).cuda() for name, array in padded(pairs).items()
            }
            batches.append(tuple(inputs[name] for name in INPUTS))
        with self.torch.autocast("cuda", self.torch.bfloat16):
            self.bert.measure(batches)

    def save(self, out: Path) -> None:
        """Write the weights in 16 bits, in files of a size that travels."""
        out.mkdir(parents=True, exist_ok=True)
        named = {
            name.removeprefix("bert."): value.float().cpu().numpy()
            for name, value in self.model.state_dict().items()
        }
        small = {
            name: value if ".sites." in name else value.astype(np.float16)
            for name, value in named.items()
        }
        np.savez(out / "ranker-words-0.npz", **{"words.weight.0": small["words.weight"][:15_000]})
        np.savez(
            out / "ranker-words-1.npz", **{"words.weight.1": small.pop("words.weight")[15_000:]}
        )
        np.savez(
            out / "ranker-0.npz",
            **{
                name: value
                for name, value in small.items()
                if not re.match(r"layers\.[345]", name)
            },
        )
        np.savez(
            out / "ranker-1.npz",
            **{name: value for name, value in small.items() if re.match(r"layers\.[345]", name)},
        )


def tell(title: str, scores: Array, kinds: list[str]) -> None:
    """Print how often the right one of 12 comes first, by kind, and how sure the scores are."""
    right = scores.argmax(1) == 0
    shares = {kind: round(float(right[np.array(kinds) == kind].mean()), 4) for kind in {*kinds}}
    print(f"{title}: {right.mean():.4f} of {len(right)}", dict(sorted(shares.items())))
    sure = 1 / (1 + np.exp(-scores))
    for part in (sure[:, 0], sure[:, 1:]):
        print("   ", np.percentile(part, [5, 25, 50, 75, 95]).round(3).tolist())


def train(args: argparse.Namespace) -> None:
    """Train, test on what was held out, and write the result."""
    trainer = Trainer(args.folder)
    learned: list[int] = []
    held: dict[str, list[int]] = {}
    for at, (kind, _, passage, _) in enumerate(trainer.examples):
        (held.setdefault(kind, []) if trainer.passages[passage][2] else learned).append(at)
    rng = random.Random(7)
    tested = [at for found in held.values() for at in rng.sample(found, min(TESTED, len(found)))]
    kinds = [trainer.examples[at][0] for at in tested]
    hard, cosines = trainer.mine(tested, held=True, likely_false=math.inf)
    wrong, _ = trainer.mine(learned, held=False, likely_false=LIKELY_FALSE)
    tell("cosine", cosines, kinds)
    pairs = trainer.pairs(tested, hard)
    inputs = {name: array.astype(np.int16) for name, array in padded(pairs).items()}
    for moment in ("before", "after"):
        if moment == "after":
            trainer.learn(learned, wrong, args.seconds)
        # Saved before as well: what cannot be written should fail before the long part.
        trainer.save(args.out)
        trainer.model.eval()
        with trainer.torch.no_grad():
            scores = trainer.run(trainer.logits, pairs, 32).cpu().numpy().reshape(cosines.shape)
        tell(moment, scores, kinds)
        result = {"logits": scores, "kinds": np.array(kinds), **inputs}
        np.savez_compressed(args.out / "held_out.npz", allow_pickle=False, **result)


def main() -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["prepare", "train"])
    for name in ("folder", "--train", "--not-in", "--out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=420)
    args = parser.parse_args()
    {"prepare": prepare, "train": train}[args.step](args)


if __name__ == "__main__":
    main()
