"""Fault switches, limits, safety: what the clients see."""

from __future__ import annotations

import itertools
import math
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
from emulator import EXECUTABLE, Emulator, Rtde, wait_for
from rtde_control import RTDEControlInterface
from rtde_receive import RTDEReceiveInterface

HOME = [0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0]


def watcher(emulator: Emulator, names: str = "timestamp") -> Rtde:
    client = Rtde(emulator)
    client.outputs(names)
    client.call(b"S")
    client.data()
    return client


def stamp(client: Rtde) -> float:
    return struct.unpack(">d", client.data()[1:9])[0]


def value(emulator: Emulator, name: str, form: str) -> tuple:
    with watcher(emulator, name) as client:
        return struct.unpack(form, client.data()[1:])


def test_freeze_holds_everything_and_goes_on(emulator: Emulator) -> None:
    with watcher(emulator) as client:
        before = stamp(client)
        assert emulator.ask(fault="freeze", seconds=1.0) == {"done": "freeze"}
        start = time.monotonic()
        link = emulator.connect(29999)  # the kernel still accepts
        link.settimeout(0.3)
        with pytest.raises(TimeoutError):
            link.recv(100)
        last = stamp(client)
        while time.monotonic() - start < 1.3:
            last = stamp(client)
        assert last - before < 0.7  # the controller's own time stood still
        link.settimeout(2)
        assert link.recv(100).startswith(b"Connected")
        link.close()


def test_kill(emulator: Emulator) -> None:
    with watcher(emulator) as client:
        assert emulator.ask(fault="kill") == {"done": "kill"}
        assert emulator.process.wait(3) == -signal.SIGKILL
        with pytest.raises((ConnectionError, OSError)):
            while True:
                client.data()


def test_rst_resets_every_connection_and_new_ones_work(emulator: Emulator) -> None:
    with watcher(emulator) as client:
        assert emulator.ask(fault="rst") == {"done": "rst"}
        with pytest.raises(ConnectionResetError):
            while True:
                client.data()
    watcher(emulator).link.close()


def test_delay_holds_packages_back_and_merges_them(emulator: Emulator) -> None:
    with watcher(emulator) as client:
        emulator.ask(fault="delay", ms=100, seconds=1.0)
        time.sleep(0.3)
        client.send(b"v")
        start = time.monotonic()
        kind = b""
        while kind != b"v":
            kind, _ = client.package()
        assert time.monotonic() - start > 0.18  # both directions
        emulator.ask(clear=True)
        stamps = [stamp(client) for _ in range(400)]
        assert stamps == sorted(stamps)
        assert max(b - a for a, b in itertools.pairwise(stamps)) < 0.0021 * 5


def test_drop_loses_packages(emulator: Emulator) -> None:
    with watcher(emulator) as client:
        emulator.ask(fault="drop", share=0.5)
        stamps = [stamp(client) for _ in range(300)]
        gaps = [round((b - a) / 0.002) for a, b in itertools.pairwise(stamps)]
        assert 1.6 < sum(gaps) / len(gaps) < 2.6
        emulator.ask(clear=True)


