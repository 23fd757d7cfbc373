"""Let readers that learned from two thirds of the worlds weigh the answers of all: soft targets.

    for k in 0 1 2: python -m training.changes train IN --out K/k --name ranker --start RANKER --without k
    python -m training.teach IN --readers K --out SOFT
    python -m training.changes train IN --out OUT --start READER --soft SOFT --rate 5e-5

A reader is sure of what it learned by heart. Of a world, the one that did not learn from it has half of
the say, the other two a quarter each. A reader that learns from such answers orders notes of worlds that
it has not seen better than one that learns from labels alone.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np

from training.changes import ROUND_SEED, TIMES_TAUGHT, Data, Example, Trainer, third

THIRDS, OF_ITS_OWN, BATCH = 3, 0.5, 512
NOTES, RELATIONS = 9, 5  # none and eight notes
LEAST = 1e-5

Array = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("folder", "--readers", "--out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    data = Data(args.folder, 0)
    readers = [
        Trainer(args.folder, args.readers / str(at), layers=6, inner=1536) for at in range(THIRDS)
    ]
    for number in range(args.rounds):
        examples = data.round(random.Random(ROUND_SEED + number), TIMES_TAUGHT)
        weighed = np.log(mixed(readers, examples) + LEAST).astype(np.float16)
        np.save(args.out / f"soft-{number}.npy", weighed)
        print(f"round {number}: {len(examples)} examples", flush=True)


def mixed(readers: list[Trainer], examples: list[Example]) -> Array:
    """Return for each example the probabilities of none and each note, and of each relation."""
    thirds = np.array([third(one["world"]) if "world" in one else -1 for one in examples])
    total = np.zeros((len(examples), NOTES + RELATIONS), np.float32)
    for at, reader in enumerate(readers):
        weight = np.where(thirds == at, OF_ITS_OWN, (1 - OF_ITS_OWN) / (THIRDS - 1))
        weight[thirds < 0] = 1 / THIRDS
        total += weight[:, None].astype(np.float32) * said(reader, examples)
    return total


def said(reader: Trainer, examples: list[Example]) -> Array:
    """Return what one reader says of each example."""
    order = sorted(
        range(len(examples)), key=lambda at: sum(len(text) for _, text in examples[at]["notes"])
    )
    found = np.zeros((len(examples), NOTES + RELATIONS), np.float32)
    reader.model.eval()
    with reader.torch.no_grad():
        for start in range(0, len(order), BATCH):
            rows = np.array(order[start : start + BATCH])
            answers, relations = reader.run([examples[at] for at in rows])
            found[rows[:, None], np.arange(answers.shape[1])] = answers.softmax(1).cpu().numpy()
            found[rows, NOTES:] = relations.float().softmax(1).cpu().numpy()
    return found


if __name__ == "__main__":
    main()
