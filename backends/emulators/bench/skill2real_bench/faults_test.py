from __future__ import annotations

import pytest

from .faults import CAMERA_FAULTS, ELSEWHERE, BadFault, parse_fault


def test_lines_that_break_something() -> None:
    assert parse_fault('{"fault":"freeze","seconds":1.5}').cameras == ()
    assert parse_fault('{"fault":"freeze","seconds":1.5}').seconds == 1.5
    assert parse_fault('{"fault":"unplug"}').cameras == ("wrist", "scene")
    assert parse_fault('{"fault":"delay","ms":40,"camera":"scene"}').cameras == ("scene",)
    assert parse_fault('{"clear":true}').kind == "clear"
    assert parse_fault('{"stats":true}').kind == "stats"
    for name in CAMERA_FAULTS:
        assert parse_fault(f'{{"fault":"{name}","camera":"wrist"}}').kind == name


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"fault":"melt"}', "there is: freeze"),
        ('{"fault":"delay","ms":-1}', "give 0 to"),
        ('{"fault":"delay","ms":"x"}', "give a number"),
        ('{"fault":"delay","ms":true}', "give a number"),
        ('{"fault":"drop","share":1.5}', "give 0 to 1"),
        ('{"fault":"freeze","camera":"belly"}', "no camera 'belly'"),
        ('{"fault":"freeze","second":1}', "unknown key 'second'"),
        ('{"clear":true,"stats":true}', "alone"),
        ('{"clear":false}', "alone"),
    ],
)
def test_lines_that_are_refused(line: str, says: str) -> None:
    with pytest.raises(BadFault, match=says):
        parse_fault(line)


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_faults_of_other_parts_are_named_so(name: str) -> None:
    with pytest.raises(BadFault, match="no fault"):
        parse_fault(f'{{"fault":"{name}"}}')
