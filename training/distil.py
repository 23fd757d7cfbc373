"""Distil MiniLM into a smaller encoder on one GPU, in minutes.

    python -m training.distil IN OUT --seconds 480

IN has corpus.txt.xz (training.corpus, compressed), tokenizer.json and base.npz (training.rank prepare).
Loss: one less the cosine to MiniLM of the text's vector, of each token's vector, and the difference
of cosines between texts.
After a third of the time weights and activations are rounded as in the exported model.
"""

from __future__ import annotations

import argparse
import lzma
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional

from training.bert import Bert, load_minilm
from training.steps import load

TOKENS, WINDOW = 32_768, 256
LEARNING_RATE, WARM_UP, ROUNDED_FROM = 6e-4, 0.02, 0.33
TESTED = 60  # batches that nothing is learned from


def batches(folder: Path) -> list[np.ndarray[Any, Any]]:
    """Return the texts as padded arrays of tokens, each of texts of like length, shuffled."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    texts = []
    for path in sorted(folder.glob("corpus*.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            texts += [line.rstrip("\n") for line in file]
    rows: list[np.ndarray[Any, Any]] = []
    for start in range(0, len(texts), 200_000):
        part = tokenizer.encode_batch_fast(texts[start : start + 200_000])
        rows += [np.array(one.ids, np.uint16) for one in part]
    rng = np.random.default_rng(7)
    lengths = np.array([len(row) for row in rows])
    order = np.argsort(lengths + rng.random(len(rows)) * 3)
    print(f"{len(rows):,} texts, {lengths.sum():,} tokens", flush=True)
    found, kept = [], []
    for at in order:
        if kept and (len(kept) + 1) * len(rows[at]) > TOKENS:
            found.append(kept)
            kept = []
        kept.append(rows[at])
    found.append(kept)
    arrays = []
    for group in found:
        array = np.zeros((len(group), max(map(len, group))), np.uint16)
        for at, row in enumerate(group):
            array[at, : len(row)] = row
        arrays.append(array)
    return [arrays[at] for at in rng.permutation(len(arrays))]


def pooled(rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return functional.normalize((rows * mask[..., None]).sum(1), dim=-1)


def compare(student: Bert, teacher: Bert, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the three parts of the loss."""
    mask = ids != 0
    with torch.no_grad():
        theirs = teacher(ids, mask).float()
    ours = student(ids, mask).float()
    left, right = pooled(ours, mask), pooled(theirs, mask)
    tokens = functional.cosine_similarity(ours, theirs, dim=-1)[mask]
    few = slice(0, 1024)
    apart = (left[few] @ left[few].T - right[few] @ right[few].T).square().mean()
    return 1 - (left * right).sum(-1).mean(), 1 - tokens.mean(), apart


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--inner", type=int, default=1024)
    parser.add_argument(
        "--start",
        type=Path,
        help="go on from the arrays in this folder, rounded from the beginning",
    )
    parser.add_argument("--rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 2, 5])
    args = parser.parse_args()
    torch.manual_seed(7)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    base = np.load(args.folder / "base.npz")
    weights = {name: base[name] for name in base.files}
    teacher, student = Bert().to(device).eval(), Bert(layers=len(args.layers), inner=args.inner)
    load_minilm(teacher, weights, tuple(range(6)))
    load_minilm(student, weights, tuple(args.layers))
    if args.start is not None:
        state = {
            name: torch.as_tensor(np.float32(value))
            for name, value in load(args.start, "encoder").items()
        }
        student.load_state_dict(state)
        student.switch("on")
    teacher, student = teacher.to(device), student.to(device)
    arrays = batches(args.folder)
    tested, learned = arrays[:TESTED], arrays[TESTED:]

    def tensor(array: np.ndarray[Any, Any]) -> torch.Tensor:
        return torch.from_numpy(array.astype(np.int32)).to(device, non_blocking=True).long()

    def test() -> list[float]:
        student.eval()
        with torch.no_grad(), torch.autocast(device, torch.bfloat16):
            parts = [torch.stack(compare(student, teacher, tensor(array))) for array in tested]
        student.train()
        return torch.stack(parts).mean(0).tolist()

    optimizer = torch.optim.AdamW(student.parameters(), weight_decay=0.01, fused=device == "cuda")
    began, step, losses = time.monotonic(), 0, []
    print("before", test(), flush=True)
    student.train()
    spent = 0.0
    while spent < args.seconds:
        if not student.on and spent > ROUNDED_FROM * args.seconds:
            print("exact", test(), flush=True)
            with torch.autocast(device, torch.bfloat16):
                student.measure([(tensor(array), tensor(array) != 0) for array in tested[:20]])
            print("rounded at once", test(), flush=True)
        share = spent / args.seconds
        rate = min(share / WARM_UP + 0.01, (1 - share) / (1 - WARM_UP))
        optimizer.param_groups[0]["lr"] = args.rate * max(rate, 0.003)
        with torch.autocast(device, torch.bfloat16):
            whole, tokens, apart = compare(student, teacher, tensor(learned[step % len(learned)]))
        optimizer.zero_grad(set_to_none=True)
        (whole + tokens + 10 * apart).backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        losses.append(torch.stack([whole, tokens, apart]).detach())
        step += 1
        if step % 50 == 0:
            torch.cuda.synchronize() if device == "cuda" else None
        spent = time.monotonic() - began
        if step % 1000 == 0:
            means = torch.stack(losses[-1000:]).mean(0).tolist()
            print(f"{step} ({step / len(learned):.1f} rounds, {spent:.0f} s)", means, flush=True)
    print("after", test(), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    state = {
        name: value.half().cpu().numpy()
        if value.is_floating_point() and "sites" not in name
        else value.float().cpu().numpy()
        for name, value in student.state_dict().items()
    }
    words = state.pop("words.weight")  # in files of a size that travels
    np.savez(args.out / "encoder-words-0.npz", **{"words.weight.0": words[:15_000]})
    np.savez(args.out / "encoder-words-1.npz", **{"words.weight.1": words[15_000:]})
    np.savez(args.out / "encoder.npz", **state)


if __name__ == "__main__":
    main()
