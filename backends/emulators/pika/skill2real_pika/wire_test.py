from __future__ import annotations

import json
import re

from .wire import Frame, FrameReader, InfoRequest, Telemetry, info_text, telemetry_text

ENABLE = bytes.fromhex("0b00000000 0d0a")
POSITION_1_RAD = bytes.fromhex("160000803f 0d0a")
VELOCITY_PAIR = bytes.fromhex("0d0000803f0000803f 0d0a")
TELEMETRY = Telemetry(0.5, -600.0, 1.25, 24.0, 33.0, 31.0, 0xC0, 240.0)


def test_documented_frames_in_any_pieces() -> None:
    data = ENABLE + POSITION_1_RAD + b"GET_INFO\r\n" + VELOCITY_PAIR
    for size in (1, 2, 3, 7, 100):
        reader = FrameReader("ros")
        found = [item for at in range(0, len(data), size) for item in reader.feed(data[at : at + size])]
        assert found == [
            Frame(11, 0.0, 0.0, True),
            Frame(22, 1.0, 0.0, True),
            InfoRequest(),
            Frame(13, 1.0, 1.0, True),
        ]


def test_a_float_may_hold_a_line_end() -> None:
    data = b"\x16\x0d\x0a\x0d\x0a\x0d\x0a"
    (frame,) = FrameReader("sdk").feed(data)
    assert isinstance(frame, Frame) and frame.code == 22


def test_each_dialect_knows_its_codes() -> None:
    known = {
        dialect: [
            c
            for c in range(256)
            if c != 13 and next(iter(FrameReader(dialect).feed(bytes([c, 0, 0, 0, 0, 13, 10])))).known
        ]
        for dialect in ("sdk", "ros")
    }
    assert known == {"sdk": [10, 11, 12, 15, 20, 21, 22], "ros": [10, 11, 12, 15, 22, 23]}


def test_the_sdk_firmware_stumbles_over_the_long_frame_and_finds_back() -> None:
    reader = FrameReader("sdk")
    found = list(reader.feed(VELOCITY_PAIR + POSITION_1_RAD))
    assert reader.dropped_bytes > 0
    assert found[-1] == Frame(22, 1.0, 0.0, True)


def test_telemetry_is_json_but_for_the_stray_commas() -> None:
    text = telemetry_text(TELEMETRY, trailing_comma=False).decode()
    told = json.loads(text)
    assert told["motor"] == {"Speed": 0.5, "Current": -600.0, "Position": 1.25}
    assert told["motorstatus"]["Status"] == "0xC0"
    assert re.search(r"[{,]\r\n", text) and "\n" not in text.replace("\r\n", "")
    stray = telemetry_text(TELEMETRY, trailing_comma=True).decode()
    assert re.search(r",\s*}", stray)
    assert json.loads(re.sub(r",(\s*})", r"\1", stray)) == told
    assert json.loads(info_text("1.2.3"))["Version"] == "1.2.3"
