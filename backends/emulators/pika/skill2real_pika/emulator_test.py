"""The emulator as a process, against a client of its own."""

from __future__ import annotations

import errno
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .linkage import angle_of, opening_of
from .plant_jaw import PlantMemory
from .testing.plain_client import PlainClient
from .testing.running import Running

POSITION_CODES = {"sdk": (22,), "ros": (22, 23)}


def until(check: Callable[[], bool], seconds: float = 5.0) -> None:
    end_s = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end_s, "did not come about"
        time.sleep(0.02)


@pytest.mark.parametrize("dialect", ["sdk", "ros"])
def test_an_independent_client_moves_it(dialect: str) -> None:
    with Running("--dialect", dialect, "--initial-mm", "20") as gripper:
        client = PlainClient(gripper.path)
        before = client.newest()
        assert before["motorstatus"]["Status"] == "0x80"
        assert before["motor"]["Position"] == pytest.approx(angle_of(0.02), abs=2e-3)
        client.send(15, 1.0)
        client.send(22, 1.2)
        assert client.newest(0.3)["motor"]["Position"] == pytest.approx(angle_of(0.02), abs=2e-3)
        client.send(11)
        assert client.newest()["motorstatus"]["Status"] == "0xC0"
        for code in POSITION_CODES[dialect]:
            client.send(21, 3.0) if dialect == "sdk" else client.send(13, 3.0, 3.0)
            client.send(code, 1.2)
            assert client.newest(1.0)["motor"]["Position"] == pytest.approx(1.2, abs=3e-3)
            client.send(code, 0.5)
            assert client.newest(1.0)["motor"]["Position"] == pytest.approx(0.5, abs=3e-3)
        client.send(10)
        assert client.newest()["motorstatus"]["Status"] == "0x80"
        stats = gripper.stats()
        assert stats["limit_a"] == 1.0 and stats["unknown"] == {}
        client.close()


def test_codes_of_the_other_dialect_do_nothing() -> None:
    with Running("--dialect", "sdk") as gripper:
        client = PlainClient(gripper.path)
        client.send(11)
        client.send(23, 0.2)
        assert client.newest(0.5)["motor"]["Position"] == pytest.approx(angle_of(0.05), abs=3e-3)
        assert gripper.stats()["unknown"] == {"23": 1}
        client.close()


def test_version_rate_and_stray_commas() -> None:
    with Running("--rate", "100", "--firmware", "2.0.1") as gripper:
        client = PlainClient(gripper.path)
        client.send_raw(b"GET_INFO\r\n")
        objects = client.objects(3.0)
        assert [each["Version"] for each in objects if "Version" in each] == ["2.0.1"]
        told = sum("motor" in each for each in objects)
        assert 150 < told < 310
        assert re.search(rb",\r\n}", client.raw)
        client.close()


def test_presses_an_obstacle_with_the_limit_closing_negative() -> None:
    with Running("--obstacle-mm", "40") as gripper:
        client = PlainClient(gripper.path)
        client.send(20, 0.6)
        client.send(11)
        client.send(22, 0.0)
        motor = client.newest(1.5)["motor"]
        assert motor["Position"] == pytest.approx(angle_of(0.04), abs=2e-3)
        assert motor["Current"] == pytest.approx(-600, abs=20)
        gripper.fault("obstacle", mm=30)
        assert client.newest(0.5)["motor"]["Position"] == pytest.approx(angle_of(0.03), abs=2e-3)
        gripper.fault("status", bits=4)
        assert client.newest()["motorstatus"]["Status"] == "0x84"
        client.close()


def test_too_much_current_trips_the_driver() -> None:
    with Running("--obstacle-mm", "40") as gripper:
        client = PlainClient(gripper.path)
        client.send(20, 9.0)
        client.send(11)
        client.send(22, 0.0)
        assert client.newest(1.0)["motorstatus"]["Status"] == "0x84"
        assert gripper.stats()["enabled"] is False
        client.close()


def test_damage_leaves_objects_that_a_reader_can_still_find() -> None:
    with Running() as gripper:
        client = PlainClient(gripper.path)
        gripper.fault("half_frames", share=0.5)
        gripper.fault("noise", share=0.5)
        client.read_raw(2.0)
        raw = client.raw
        assert len(re.findall(rb'"Position":\d\.\d{5}', raw)) > 100
        # Some ends of objects are followed by the middle of another one.
        assert re.search(rb"}\r\n[^{\r\n]", raw)
        assert any(byte > 0x7F for byte in raw)
        client.close()


