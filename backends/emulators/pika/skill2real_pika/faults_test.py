from __future__ import annotations

import pytest

from .faults import PARAMETERS, BadFault, Fault, parse_fault


def test_reads_the_documented_lines() -> None:
    assert parse_fault('{"fault":"freeze","seconds":2}') == Fault("freeze", 2.0)
    assert parse_fault('{"fault":"unplug"}') == Fault("unplug", None)
    assert parse_fault('{"clear":true}') == Fault("clear")
    for kind in PARAMETERS:
        assert parse_fault(f'{{"fault":"{kind}"}}').kind == kind


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "JSON"),
        ("[1]", "JSON object"),
        ('{"fault":"fire"}', "freeze"),
        ('{"fault":"rst"}', "serial line"),
        ('{"fault":"protective_stop"}', "ur-controller"),
        ('{"fault":"drop","share":2}', "from 0 to 1"),
        ('{"fault":"drop","share":true}', "from 0 to 1"),
        ('{"fault":"stuck","share":1}', "nothing"),
        ('{"clear":true,"fault":"drop"}', "alone"),
    ],
)
def test_refuses_with_what_is_allowed(line: str, words: str) -> None:
    with pytest.raises(BadFault, match=words):
        parse_fault(line)
