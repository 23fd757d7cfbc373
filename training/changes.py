"""Train the reader of changes: one model that reads a question and dated notes together.

    python -m training.changes prepare IN --worlds WORLDS --items ITEMS --plain TEMPLATES
    python -m training.changes train IN --out OUT --start OUT_OF_RANK
    python -m training.changes train IN --out OUT --start model.onnx --known 959 --rate 3e-5 --batch 32

The last goes on from a reader that was exported and knows the first 959 worlds. The one that is shipped
learned from labels for 400 seconds on a GPU that three readers shared, and then for 200 seconds from
`training.teach`.

It reads "[CLS] asked 1 jun 2026: question [SEP] [M] 3 may 2025: note [SEP] [M] …", oldest note
first, and gives one logit for each note (this one answers now) and one for none of them. Of two
notes and no question it gives the relation of the newer to the older. WORLDS has the small worlds of
`training/data`, ITEMS pairs of notes, TEMPLATES what `training.plain` makes further worlds from.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import time
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from training import plain
from training.reading import CLS, MARK, RELATIONS, SEP, date_words, is_held_out

MOST_NOTES, MOST_NOTE_TOKENS, MOST_TOKENS, MOST_QUERY_TOKENS = 8, 48, 384, 40
HELD_OUT_ITEMS = 21  # nothing is learned from one of 21
BATCH = 96
LEARNING_RATE, WARM_UP, ROUNDED_FROM, SMOOTHED = 8e-5, 0.08, 0.5, 0.03
TAUGHT = 0.5  # share of other readers' answers in what is learned (`training.teach`)
ROUND_SEED, TIMES_TAUGHT = 100, 3
GAP = re.compile(
    r"(\d+|an?|one|two|three|four|five|six|some|few|several)?\s*(minute|hour|day|week|month|year)",
    re.I,
)
NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "some": 3,
    "few": 3,
    "several": 5,
}
DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30.4, "year": 365}

THEN = "then"  # kind of a question that is asked as if it were earlier

Example = dict[str, Any]
"""asked, question, notes [[at, text]], target (weights; the first is none), or relation."""


def days_of(gap: str) -> float:
    """Return the days in "3 weeks", 30 where they are not stated."""
    found = GAP.search(gap)
    if not found:
        return 30.0
    word = (found[1] or "1").lower()
    return (float(word) if word.isdigit() else NUMBERS.get(word, 1)) * DAYS[found[2].lower()]


class Similar:
    """Cosines of MiniLM between texts, and overlap of their words: which notes a search would bring."""

    def __init__(self, texts: list[str]) -> None:
        from scrubjay.models.embed.local import OnnxEmbedder

        self.at = {text: row for row, text in enumerate(texts)}
        self.vectors = OnnxEmbedder().embed(texts)
        self.words = [set(re.findall(r"\w{3,}", text.lower())) for text in texts]

    def scores(self, text: str, others: list[str]) -> np.ndarray[Any, Any]:
        row = self.at[text]
        rows = [self.at[other] for other in others]
        shared = np.array(
            [len(self.words[row] & self.words[one]) / (1 + len(self.words[row])) for one in rows]
        )
        return self.vectors[rows] @ self.vectors[row] + 0.4 * shared


def prepare(args: argparse.Namespace) -> None:
    """Write for each question which notes of its world a search would bring, best first."""
    worlds = [
        json.loads(line)
        for path in sorted(args.worlds.glob("*.jsonl"))
        for line in path.open(encoding="utf-8")
        if line.strip()
    ]
    if args.plain is not None:
        worlds += plain.worlds(args.plain)
    items = [
        json.loads(line)
        for path in sorted(args.items.glob("*.jsonl"))
        for line in path.open(encoding="utf-8")
        if line.strip()
    ]
    texts = {note["text"] for world in worlds for note in world["notes"]}
    questions = [one for world in worlds for one in world["questions"]]
    questions += [then for one in questions if (then := asked_then(one))]
    texts |= {one["q"] for one in questions}
    texts |= {text for item in items for text in (item["old"], item["new"])}
    similar = Similar(sorted(texts))
    for world in worlds:
        notes = [note["text"] for note in world["notes"]]
        world["questions"] += [then for one in world["questions"] if (then := asked_then(one))]
        for one in world["questions"]:
            one["order"] = np.argsort(-similar.scores(one["q"], notes)).tolist()
        listed = {(new, old) for new, old, _ in world["pairs"]}
        ids = [note["id"] for note in world["notes"]]
        near = []
        for new in range(len(ids)):
            scores = similar.scores(notes[new], notes)
            near += [
                (float(scores[old]), ids[new], ids[old])
                for old in range(new)
                if (ids[new], ids[old]) not in listed
            ]
        world["unrelated"] = [pair[1:] for pair in sorted(near, reverse=True)[: 2 * len(ids)]]
    langs = sorted({item["lang"] for item in items})
    for lang in langs:
        own = [item for item in items if item["lang"] == lang]
        vectors = similar.vectors[[similar.at[item["old"]] for item in own]]
        for at, item in enumerate(own):
            near = np.argsort(-(vectors @ vectors[at]))[1:13]
            item["near"] = [own[other]["old"] for other in near] + [
                own[other]["new"] for other in near
            ]
    args.folder.mkdir(parents=True, exist_ok=True)
    with lzma.open(args.folder / "changes.json.xz", "wt", encoding="utf-8") as file:
        json.dump({"worlds": worlds, "items": items}, file, ensure_ascii=False)
    questions = sum(len(world["questions"]) for world in worlds)
    pairs = sum(len(world["pairs"]) for world in worlds)
    print(f"{len(worlds)} worlds, {questions} questions, {pairs} pairs; {len(items)} items")


def asked_then(one: Any) -> Any:
    """Return a question about a time as a search asks it: at the end of that time, without its words."""
    from scrubjay.text.dates import window_of, without

    asked = datetime.fromisoformat(one["asked"]).replace(tzinfo=UTC)
    window = window_of(one["q"], asked) if one["kind"] == "as_of" else None
    if window is None or window.ends > asked:
        return None
    moment = window.ends.replace(tzinfo=None).isoformat()
    return {**one, "q": without(one["q"], window) or one["q"], "asked": moment, "kind": THEN}


# -- examples ---------------------------------------------------------------------------------


def of_question(world: Any, one: Any, rng: random.Random | None) -> Example:
    """Return a question over the notes that a search would bring; at random while learning."""
    order, count, shift = list(one["order"]), MOST_NOTES, timedelta()
    if one["kind"] == THEN:
        order = [at for at in order if world["notes"][at]["at"] <= one["asked"]]
    if rng is not None:
        if one["kind"] not in ("as_of", "past") and rng.random() < 0.7:
            shift = timedelta(days=rng.randint(-900, 300))  # no answer depends on the year
        order = [
            at
            for _, at in sorted((place + rng.gauss(0, 1.5), at) for place, at in enumerate(order))
        ]
        count = rng.choice((2, 3, 4, 5, 6, 7, 8, 8, 8))
    chosen = sorted(order[:count], key=lambda at: world["notes"][at]["at"])
    notes = [world["notes"][at] for at in chosen]
    ids = [note["id"] for note in notes]
    best = [
        1.0 if name in one["best"] else 0.35 if name in one.get("also", ()) else 0.0
        for name in ids
    ]
    target = [0.0 if any(name in one["best"] for name in ids) or sum(best) else 1.0, *best]
    return {
        "asked": moved(one["asked"], shift),
        "question": one["q"],
        "notes": [[moved(note["at"], shift), note["text"]] for note in notes],
        "target": target,
        "kind": one["kind"],
        "world": world["world"],
        "stale": [name in one.get("stale", ()) for name in ids],
    }


def moved(at: str, shift: timedelta) -> str:
    return (datetime.fromisoformat(at) + shift).isoformat()


def of_item(item: Any, question: str, label: str, rng: random.Random) -> Example:
    """Return a question over a pair of notes, among others that say something else."""
    now = datetime(2026, 1, 1) - timedelta(days=rng.random() * 900)
    asked = now + timedelta(days=rng.choice((0.1, 3, 20, 90, 300)) * rng.random())
    gap = days_of(item["gap"])
    notes = [(now - timedelta(days=gap), item["old"], "old"), (now, item["new"], "new")]
    others = rng.sample(item["near"], min(rng.choice(range(7)), len(item["near"])))
    notes += [
        (now - timedelta(days=rng.uniform(-0.5, 1.5) * (gap + 40)), other, "") for other in others
    ]
    notes = sorted((min(at, asked), text, which) for at, text, which in notes)
    target = [1.0 if label == "neither" else 0.0]
    target += [1.0 if which and label in (which, "both") else 0.0 for _, _, which in notes]
    return {
        "asked": asked.isoformat(),
        "question": question,
        "notes": [[at.isoformat(), text] for at, text, _ in notes],
        "target": target,
    }


def of_pair(older: Any, newer: Any, relation: str) -> Example:
    """Return two notes whose relation is asked."""
    return {"notes": [older, newer], "relation": RELATIONS[relation]}


def third(world: str) -> int:
    """Return to which third of the worlds one belongs."""
    return zlib.crc32(world.encode()) % 3


class Data:
    """Worlds and items; `learned` makes examples at random, `held` the same ones every time."""

    def __init__(self, folder: Path, known: int, without: int | None = None) -> None:
        """`known` is the number of worlds from which the model has learned before; `without` is a third
        of the worlds from which it does not learn."""
        with lzma.open(folder / "changes.json.xz", "rt", encoding="utf-8") as file:
            data = json.load(file)
        self.items = data["items"]
        worlds = list(enumerate(data["worlds"]))
        self.held_worlds = [world for at, world in worlds if is_held_out(at)]
        self.worlds = [
            world
            for at, world in worlds
            if not is_held_out(at) and at >= known and third(world["world"]) != without
        ]
        self.known = [world for at, world in worlds if not is_held_out(at) and at < known]
        self.learned_items = [item for at, item in enumerate(self.items) if at % HELD_OUT_ITEMS]

    def round(self, rng: random.Random, times: int) -> list[Example]:
        """Return the examples of one round: each question of a world some times, half of the items.
        Of what the model knows it reads a sixteenth again, so that it does not forget it."""
        found = []
        for world in self.worlds:
            for one in world["questions"]:
                found += [of_question(world, one, rng) for _ in range(times)]
            found += self.pairs(world, rng)
        for world in rng.sample(self.known, len(self.known) // 16):
            found += [of_question(world, one, rng) for one in world["questions"]]
            found += self.pairs(world, rng)
        share = 20 if self.known else 2
        for item in rng.sample(self.learned_items, len(self.learned_items) // share):
            found += [of_item(item, question, label, rng) for question, label in item["questions"]]
            at = datetime(2026, 1, 1) - timedelta(days=rng.random() * 900)
            older = [(at - timedelta(days=days_of(item["gap"]))).isoformat(), item["old"]]
            found.append(of_pair(older, [at.isoformat(), item["new"]], item["relation"]))
            if rng.random() < 0.5:
                found.append(of_pair(older, [at.isoformat(), rng.choice(item["near"])], "other"))
        rng.shuffle(found)
        return found

    def taught(self, folder: Path, number: int) -> list[Example]:
        """Return the examples of a round whose answers other readers have weighed."""
        files = sorted(folder.glob("soft-*.npy"))
        number %= len(files)
        examples = self.round(random.Random(ROUND_SEED + number), TIMES_TAUGHT)
        for example, soft in zip(examples, np.load(files[number]), strict=True):
            example["soft"] = soft.astype(np.float32)
        return examples

    def pairs(self, world: Any, rng: random.Random | None) -> list[Example]:
        notes = {note["id"]: [note["at"], note["text"]] for note in world["notes"]}
        listed = [
            of_pair(notes[old], notes[new], relation) for new, old, relation in world["pairs"]
        ]
        unrelated = [of_pair(notes[old], notes[new], "other") for new, old in world["unrelated"]]
        if rng is not None:
            unrelated = rng.sample(unrelated, min(len(unrelated), len(listed)))
        return listed + unrelated

    def held(self) -> tuple[list[Example], list[Example]]:
        questions = [
            of_question(world, one, None)
            for world in self.held_worlds
            for one in world["questions"]
        ]
        return questions, [pair for world in self.held_worlds for pair in self.pairs(world, None)]


# -- the model --------------------------------------------------------------------------------


class Trainer:
    """The reader on the GPU."""

    def __init__(self, folder: Path, start: Path | None, layers: int, inner: int) -> None:
        import torch
        from tokenizers import Tokenizer

        from training.bert import Bert, load_minilm
        from training.read_back import read_back
        from training.steps import load

        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(7)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.cache: dict[str, list[int]] = {}
        self.bert = Bert(layers=layers, inner=inner)
        state: dict[str, Any] = {}
        if start is not None:
            name = "ranker" if layers == 6 else "encoder"
            weights = read_back(start) if start.suffix == ".onnx" else load(start, name)
            state = {key: torch.tensor(np.float32(value)) for key, value in weights.items()}
            self.bert.load_state_dict(state, strict=False)
        else:
            base = np.load(folder / "base.npz")
            load_minilm(self.bert, {name: base[name] for name in base.files}, tuple(range(layers)))
        self.bert.dropout = 0.1
        self.bert.switch("off")
        self.goes_on = "relation.weight" in state
        if self.goes_on:  # what single words mean is settled
            for table in (self.bert.words, self.bert.places):
                table.requires_grad_(False)
        width = self.bert.norm.weight.shape[0]
        heads = {
            "none": torch.nn.Linear(width, 1),
            "answer": torch.nn.Linear(width, 1),
            "relation": torch.nn.Linear(width, 1 + max(RELATIONS.values())),
        }
        for head in heads.values():
            head.weight.data.normal_(0, 0.02)
            head.bias.data.zero_()
        self.model = torch.nn.ModuleDict({"bert": self.bert, **heads}).to(self.device)
        if self.goes_on:  # a reader's heads go on learning, too
            self.model.load_state_dict(state, strict=False)

    def tokens(self, text: str) -> list[int]:
        if text not in self.cache:
            self.cache[text] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return self.cache[text]

    def ids(self, example: Example) -> tuple[list[int], list[int], list[int]]:
        """Return tokens, segments and the places of the marks."""
        question = []
        if "question" in example:
            question = (
                self.tokens(f"asked {date_words(example['asked'])}: ")
                + self.tokens(example["question"])[:MOST_QUERY_TOKENS]
            )
        ids, marks = [CLS, *question, SEP], []
        first = len(ids)
        for at, text in example["notes"]:
            marks.append(len(ids))
            ids += [
                MARK,
                *self.tokens(f"{date_words(at)}: "),
                *self.tokens(text)[:MOST_NOTE_TOKENS],
                SEP,
            ]
        return ids, [0] * first + [1] * (len(ids) - first), marks

    def run(self, examples: list[Example]) -> tuple[Any, Any]:
        """Return logits for none and each note, padded, and logits of relations."""
        torch = self.torch
        rows = [self.ids(example) for example in examples]
        length = max(len(ids) for ids, _, _ in rows)
        most = max(len(marks) for _, _, marks in rows)
        ids, types = np.zeros((2, len(rows), length), np.int64)
        places, there = np.zeros((len(rows), most), np.int64), np.zeros((len(rows), most), bool)
        for at, (tokens, kinds, marks) in enumerate(rows):
            ids[at, : len(tokens)], types[at, : len(tokens)] = tokens, kinds
            places[at, : len(marks)], there[at, : len(marks)] = marks, True
        given = [torch.from_numpy(array).to(self.device) for array in (ids, types, places, there)]
        with torch.autocast(self.device, torch.bfloat16):
            found = self.bert(given[0], given[0] != 0, given[1]).float()
        first = found[:, 0]
        marked = found.gather(1, given[2][..., None].expand(-1, -1, found.shape[-1]))
        answers = self.model["answer"](marked)[..., 0].masked_fill(~given[3], -1e4)
        return torch.cat([self.model["none"](first), answers], 1), self.model["relation"](first)

    def loss(self, examples: list[Example]) -> Any:
        torch = self.torch
        asked = [at for at, example in enumerate(examples) if "question" in example]
        paired = [at for at, example in enumerate(examples) if "relation" in example]
        answers, relations = self.run(examples)
        total = torch.zeros((), device=self.device)
        if asked:
            target = torch.zeros(len(asked), answers.shape[1], device=self.device)
            for row, at in enumerate(asked):
                target[row, : len(examples[at]["target"])] = torch.tensor(examples[at]["target"])
            target = target / target.sum(1, keepdim=True)
            there = (answers[asked] > -1e3).float()
            if "soft" in examples[0]:
                soft = torch.tensor(np.stack([examples[at]["soft"] for at in asked]))
                taught = soft[:, : answers.shape[1]].to(self.device).softmax(1)
                target = (1 - TAUGHT) * target + TAUGHT * taught
            target = (1 - SMOOTHED) * target + SMOOTHED * there / there.sum(1, keepdim=True)
            total = total - (target * answers[asked].log_softmax(1)).sum(1).mean()
        if paired:
            truth = torch.tensor([examples[at]["relation"] for at in paired], device=self.device)
            target = torch.nn.functional.one_hot(truth, relations.shape[1]).float()
            if "soft" in examples[0]:
                soft = torch.tensor(np.stack([examples[at]["soft"] for at in paired]))
                target = (1 - TAUGHT) * target + TAUGHT * soft[:, 9:].to(self.device).softmax(1)
            total = total + 0.5 * torch.nn.functional.cross_entropy(
                relations[paired], target, label_smoothing=SMOOTHED
            )
        return total

    def learn(self, data: Data, args: argparse.Namespace) -> None:
        torch, batch = self.torch, args.batch
        torch.manual_seed(args.seed)
        optimizer = torch.optim.AdamW(
            [one for one in self.model.parameters() if one.requires_grad], weight_decay=0.01
        )
        rng = random.Random(args.seed)
        step, number, began, losses = 0, 0, time.monotonic(), []
        while time.monotonic() - began < args.seconds:
            examples = data.taught(args.soft, number) if args.soft else data.round(rng, args.times)
            # Of like length together: little is padding.
            groups = []
            for start in range(0, len(examples) - batch * 16 + 1, batch * 16):
                several = sorted(
                    examples[start : start + batch * 16],
                    key=lambda one: sum(len(text) for _, text in one["notes"]),
                )
                groups += [several[at : at + batch] for at in range(0, len(several), batch)]
            rng.shuffle(groups)
            self.model.train()
            for group in groups:
                share = (time.monotonic() - began) / args.seconds
                if share >= 1:
                    break
                if not self.bert.on and share >= ROUNDED_FROM:
                    self.measure(examples[:256])
                if step % 100 == 99:
                    print(f"step {step + 1}, {time.monotonic() - began:.0f} s", flush=True)
                rate = min((share + 0.002) / WARM_UP, (1 - share) / (1 - WARM_UP))
                optimizer.param_groups[0]["lr"] = args.rate * max(rate, 0.01)
                loss = self.loss(group)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.detach())
                step += 1
            print(
                f"round {number + 1}: {time.monotonic() - began:.0f} s,"
                f" loss {torch.stack(losses[-len(groups) :]).mean():.3f}",
                flush=True,
            )
            number += 1
            if number % 3 == 0:
                self.test(data)
        self.test(data)

    def measure(self, examples: list[Example]) -> None:
        """Measure the ranges of activations, and round from now on."""
        batches = []
        for example in examples:
            ids, types, _ = self.ids(example)
            tokens = self.torch.tensor([ids], device=self.device)
            batches.append((tokens, tokens != 0, self.torch.tensor([types], device=self.device)))
        with self.torch.autocast(self.device, self.torch.bfloat16):
            self.bert.measure(batches)

    def test(self, data: Data) -> None:
        """Print what the model says of worlds that it has not seen."""
        self.model.eval()
        questions, pairs = data.held()
        with self.torch.no_grad():
            answers = [
                row
                for at in range(0, len(questions), 64)
                for row in self.run(questions[at : at + 64])[0].softmax(1).cpu().numpy()
            ]
            relations = np.concatenate(
                [
                    self.run(pairs[at : at + 64])[1].softmax(1).cpu().numpy()
                    for at in range(0, len(pairs), 64)
                ]
            )
        kinds: dict[str, list[bool]] = {}
        stale, none, stored = [], [], []
        for one, row in zip(questions, answers, strict=True):
            best = int(row[1 : 1 + len(one["notes"])].argmax())
            if one["kind"] != "not_stored" and not one["target"][0]:
                kinds.setdefault(one["kind"], []).append(one["target"][1 + best] >= 0.9)
                if any(one["stale"]):
                    stale.append(one["stale"][best])
            none.append(row[0])
            stored.append(one["kind"] != "not_stored")
        print(
            {kind: round(float(np.mean(right)), 2) for kind, right in sorted(kinds.items())},
            f"stale first {np.mean(stale):.2f}, stored {area(-np.array(none), np.array(stored)):.3f}",
        )
        truth = np.array([pair["relation"] for pair in pairs])
        print(
            f"relation right {(relations.argmax(1) == truth).mean():.3f},"
            f" updates {area(relations[:, 0] + relations[:, 1], truth <= 1):.3f}",
            flush=True,
        )

    def save(self, out: Path, name: str) -> None:
        out.mkdir(parents=True, exist_ok=True)
        named = {
            key.removeprefix("bert."): value.float().cpu().numpy()
            for key, value in self.model.state_dict().items()
        }
        small = {
            key: value if ".sites." in key else value.astype(np.float16)
            for key, value in named.items()
        }
        words = small.pop("words.weight")
        np.savez(out / f"{name}-words-0.npz", **{"words.weight.0": words[:15_000]})
        np.savez(out / f"{name}-words-1.npz", **{"words.weight.1": words[15_000:]})
        late = re.compile(r"layers\.[345]")
        np.savez(
            out / f"{name}-0.npz",
            **{key: value for key, value in small.items() if not late.match(key)},
        )
        np.savez(
            out / f"{name}-1.npz",
            **{key: value for key, value in small.items() if late.match(key)},
        )


def area(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> float:
    """Return the area under the curve: how often a true one has the higher score."""
    order = np.argsort(np.argsort(scores)) + 1.0
    positive = truth.sum()
    return float(
        (order[truth].sum() - positive * (positive + 1) / 2)
        / max(1, positive * (len(truth) - positive))
    )


def train(args: argparse.Namespace) -> None:
    trainer, data = (
        Trainer(args.folder, args.start, args.layers, args.inner),
        Data(args.folder, args.known, args.without),
    )
    trainer.test(data)
    trainer.learn(data, args)
    trainer.save(args.out, args.name)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["prepare", "train"])
    for name in ("folder", "--worlds", "--items", "--plain", "--out", "--start"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--without", type=int, help="a third of the worlds: 0, 1 or 2")
    parser.add_argument("--soft", type=Path, help="answers of `training.teach`")
    parser.add_argument("--rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--times", type=int, default=3, help="of each question, in a round")
    parser.add_argument(
        "--known", type=int, default=0, help="worlds that --start has learned from"
    )
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--inner", type=int, default=1536)
    parser.add_argument("--name", default="reader")
    args = parser.parse_args()
    {"prepare": prepare, "train": train}[args.step](args)


if __name__ == "__main__":
    main()
