"""Build the training text: manuals, dictionaries and help texts of Debian packages, cut into passages.

    python -m training.corpus DEBS OUT --train TRAIN --not-in EVAL

DEBS is a folder with the packages of `training/packages.tsv` (`apt-get download` each, or `--download`).
TRAIN has squad_train.jsonl and medquad.jsonl. A passage with a sentence of EVAL is left out.
OUT gets one file of lines, a passage each.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGES = Path(__file__).with_name("packages.tsv")
PACKAGE_CHARS = 7_000_000  # of one package at most: no source may crowd out the others
FEW_CHARS, MOST_CHARS = 20, 1_400
DROPPED = re.compile(r"(?is)<(script|style|nav|head|pre)\b.*?</\1>")
BLOCK = re.compile(r"(?i)</?(p|div|li|ul|ol|h\d|tr|table|dd|dt|dl|section|para|title|br)\b[^>]*>")
TAG = re.compile(r"<[^>]*>")
MACRO = re.compile(r"(?m)^[.'](SH|SS|TP|PP|P|LP|IP|HP|B|I|BR|IR|RB|RI|BI|IB|TH)?\b[ ]*(.*)$")
ESCAPE = re.compile(r"\\(f[A-Z]|f\([A-Z]{2}|&|\||s[-+]?\d|c)")
SPACE = re.compile(r"[ \t\r\f\v]+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
ENGLISH = re.compile(r"(?i)\b(the|of|to|and|is|in|you|that|for|with|this|are)\b")


def read(path: Path) -> str:
    """Return the plain text of a file, or nothing where its format is not known."""
    name, raw = path.name.lower(), path.read_bytes()
    if name.endswith((".gz", ".dz")):
        raw, name = gzip.decompress(raw), name[:-3]
    text = raw.decode("utf-8", "ignore")
    if re.search(r"\.[1-8][a-z]*$", name):
        return roff(text)
    if name.endswith((".html", ".htm", ".xml", ".page", ".xhtml", ".docbook", ".xhp")):
        return markup(text)
    if name.endswith((".txt", ".rst", ".md", ".dict", ".info", ".tex", ".texi", ".pod")) or (
        "/doc/" in str(path) or "/info/" in str(path) or "/games/fortunes/" in str(path)
    ):
        return text.replace("\n%\n", "\n\n")
    return ""


def markup(text: str) -> str:
    """Return the text of HTML or DocBook, a blank line between blocks."""
    return html.unescape(TAG.sub("", BLOCK.sub("\n\n", DROPPED.sub(" ", text))))


def roff(text: str) -> str:
    """Return the text of a manual page, without its macros."""
    text = re.sub(r"(?m)^[.']\\\".*$", "", text)
    text = MACRO.sub(
        lambda found: (
            ("\n\n" if found[1] in {"SH", "SS", "TP", "PP", "P", "LP", "IP"} else "") + found[2]
        ),
        text,
    )
    return ESCAPE.sub("", text).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of running English text."""
    for part in re.split(r"\n\s*\n", text):
        part = SPACE.sub(" ", part.replace("\n", " ")).strip()
        letters = sum(char.isalpha() or char == " " for char in part)
        if len(part) >= 40 and letters > 0.82 * len(part) and ENGLISH.search(part):
            yield part


def of_package(deb: Path) -> list[str]:
    """Return the paragraphs of a package."""
    found, total = [], 0
    with TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", str(deb), folder], check=True)
        files = sorted(
            path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()
        )
        random.Random(7).shuffle(files)
        for path in files:
            if path.stat().st_size > 60_000_000 or total > PACKAGE_CHARS:
                continue
            try:
                parts = list(paragraphs(read(path)))
            except (OSError, EOFError, zlib.error):
                continue
            found += parts
            total += sum(map(len, parts))
    return found


def passages(parts: Iterable[str], rng: random.Random) -> Iterator[str]:
    """Yield texts of many lengths: sentences, paragraphs, and paragraphs that follow each other."""
    kept: list[str] = []
    wanted = 0
    for part in parts:
        if not kept:
            wanted = rng.choice((90, 250, 250, 500, 700, 1000))
        if not kept and wanted == 90 and len(part) < 4_000:
            sentences = SENTENCE_END.split(part)
            yield from (one[:400] for one in sentences if len(one) >= FEW_CHARS)
            continue
        kept.append(part[:MOST_CHARS])
        if sum(map(len, kept)) >= wanted:
            yield " ".join(kept)[:MOST_CHARS]
            kept = []
    if kept:
        yield " ".join(kept)[:MOST_CHARS]


def descriptions() -> list[str]:
    """Return the descriptions of all packages that apt knows."""
    listed = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, check=True
    ).stdout.decode()
    found = re.findall(r"(?m)^Description(?:-en)?: (.*(?:\n .*)*)", listed)
    return [SPACE.sub(" ", part.replace("\n .", " ").replace("\n", " ")).strip() for part in found]


def marks(text: str) -> set[str]:
    """Return the sentences of a text that no other text has by chance."""
    return {" ".join(part.lower().split()) for part in SENTENCE_END.split(text) if len(part) > 60}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("debs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--not-in", type=Path, required=True)
    parser.add_argument("--download", action="store_true")
    args = parser.parse_args()
    if args.download:
        names = [
            line.split("\t")[0] for line in PACKAGES.read_text(encoding="utf-8").splitlines()[1:]
        ]
        args.debs.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", *names], cwd=args.debs, check=True)
    forbidden: set[str] = set()
    for path in [*args.not_in.rglob("corpus.jsonl"), *args.not_in.rglob("queries.jsonl")]:
        for line in path.open(encoding="utf-8"):
            forbidden |= marks(json.loads(line)["text"])
    rng, seen = random.Random(7), set[int]()
    counts: dict[str, int] = {}
    with ProcessPoolExecutor(2) as pool, args.out.open("w", encoding="utf-8") as out:

        def write(source: str, texts: Iterable[str]) -> None:
            for text in texts:
                key = hash(text)
                if key in seen or marks(text) & forbidden:
                    continue
                seen.add(key)
                out.write(text.replace("\n", " ") + "\n")
                counts[source] = counts.get(source, 0) + len(text)

        debs = sorted(args.debs.glob("*.deb"))
        for deb, parts in zip(debs, pool.map(of_package, debs), strict=True):
            fresh = list(dict.fromkeys(parts))
            write(deb.name.split("_")[0], passages(fresh, rng))
        write("descriptions", descriptions())
        for name, fields in (
            ("squad_train", ("passage", "queries")),
            ("medquad", ("passage", "query")),
        ):
            for line in (args.train / f"{name}.jsonl").open(encoding="utf-8"):
                row = json.loads(line)
                texts = [
                    row[fields[0]][:MOST_CHARS],
                    *([row[fields[1]]] if isinstance(row[fields[1]], str) else row[fields[1]]),
                ]
                write(name, texts)
    print(
        *(
            f"{source}\t{chars:,}"
            for source, chars in sorted(counts.items(), key=lambda pair: -pair[1])
        ),
        sep="\n",
    )
    print("all", sum(counts.values()))


if __name__ == "__main__":
    main()
