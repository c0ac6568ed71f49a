"""Small helpers to write MJCF."""

from __future__ import annotations

from collections.abc import Iterable


def numbers(values: Iterable[float]) -> str:
    """Space-separated numbers that read back to the same doubles."""
    return " ".join(repr(float(v)) for v in values)


def element(tag: str, children: Iterable[str] = (), **attributes: object) -> str:
    """One XML element; a sequence of floats becomes an attribute of numbers, None is left out."""
    parts = [tag]
    for key, value in attributes.items():
        if value is None:
            continue
        text = (
            value
            if isinstance(value, str)
            else numbers(value)
            if isinstance(value, Iterable)
            else repr(value)
        )
        parts.append(f'{key.rstrip("_")}="{text}"')
    inner = "".join(children)
    return f"<{' '.join(parts)}>{inner}</{tag}>" if inner else f"<{' '.join(parts)}/>"
