"""Model families: what well-known embedders need, where their files or their server do not state it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Family(NamedTuple):
    """What models of one family need in front of queries and texts, how they pool tokens, and the
    lengths to which they were trained to be cut."""

    query_prompt: str = ""
    text_prompt: str = ""
    pooling: str = ""
    matryoshka: tuple[int, ...] = ()


_REPRESENT = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
_SEARCH = Family("search_query: ", "search_document: ", "mean")
_GEMMA = ("task: search result | query: ", "title: none | text: ", "mean")
_GEMINI_LENGTHS = (128, 256, 512, 768, 1536)
# By a pattern in the name without its owner; the first that fits counts. From the models' own cards.
_FAMILIES: tuple[tuple[str, Family], ...] = (
    (r"\be5-mistral", Family(f"Instruct: {_WEB_SEARCH}\nQuery: ", "", "lasttoken")),
    (r"\be5-.*instruct", Family(f"Instruct: {_WEB_SEARCH}\nQuery: ", "", "mean")),
    (r"\be5-(small|base|large)|-e5-(small|base|large)", Family("query: ", "passage: ", "mean")),
    (r"\bbge-m3", Family(pooling="cls")),
    (r"\bbge-.*-zh", Family("为这个句子生成表示以用于检索相关文章：", "", "cls")),
    (r"\bbge-(small|base|large)", Family(_REPRESENT, "", "cls")),
    (r"nomic-embed-text|modernbert-embed", _SEARCH),
    (r"mxbai-embed|uae-large", Family(_REPRESENT, "", "cls")),
    (r"arctic-embed.*-v2|arctic-embed2", Family("query: ", "", "cls")),
    (r"arctic-embed", Family(_REPRESENT, "", "cls")),
    (r"qwen3-embedding", Family(f"Instruct: {_WEB_SEARCH}\nQuery:", "", "lasttoken")),
    (r"embeddinggemma|embedding-gemma", Family(*_GEMMA, (128, 256, 512))),
    (r"gemini-embedding-2", Family(*_GEMMA, _GEMINI_LENGTHS)),
    (r"gemini-embedding", Family(matryoshka=_GEMINI_LENGTHS)),
    (r"text-embedding-3", Family(matryoshka=(256, 512, 1024))),
    (r"gte-.*-v1\.5|gte-modernbert|gte-multilingual|granite-embedding", Family(pooling="cls")),
    (r"\bgte-|minilm|mpnet|jina-embeddings-v2|paraphrase", Family(pooling="mean")),
)


def family_of(name: str) -> Family:
    """Return what is known of a model by its name, such as `intfloat/multilingual-e5-small`."""
    own = name.rpartition("/")[2].lower().replace("_", "-")
    return next((family for found, family in _FAMILIES if re.search(found, own)), Family())