def test_half_frames_put_the_stream_out_of_step(emulator: Emulator) -> None:
    header, whole = b"\x00\x0cU\x01", 12
    with watcher(emulator) as client:
        assert emulator.ask(fault="half_frames", share=1.0) == {"done": "half_frames"}
        raw = b""
        while len(raw) < 1200:  # what was on its way is whole
            raw += client.link.recv(4096)
        starts = [at for at in range(600, 1190) if raw[at : at + 4] == header]
        assert len(starts) > 50
        assert {b - a for a, b in itertools.pairwise(starts)} == {whole // 2}
    emulator.ask(clear=True)
    with watcher(emulator) as client:
        stamps = [stamp(client) for _ in range(20)]
        assert stamps == sorted(stamps)


def test_unplug_lets_no_byte_pass_while_the_controller_goes_on(emulator: Emulator) -> None:
    with watcher(emulator) as client:
        last = stamp(client)
        assert emulator.ask(fault="unplug", seconds=1.5) == {"done": "unplug"}
        client.link.settimeout(0.4)
        with pytest.raises(TimeoutError):
            while True:
                last = stamp(client)
        client.link.settimeout(5)
        # Unlike a frozen one's, its own time went on.
        assert stamp(client) - last > 0.9


@pytest.mark.parametrize("name", ["stuck", "replug_other_name", "fire"])
def test_other_names_are_refused_with_the_reason(emulator: Emulator, name: str) -> None:
    answer = emulator.ask(fault=name)
    assert name in answer["error"]
    assert "half_frames" in answer["error"] or "no fault" in answer["error"]


def test_emergency_stop_takes_the_power_and_needs_power_on(emulator: Emulator) -> None:
    control, receive = RTDEControlInterface(emulator.host), RTDEReceiveInterface(emulator.host)
    assert control.speedJ([0.5, 0, 0, 0, 0, 0], 4.0)
    assert wait_for(lambda: receive.getActualQd()[0] > 0.4)
    emulator.ask(fault="emergency_stop")
    assert wait_for(receive.isEmergencyStopped)
    assert wait_for(lambda: receive.getRobotMode() == 3)
    assert receive.getSafetyMode() == 7 and receive.getRuntimeState() == 1
    assert wait_for(lambda: max(abs(v) for v in receive.getActualQd()) < 1e-9)
    emulator.dashboard("power on")
    assert receive.getRobotMode() == 3  # the button is still pressed
    emulator.ask(clear=True)
    assert wait_for(lambda: not receive.isEmergencyStopped())
    emulator.dashboard("power on", "brake release")
    assert wait_for(lambda: receive.getRobotMode() == 7)
    assert control.reuploadScript() and wait_for(control.isProgramRunning)
    control.disconnect()
    receive.disconnect()


def test_local_control(emulator: Emulator) -> None:
    control, receive = RTDEControlInterface(emulator.host), RTDEReceiveInterface(emulator.host)
    with watcher(emulator) as client:
        emulator.ask(fault="local")
        assert wait_for(lambda: receive.getRuntimeState() == 1)
        assert emulator.dashboard("is in remote control") == ["false"]
        assert "local control" in emulator.dashboard("power off")[0]
        assert receive.getRobotMode() == 7
        with emulator.connect(30003) as link:
            link.sendall(b"movej([1, -1.57, 1.57, -1.57, -1.57, 0])\n")
            end = time.monotonic() + 3
            while not any(b"script refused" in t for t in client.texts) and time.monotonic() < end:
                client.data()
        assert any(b"read-only" in text for text in client.texts)
        with pytest.raises(RuntimeError, match="remote control"):
            RTDEControlInterface(emulator.host)
    emulator.ask(clear=True)
    control.disconnect()
    receive.disconnect()


def test_noise_and_bias_of_the_wrench_and_zeroing() -> None:
    arguments = ["--wrench-bias", "1", "2", "3", "0.1", "0.2", "0.3"]
    with Emulator(*arguments) as emulator:
        assert value(emulator, "ft_raw_wrench", ">6d") == pytest.approx([1, 2, 3, 0.1, 0.2, 0.3])
        base = value(emulator, "actual_TCP_force", ">6d")  # the tool points down: turned
        assert base[2] == pytest.approx(-3)
        emulator.ask(fault="noise", force_n=1.0, torque_nm=0.1)
        with watcher(emulator, "ft_raw_wrench") as client:
            x = [struct.unpack(">6d", client.data()[1:])[0] for _ in range(400)]
        mean = sum(x) / len(x)
        sigma = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x))
        assert mean == pytest.approx(1, abs=0.3) and 0.8 < sigma < 1.2
        emulator.ask(clear=True)
        with emulator.connect(30002) as link:
            link.sendall(b"zero_ftsensor()\n")
            assert wait_for(lambda: abs(value(emulator, "actual_TCP_force", ">6d")[2]) < 1e-9)
        emulator.ask(world={"wrench": [0, 0, 7, 0, 0, 0]})
        assert wait_for(lambda: abs(value(emulator, "actual_TCP_force", ">6d")[2] - 7) < 1e-6)


def stream(control: RTDEControlInterface, velocity: float, seconds: float) -> None:
    q = list(HOME)
    for _ in range(int(seconds / 0.002)):
        begin = control.initPeriod()
        q[5] += velocity * 0.002
        if not control.servoJ(q, 0, 0, 0.002, 0.05, 600):
            return
        control.waitPeriod(begin)


