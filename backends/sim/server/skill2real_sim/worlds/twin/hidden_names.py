"""Names that only the evaluator sees, under a salt that tests of the wall change."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ..base import Evaluation


def hidden_name(name: str, salt: str) -> str:
    """``name`` itself without a salt, else a name that tells nothing and is stable for the salt."""
    if not salt:
        return name
    return "h" + hashlib.sha256(f"{salt}|{name}".encode()).hexdigest()[:12]


def salted_evaluation(evaluation: Evaluation, salt: str) -> Evaluation:
    """The same verdict with predicates renamed, and ordered by their new names."""
    if not salt:
        return evaluation
    renamed = [replace(p, name=hidden_name(p.name, salt)) for p in evaluation.predicates]
    return replace(evaluation, predicates=sorted(renamed, key=lambda p: p.name))