def test_freeze_delay_and_clear() -> None:
    with Running() as gripper:
        client = PlainClient(gripper.path)
        client.newest()
        gripper.fault("freeze", seconds=600)
        client.objects(0.1)
        assert client.objects(0.3) == []
        assert gripper.say(clear=True) == {"done": "clear"}
        assert client.newest(0.3)["motor"]
        client.close()


def test_stuck_fingers_press_and_do_not_turn() -> None:
    with Running() as gripper:
        client = PlainClient(gripper.path)
        client.send(20, 0.5)
        client.send(11)
        gripper.fault("stuck")
        client.send(22, 0.0)
        motor = client.newest(0.6)["motor"]
        assert motor["Position"] == pytest.approx(angle_of(0.05), abs=2e-3)
        assert motor["Current"] == pytest.approx(-500, abs=20)
        client.close()


def test_unplugging_hangs_up_and_the_link_comes_back_under_another_name(tmp_path: Path) -> None:
    link = tmp_path / "gripper"
    with Running("--link", str(link)) as gripper:
        assert os.readlink(link) == gripper.path
        client = PlainClient(str(link))
        client.newest()
        gripper.fault("unplug")
        with pytest.raises(OSError) as lost:
            client.objects(1.0)
        assert lost.value.errno in (errno.EIO, None)
        client.close()
        assert not link.is_symlink()
        assert gripper.say(clear=True) == {"done": "clear"}
        until(link.is_symlink)
        before = os.readlink(link)
        gripper.fault("replug_other_name", seconds=0.1)
        until(lambda: link.is_symlink() and os.readlink(link) != before)
        client = PlainClient(str(link))
        assert client.newest()["motor"]
        client.close()
        assert gripper.end() == 0
    assert not link.is_symlink()


def test_reset_on_open_forgets_the_settings() -> None:
    with Running("--reset-on-open") as gripper:
        client = PlainClient(gripper.path)
        time.sleep(0.5)
        client.send(11)
        client.send(20, 0.5)
        until(lambda: gripper.stats()["enabled"])
        client.close()
        until(lambda: not gripper.stats()["host"])
        assert gripper.stats()["enabled"] is True
        client = PlainClient(gripper.path)
        until(lambda: gripper.stats()["enabled"] is False)
        assert gripper.stats()["limit_a"] == 3.0
        client.close()


def test_an_exclusive_hold_ends_with_its_owner() -> None:
    with Running() as gripper:
        for _ in range(3):
            client = PlainClient(gripper.path)
            assert client.newest()["motor"]
            client.close()


def test_kill_is_at_once_and_bad_lines_are_answered() -> None:
    with Running() as gripper:
        assert "freeze" in gripper.say(fault="fire")["error"]
        gripper.say_without_answer(fault="kill")
        assert gripper.wait() == -signal.SIGKILL


def test_with_a_plant_its_jaw_turns(tmp_path: Path) -> None:
    """The test is the bench: a jaw that follows at once and presses at 30 mm with the asked force."""
    memory = PlantMemory.create(str(tmp_path / "plant"))
    stop = threading.Event()
    seen: dict[str, float] = {}

    def jaw() -> None:
        opening_m = 0.06
        while not stop.is_set():
            force_n = 0.0
            if memory.gripper_command.read():
                command = memory.gripper_command.staged
                seen.update(
                    {name: float(command[name]) for name in ("opening_m", "force_n", "speed_m_s", "enabled")}
                )
                if seen["enabled"]:
                    opening_m = max(0.03, seen["opening_m"])
                    force_n = seen["force_n"] if seen["opening_m"] < 0.03 else 0.0
            state = memory.gripper_state.staged
            state["opening_m"], state["force_n"], state["host_time_s"] = opening_m, force_n, time.monotonic()
            memory.gripper_state.write()
            time.sleep(0.002)

    thread = threading.Thread(target=jaw)
    thread.start()
    try:
        with Running("--plant", memory.path, "--newton-per-amp", "8") as gripper:
            client = PlainClient(gripper.path)
            assert client.newest()["motor"]["Position"] == pytest.approx(angle_of(0.06), abs=2e-3)
            client.send(20, 0.5)
            client.send(21, 1.0)
            client.send(11)
            client.send(22, 0.0)
            motor = client.newest(0.5)["motor"]
            assert opening_of(motor["Position"]) == pytest.approx(0.03, abs=2e-4)
            assert motor["Current"] == pytest.approx(-500, abs=20)
            assert seen["force_n"] == pytest.approx(4.0)
            assert seen["enabled"] == 1.0
            assert seen["speed_m_s"] == pytest.approx(1.0 * 0.0598, abs=5e-4)
            client.close()
    finally:
        stop.set()
        thread.join()
        memory.close()