@pytest.mark.parametrize("case", ["joint_speed", "sudden", "tool_speed", "position", "force"])
def test_limits_end_in_a_protective_stop(case: str) -> None:
    arguments = ["--joint-position-limit-rad", "2.0"] if case == "position" else []
    with Emulator(*arguments) as emulator:
        control = RTDEControlInterface(emulator.host)
        with watcher(emulator, "safety_mode") as client:
            if case == "joint_speed":
                stream(control, 4.0, 1.0)
            elif case == "sudden":
                control.servoJ([1.0, *HOME[1:]], 0, 0, 0.002, 0.05, 2000)
            elif case == "tool_speed":  # stretched out the tool is faster than its limit
                control.moveJ([0.0, -0.3, 0.3, *HOME[3:]], 1.0, 4.0)
                control.speedJ([2.5, 0, 0, 0, 0, 0], 10.0)
            elif case == "position":
                control.moveJ([*HOME[:5], 2.5], 2.0, 8.0)
            else:
                emulator.ask(world={"wrench": [0, 0, 300, 0, 0, 0]})
            stopped = wait_for(lambda: struct.unpack(">i", client.data()[1:])[0] == 3)
            assert stopped
            assert any(b"protective stop" in text for text in client.texts)
        control.disconnect()


def test_slider_slows_a_move_and_stretches_servoj(emulator: Emulator) -> None:
    control, receive = RTDEControlInterface(emulator.host), RTDEReceiveInterface(emulator.host)
    assert emulator.ask(set={"speed_slider": 0.25}) == {"done": "set"}
    assert wait_for(lambda: abs(receive.getSpeedScalingCombined() - 0.25) < 1e-6)
    start = time.monotonic()
    assert control.moveJ([0.5, *HOME[1:]], 1.0, 4.0)
    assert 2.2 < time.monotonic() - start < 4.0  # 0.75 s at full speed
    emulator.ask(set={"speed_slider": 0.0})
    assert wait_for(lambda: receive.getSpeedScalingCombined() == 0)
    control.moveJ([1.0, *HOME[1:]], 1.0, 4.0, True)
    time.sleep(0.3)
    assert receive.getActualQ()[0] == pytest.approx(0.5, abs=1e-4)
    emulator.ask(set={"speed_slider": 1.0})
    assert wait_for(lambda: abs(receive.getActualQ()[0] - 1.0) < 1e-3)
    control.disconnect()
    receive.disconnect()


def test_setpoints_are_stamped_and_the_first_decelerating_one_is_found(
    emulator: Emulator, tmp_path: Path
) -> None:
    control = RTDEControlInterface(emulator.host)
    q, speed = list(HOME), 0.0
    stopping_s = 0.0
    for step in range(400):
        begin = control.initPeriod()
        if step == 300:
            stopping_s = time.monotonic()
        speed = min(0.5, speed + 0.005) if step < 300 else max(0.0, speed - 0.005)
        q[0] += speed * 0.002
        control.servoJ(q, 0, 0, 0.002, 0.05, 600)
        control.waitPeriod(begin)
    control.servoStop()
    path = tmp_path / "setpoints.csv"
    answer = emulator.ask(dump="setpoints", path=str(path), after_s=stopping_s)
    assert answer["count"] == 401
    assert 0 <= answer["first_decelerating_s"] - stopping_s < 0.05
    rows = path.read_text().splitlines()
    assert rows[0].startswith("arrival_s,cycle,command,q_setpoint_0_rad")
    assert len(rows) == 402
    assert emulator.ask(clear_setpoints=True) == {"done": "clear_setpoints"}
    control.disconnect()


def test_wrong_requests_are_answered_by_an_error(shared: Emulator) -> None:
    assert "unknown fault nothing" in shared.ask(fault="nothing")["error"]
    assert "none of" in shared.ask(hello=1)["error"]
    shared.process.stdin.write("no json\n")
    shared.process.stdin.flush()
    assert "error" in shared.process.stdout.readline()


def test_end_of_standard_input_ends_the_process() -> None:
    emulator = Emulator()
    assert emulator.close() == 0


def test_a_port_in_use_is_an_error() -> None:
    with Emulator() as emulator:
        second = subprocess.run(
            [str(EXECUTABLE), "--host", emulator.host], capture_output=True, text=True, timeout=5
        )
        assert second.returncode == 2 and "cannot listen on" in second.stderr


def test_cycles_keep_their_time(emulator: Emulator) -> None:
    control = RTDEControlInterface(emulator.host)
    emulator.ask(stats=True, restart=True)
    stream(control, 0.2, 3.0)
    stats = emulator.ask(stats=True)
    print(f"policy {emulator.ready['realtime']['policy']}: {stats['lateness']}, work {stats['work']}")
    assert stats["lateness"]["count"] > 1000
    control.disconnect()
