"""What the tables report: the measures of every question, by name."""

from __future__ import annotations

from scrubjay.ops.eval.run import mrr, ndcg, recall

Scores = dict[str, list[float]]  # of each measure, for every question
MEASURES = {"nDCG@10": ndcg, "Recall@10": recall, "MRR": mrr}
