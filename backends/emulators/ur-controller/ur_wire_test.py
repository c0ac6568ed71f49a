"""Bytes of the data exchange, by a bare client."""

from __future__ import annotations

import itertools
import struct
import time

import pytest
from emulator import Emulator, Rtde, wait_for


def test_versions(shared: Emulator) -> None:
    with Rtde(shared, None) as client:
        assert client.call(b"V", struct.pack(">H", 3)) == b"\x00"
        assert client.call(b"V", struct.pack(">H", 1)) == b"\x01"
        assert client.call(b"V", struct.pack(">H", 2)) == b"\x01"
        assert struct.unpack(">4I", client.call(b"v")) == (5, 17, 3, 128957)


def test_output_set_up_answers_types_and_recipe(shared: Emulator) -> None:
    with Rtde(shared) as client:
        names = "timestamp,actual_q,robot_mode,joint_mode,runtime_state,actual_digital_input_bits,"
        types = b"DOUBLE,VECTOR6D,INT32,VECTOR6INT32,UINT32,UINT64"
        assert client.outputs(names) == b"\x01" + types
        assert client.outputs("timestamp,nothing") == b"\x00DOUBLE,NOT_FOUND"
        assert client.call(b"S") == b"\x01"  # the first set-up still holds
        body = client.data()
        assert body[0] == 1 and len(body) == 1 + 8 + 48 + 4 + 24 + 4 + 8
        assert struct.unpack(">i", body[57:61]) == (7,)


def test_start_needs_an_output(shared: Emulator) -> None:
    with Rtde(shared) as client:
        assert client.call(b"S") == b"\x00"
        kind, text = client.package()
        assert kind == b"M"
        length = text[0]
        assert b"no outputs" in text[1 : 1 + length]
        source = text[1 + length]
        assert text[2 + length : 2 + length + source] == b"Controller"
        assert len(text) == 3 + length + source  # the level is last
        assert client.outputs("timestamp") == b"\x01DOUBLE"
        assert client.call(b"S") == b"\x01"
        assert client.call(b"P") == b"\x01"


def test_version_1_has_no_recipe_number(shared: Emulator) -> None:
    with Rtde(shared, 1) as client:
        assert client.call(b"O", b"timestamp,robot_mode") == b"DOUBLE,INT32"
        assert client.call(b"S") == b"\x01"
        first = client.data()
        assert len(first) == 12
        second = client.data()
        gap = struct.unpack(">d", second[:8])[0] - struct.unpack(">d", first[:8])[0]
        assert gap == pytest.approx(0.008, abs=1e-6)  # 125 Hz


def test_lists_over_2048_bytes_are_refused(shared: Emulator) -> None:
    with Rtde(shared) as client:
        names = "timestamp," * 205
        assert len(names) > 2048
        assert client.outputs(names)[0] == 0
        assert client.inputs("input_int_register_0," * 100)[0] == 0


@pytest.mark.parametrize(
    ("asked", "given"), [(500.0, 500), (100.0, 100), (10000.0, 500), (0.01, 1), (float("nan"), 1)]
)
def test_frequency_is_clamped_and_kept(shared: Emulator, asked: float, given: int) -> None:
    with Rtde(shared) as client:
        client.outputs("timestamp", asked)
        client.call(b"S")
        stamps = [struct.unpack(">d", client.data()[1:])[0] for _ in range(3 if given == 1 else 50)]
        mean = (stamps[-1] - stamps[0]) / (len(stamps) - 1)
        assert mean == pytest.approx(1 / given, rel=0.1)


def test_inputs_belong_to_one_connection(shared: Emulator) -> None:
    with Rtde(shared) as first, Rtde(shared) as second:
        assert first.inputs("input_int_register_30,input_double_register_30") == b"\x01INT32,DOUBLE"
        assert first.inputs("input_int_register_30") == b"\x02INT32"
        assert second.inputs("input_int_register_30,input_int_register_31") == b"\x00IN_USE,INT32"
        assert second.inputs("input_int_register_31,nothing") == b"\x00INT32,NOT_FOUND"
        assert second.inputs("input_int_register_31") == b"\x01INT32"  # a refusal takes nothing
        first.link.close()
        assert wait_for(lambda: second.inputs("input_int_register_30")[0] == 2)


def test_inputs_are_written_and_can_be_read_back(shared: Emulator) -> None:
    with Rtde(shared) as writer, Rtde(shared) as reader:
        writer.inputs("input_int_register_40,input_double_register_41,input_bit_register_70")
        reader.outputs("input_int_register_40,input_double_register_41,input_bit_register_70")
        reader.call(b"S")
        writer.send(b"U", b"\x01" + struct.pack(">id?", -5, 2.5, True))
        expected = b"\x01" + struct.pack(">id?", -5, 2.5, True)
        assert wait_for(lambda: reader.data() == expected)


def test_unknown_recipe_and_type_are_told(shared: Emulator) -> None:
    with Rtde(shared) as client:
        client.send(b"U", b"\x09" + bytes(8))
        kind, text = client.package()
        assert kind == b"M" and b"unknown recipe 9" in text
        client.send(b"Z", b"")
        kind, text = client.package()
        assert kind == b"M" and b"unknown package type" in text


def test_requests_in_pieces_and_in_one_piece(shared: Emulator) -> None:
    with Rtde(shared, None) as client:
        request = struct.pack(">H", 5) + b"V" + struct.pack(">H", 2)
        for byte in request:
            client.link.sendall(bytes([byte]))
            time.sleep(0.002)
        assert client.package() == (b"V", b"\x01")
        client.link.sendall(request + struct.pack(">H", 3) + b"v")
        assert client.package()[0] == b"V"
        assert client.package()[0] == b"v"


def test_impossible_size_closes_the_connection(shared: Emulator) -> None:
    with Rtde(shared) as client:
        client.link.sendall(b"\x00\x01V")
        with pytest.raises(ConnectionError):
            client.package()


def test_a_reader_that_sleeps_gets_the_newest_state_and_others_are_not_held_up() -> None:
    with Emulator() as emulator, Rtde(emulator) as slow, Rtde(emulator) as quick:
        for client in (slow, quick):
            client.outputs("timestamp," + "actual_q," * 40)
            client.call(b"S")
        stamps = []
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            stamps.append(struct.unpack(">d", quick.data()[1:9])[0])
        gaps = [b - a for a, b in itertools.pairwise(stamps)]
        assert sorted(gaps)[len(gaps) // 2] == pytest.approx(0.002, abs=1e-6)
        late = [struct.unpack(">d", slow.data()[1:9])[0] for _ in range(400)]
        assert late == sorted(late)


def test_a_reader_that_never_reads_is_cut_off() -> None:
    with Emulator() as emulator, Rtde(emulator) as client:
        client.link.setsockopt(1, 8, 4096)  # SO_RCVBUF
        client.outputs("timestamp," + "actual_q," * 100)
        client.call(b"S")
        time.sleep(9)
        client.link.settimeout(2)
        with pytest.raises((ConnectionError, OSError)):
            while True:
                client.data()


def test_text_reaches_started_clients_when_a_script_is_refused(shared: Emulator) -> None:
    with Rtde(shared) as client, shared.connect(30003) as script:
        client.outputs("timestamp")
        client.call(b"S")
        script.sendall(b"def other():\n  x = unknown_function(3)\nend\n")
        end = time.monotonic() + 3
        while not client.texts and time.monotonic() < end:
            client.data()
        assert b"script not understood at: x = unknown_function(3)" in client.texts[0]
