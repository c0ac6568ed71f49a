"""The whole bench in its process, through its sockets, its plant memory and its standard input."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from skill2real_sim.wire import privileged_pb2 as pp
from skill2real_sim.worlds.twin.kinematics import tcp_pose

from .bench_cameras import LOOK_Q_RAD, SCENE, WRIST, describe_rig
from .lens import distort
from .rig_draw import draw_rig
from .testing.process import BenchProcess, running_bench

RIG_SEED = 10
LOOK = np.array(LOOK_Q_RAD)


@pytest.fixture(scope="module")
def bench() -> Iterator[BenchProcess]:
    with running_bench("--rig-seed", str(RIG_SEED), "--seed", "5", "--variant", "") as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_broken(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "bench" in request.fixturenames:
        assert request.getfixturevalue("bench").tell({"clear": True}) == {"done": "clear"}


def arm_state(bench: BenchProcess) -> dict[str, object]:
    assert bench.memory.arm_state.read()
    staged = bench.memory.arm_state.staged
    return {name: np.array(staged[name]).tolist() for name in staged.dtype.names or ()}


def drive(bench: BenchProcess, q_goal: np.ndarray, seconds: float) -> float:
    """Plays a move as a 500 Hz controller does; returns the largest distance of a joint from its target."""
    staged = bench.memory.arm_command.staged
    start, worst = np.array(arm_state(bench)["q_rad"]), 0.0
    began_s = due_s = time.monotonic()
    cycle = int(staged["cycle"])
    while due_s < began_s + seconds:
        due_s += 0.002
        time.sleep(max(0.0, due_s - time.monotonic()))
        cycle += 1
        u = min(1.0, (due_s - began_s) / seconds)
        target = start + u**3 * (10 - 15 * u + 6 * u * u) * (q_goal - start)
        staged["host_time_s"], staged["cycle"], staged["mode"] = time.monotonic(), cycle, 1
        staged["q_target_rad"] = target
        bench.memory.arm_command.write()
        if bench.memory.arm_state.read():
            worst = max(worst, float(np.abs(bench.memory.arm_state.staged["q_rad"] - target).max()))
    return worst


def test_plant_time_is_wall_time(bench: BenchProcess) -> None:
    first = arm_state(bench)
    time.sleep(2.0)
    second = arm_state(bench)
    stepped = float(second["plant_time_s"]) - float(first["plant_time_s"])  # type: ignore[arg-type]
    passed = float(second["host_time_s"]) - float(first["host_time_s"])  # type: ignore[arg-type]
    stats = bench.tell({"stats": True})["stats"]["plant"]
    assert stepped == pytest.approx(passed, abs=stats["dropped_s"] + 1e-9)
    assert abs(time.monotonic() - float(second["host_time_s"])) < 0.1  # type: ignore[arg-type]
    assert stats["steps"] > 500 and 0 < stats["cpu_share"] < 1 and stats["late_max_ms"] >= 0


def test_a_second_process_moves_the_arm_through_the_plant_memory(bench: BenchProcess) -> None:
    """This test is that process: what it writes is what the arm does."""
    assert np.allclose(arm_state(bench)["q_rad"], LOOK, atol=1e-3)
    goal = LOOK + np.array([0.3, -0.2, 0.2, 0.1, 0.2, -0.3])
    worst = drive(bench, goal, 1.2)
    drive(bench, goal, 0.3)
    assert np.abs(np.array(arm_state(bench)["q_rad"]) - goal).max() < 1e-3
    # On a busy machine this writer itself may be late, so this is wide.
    assert worst < 0.1
    time.sleep(0.3)  # silent for longer than the brakes wait
    assert np.abs(np.array(arm_state(bench)["qd_rad_s"])).max() < 1e-2
    assert np.abs(np.array(arm_state(bench)["q_rad"]) - goal).max() < 2e-3


def test_the_rig_s_truth_is_in_the_memory(bench: BenchProcess) -> None:
    rig = draw_rig(RIG_SEED)
    assert bench.memory.rig_truth.read()
    truth = bench.memory.rig_truth.staged
    assert truth["kinematic_deltas"].tolist() == rig.kinematic_deltas()
    assert truth["wrench_bias"].tolist() == rig.wrench_bias.tolist()
    assert truth["wrench_noise_sigma"].tolist() == rig.wrench_noise_sigma.tolist()


def test_the_gripper_block_moves_the_jaw(bench: BenchProcess) -> None:
    staged = bench.memory.gripper_command.staged
    staged["host_time_s"], staged["opening_m"], staged["force_n"] = time.monotonic(), 0.04, 20.0
    staged["speed_m_s"], staged["enabled"] = 0.2, 1
    bench.memory.gripper_command.write()
    until_s = time.monotonic() + 10
    while time.monotonic() < until_s:
        assert bench.memory.gripper_state.read()
        if abs(float(bench.memory.gripper_state.staged["opening_m"]) - 0.04) < 1e-3:
            return
        time.sleep(0.02)
    pytest.fail("the jaw did not get there")


# ------------------------------------------------------------ privileged plane


def test_the_privileged_plane_is_the_simulator_s(bench: BenchProcess) -> None:
    refused = bench.privileged(token=bytes(32), evaluate=pp.Evaluate())
    assert refused.error.code == pp.PRIVILEGED_TOKEN
    before = arm_state(bench)["q_reset_count"]
    reset = bench.privileged(reset=pp.Reset(task="r1", seed=2001)).reset
    assert reset.instruction.startswith("Put the ") and len(reset.state_hash) == 64
    state = bench.privileged(get_true_state=pp.GetTrueState()).true_state
    assert {body.role for body in state.bodies} >= {"target", "goal"}
    assert np.allclose(state.q_rad, LOOK, atol=1e-3)
    assert arm_state(bench)["q_reset_count"] == before + 1  # type: ignore[operator]
    verdict = bench.privileged(evaluate=pp.Evaluate()).evaluate
    assert not verdict.success and verdict.failure_kind == "not_grasped"
    settled = bench.privileged(settle=pp.Settle(duration_s=0.3)).settle
    assert settled.time_s >= state.time_s + 0.3
    again = bench.privileged(reset=pp.Reset(task="r1", seed=2001)).reset
    assert again.instruction == reset.instruction
    assert arm_state(bench)["q_reset_count"] == before + 1  # type: ignore[operator]
    bad = bench.privileged(reset=pp.Reset(task="r9", seed=1))
    assert bad.error.code == pp.PRIVILEGED_BAD_ARGUMENT
    token = bench.privileged(get_resume_token=pp.GetResumeToken())
    assert token.error.code == pp.PRIVILEGED_BAD_ARGUMENT and "no stop" in token.error.message


def test_an_episode_begins_at_time_zero_in_real_time(bench: BenchProcess) -> None:
    bench.privileged(settle=pp.Settle(duration_s=1.0))
    for seed in range(3):
        asked_s = time.monotonic()
        bench.privileged(reset=pp.Reset(task="r1", seed=seed))
        time_s = bench.privileged(get_true_state=pp.GetTrueState()).true_state.time_s
        assert 0 <= time_s <= time.monotonic() - asked_s + 0.01


def test_evidence_is_written_while_things_move(bench: BenchProcess, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    assert not bench.privileged(set_evidence_log=pp.SetEvidenceLog(path=str(path))).HasField("error")
    assert not bench.privileged(mark_evidence=pp.MarkEvidence(label="before")).HasField("error")
    drive(bench, LOOK + np.array([0.2, 0, 0, 0, 0, 0]), 0.8)
    time.sleep(0.5)
    assert not bench.privileged(set_evidence_log=pp.SetEvidenceLog(path="")).HasField("error")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    moments = [record["moment"] for record in records]
    assert moments[0] == "mark" and records[0]["label"] == "before"
    assert "start" in moments and moments.count("during") >= 3 and moments[-1] == "end"
    assert records[-1]["arms"][0]["q_rad"][0] == pytest.approx(LOOK[0] + 0.2, abs=0.02)


# ------------------------------------------------------------ cameras


def test_frames_are_as_the_rig_says(bench: BenchProcess) -> None:
    bench.privileged(reset=pp.Reset(task="r1", seed=5))
    asked_s = time.monotonic()
    for camera in (WRIST, SCENE):
        header, parts = bench.frame(camera.name, not_before_s=asked_s)
        assert header["serial"] == camera.serial and header["exposure_time_s"] >= asked_s
        assert header["depth"]["units_m"] == camera.units_m
        assert header["color"]["coeffs"] == list(camera.color.coeffs)
        assert header["X_color_depth"] == camera.X_color_depth.ravel().tolist()
        assert [len(part) for part in parts] == [640 * 480 * 3, 640 * 480 * 2]
        depth = np.frombuffer(parts[1], "<u2").reshape(480, 640) * camera.units_m
        assert (depth > 0).mean() > 0.5
        assert 0.3 < float(np.median(depth[depth > 0])) < 2.5
    header, parts = bench.frame("scene", infrared=True)
    assert len(parts) == 4 and len(parts[2]) == len(parts[3]) == 640 * 480
    assert header["infrared"]["baseline_m"] == SCENE.baseline_m
    assert "no infrared" in bench.frame("wrist", infrared=True)[0]["error"]
    assert "no camera" in bench.frame("belly")[0]["error"]
    bench.frames.send(b"hello")
    taken = bench.take_frame()
    assert taken is not None and "not JSON" in taken[0]["error"]


def test_an_image_is_handed_over_after_its_latency(bench: BenchProcess) -> None:
    rig = draw_rig(RIG_SEED)
    seen: set[int] = set()
    for _ in range(6):
        for name in ("wrist", "scene"):
            header, _ = bench.frame(name, not_before_s=time.monotonic())
            taken_s = time.monotonic()
            latency_s = header["arrival_time_s"] - header["exposure_time_s"]
            assert latency_s >= rig.latency_s(name, header["frame_number"]) - 1e-6
            assert taken_s >= header["arrival_time_s"]
            seen.add(header["frame_number"])
    assert len(seen) >= 6


def project(camera: object, intrinsics: object, X_world_camera: np.ndarray, point: np.ndarray) -> np.ndarray:
    p = np.linalg.inv(X_world_camera) @ np.append(point, 1.0)
    x, y = distort(np.array([p[0] / p[2]]), np.array([p[1] / p[2]]), intrinsics.coeffs)  # type: ignore[attr-defined]
    k = intrinsics
    return np.array([x[0] * k.fx_px + k.cx_px, y[0] * k.fy_px + k.cy_px])  # type: ignore[attr-defined]


def test_pictures_show_the_true_scene_from_the_true_camera(bench: BenchProcess) -> None:
    """The goal's centre in colour, by its own hue, where true kinematics and true mounts put it."""
    rig = draw_rig(RIG_SEED)
    bench.privileged(reset=pp.Reset(task="r1", seed=5))  # a red mat
    state = bench.privileged(get_true_state=pp.GetTrueState()).true_state
    goal = next(body for body in state.bodies if body.role == "goal")
    assert (goal.kind, goal.colour) == ("mat", "red")
    half, X = goal.size_m[0] / 2, np.array(goal.X_world_body).reshape(4, 4)
    corners = [
        X[:3, 3] + X[:3, :3] @ np.array([a * half, b * half, height])
        for a, b in CORNERS
        for height in (0.0, goal.size_m[2])
    ]
    X_tcp_true, X_tcp_nominal = tcp_pose(LOOK, rig.deltas), tcp_pose(LOOK)
    for camera in (WRIST, SCENE):
        X_true = camera.X_parent_camera @ rig.X_nominal_true[camera.name]
        X_nominal = camera.X_parent_camera
        if camera.mount == "tcp":
            X_true, X_nominal = X_tcp_true @ X_true, X_tcp_nominal @ X_nominal
        _, parts = bench.frame(camera.name, not_before_s=time.monotonic())
        picture = np.frombuffer(parts[0], np.uint8).reshape(480, 640, 3).astype(int)
        red = (picture[..., 0] > 90) & (picture[..., 1] < 60) & (picture[..., 2] < 60)
        rows, columns = np.nonzero(red)
        shown = np.array([columns.mean(), rows.mean()])
        expected, believed = (
            outline_centroid(np.array([project(camera, camera.color, view, corner) for corner in corners]))
            for view in (X_true, X_nominal)
        )
        assert np.linalg.norm(shown - expected) < 0.35, (camera.name, shown, expected)
        assert np.linalg.norm(believed - expected) > 1.5  # the configuration is wrong by more than that


CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def outline_centroid(points: np.ndarray) -> np.ndarray:
    """Centroid of the convex hull (Andrew's monotone chain) of points (n, 2)."""
    ordered = sorted(map(tuple, points.tolist()))
    chains: list[list[tuple[float, float]]] = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for p in sequence:
            while len(chain) > 1 and turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    x, y = np.array(chains[0] + chains[1]).T
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    cross = x * y1 - x1 * y
    return np.array([((x + x1) * cross).sum(), ((y + y1) * cross).sum()]) / (3 * cross.sum())


def turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def test_depth_is_of_the_left_imager_in_its_units(bench: BenchProcess) -> None:
    rig = draw_rig(RIG_SEED)
    bench.privileged(reset=pp.Reset(task="r1", seed=5, variant="empty_table"))
    for camera in (WRIST, SCENE):
        X = camera.X_parent_camera @ rig.X_nominal_true[camera.name]
        if camera.mount == "tcp":
            X = tcp_pose(LOOK, rig.deltas) @ X
        X = X @ camera.X_color_depth
        _, parts = bench.frame(camera.name, not_before_s=time.monotonic())
        depth = np.frombuffer(parts[1], "<u2").reshape(480, 640) * camera.units_m
        k = camera.depth
        v, u = np.mgrid[200:440:8, 160:480:8]
        ray = np.stack([(u - k.cx_px) / k.fx_px, (v - k.cy_px) / k.fy_px, np.ones(u.shape)], axis=-1)
        on_table = -X[2, 3] / (ray @ X[2, :3])  # depth at which each ray meets z = 0
        z = depth[200:440:8, 160:480:8]
        points = X[:3, 3] + (ray * on_table[..., None]) @ X[:3, :3].T
        inside = (np.abs(points[..., 0]) < 0.5) & (points[..., 1] > 0.3) & (points[..., 1] < 0.9) & (z > 0)
        assert inside.sum() > 200
        error = (z - on_table)[inside] / (on_table[inside] ** 2 / (k.fx_px * camera.baseline_m))
        assert abs(float(np.median(error))) < 0.03  # in pixels of disparity
        assert float(error.std()) < 0.12


# ------------------------------------------------------------ faults


def test_faults_of_cameras_and_their_end(bench: BenchProcess) -> None:
    def fresh(camera: str) -> tuple[dict, list[bytes]]:
        return bench.frame(camera, not_before_s=time.monotonic())

    first, _ = fresh("wrist")
    assert bench.tell({"fault": "stuck", "camera": "wrist"}) == {"done": "stuck"}
    asked_s = time.monotonic()
    stuck, _ = fresh("wrist")
    assert stuck["frame_number"] == first["frame_number"] and stuck["exposure_time_s"] < asked_s
    assert fresh("scene")[0]["exposure_time_s"] >= asked_s
    bench.tell({"clear": True})
    bench.tell({"fault": "half_frames"})
    assert [len(part) for part in fresh("wrist")[1]] == [640 * 480 * 3 // 2, 640 * 480]
    bench.tell({"clear": True})
    bench.tell({"fault": "unplug", "camera": "wrist"})
    assert "not connected" in fresh("wrist")[0]["error"]
    bench.tell({"fault": "replug_other_name", "camera": "wrist"})
    assert fresh("wrist")[0]["serial"] != WRIST.serial
    bench.tell({"clear": True})
    assert fresh("wrist")[0]["serial"] == WRIST.serial
    bench.tell({"fault": "drop"})
    bench.ask_frame("wrist")
    assert bench.take_frame(500) is None
    bench.tell({"clear": True})
    bench.tell({"fault": "noise", "camera": "wrist"})
    noisy = np.frombuffer(fresh("wrist")[1][1], "<u2")
    assert (noisy == 0).mean() > 0.35
    bench.tell({"clear": True})
    bench.tell({"fault": "delay", "ms": 400, "camera": "scene"})
    asked_s = time.monotonic()
    assert fresh("scene") and time.monotonic() - asked_s > 0.4


def test_a_frozen_plant_stands_still_and_goes_on(bench: BenchProcess) -> None:
    assert bench.tell({"fault": "freeze", "seconds": 30}) == {"done": "freeze"}
    time.sleep(0.15)
    frozen = arm_state(bench)
    time.sleep(0.2)
    assert arm_state(bench)["step"] == frozen["step"]
    bench.tell({"clear": True})
    until_s = time.monotonic() + 5
    while arm_state(bench)["step"] == frozen["step"]:
        assert time.monotonic() < until_s
    assert bench.tell({"stats": True})["stats"]["plant"]["frozen_s"] > 0.1


def test_a_killed_camera_process_comes_back_with_clear(bench: BenchProcess) -> None:
    bench.tell({"fault": "kill", "camera": "scene"})
    bench.ask_frame("scene")
    assert bench.take_frame(400) is None
    assert "gone" in bench.tell({"fault": "stuck"})["error"]
    assert bench.tell({"stats": True})["stats"]["cameras"] is None
    assert bench.tell({"clear": True}) == {"done": "clear"}
    taken = bench.take_frame(8000)  # asked before, answered by the new process
    header = taken[0] if taken is not None else bench.frame("scene")[0]
    assert header["serial"] == SCENE.serial


def test_lines_it_cannot_obey_are_answered(bench: BenchProcess) -> None:
    assert "not JSON" in bench.tell("{")["error"]
    assert "ur-controller" in bench.tell({"fault": "protective_stop"})["error"]


# ------------------------------------------------------------ life


def test_it_ends_when_its_standard_input_does() -> None:
    with running_bench() as bench:
        children = children_of(bench.process.pid)
        assert children
        assert bench.close() == 0
        assert not any(alive(child) for child in children)


def test_it_dies_with_its_parent_and_takes_the_cameras_along() -> None:
    with running_bench() as bench:
        children = children_of(bench.process.pid)
        bench.process.send_signal(signal.SIGKILL)
        bench.process.wait(5)
        until_s = time.monotonic() + 5
        while any(alive(child) for child in children):
            assert time.monotonic() < until_s
            time.sleep(0.02)


def test_the_kill_fault_ends_it_at_once() -> None:
    with running_bench() as bench:
        assert bench.process.stdin is not None
        bench.process.stdin.write(b'{"fault":"kill"}\n')
        bench.process.stdin.flush()
        assert bench.process.wait(5) == -signal.SIGKILL


def test_bad_starts_are_explained(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for arguments, says in (
        ((), "socket-dir"),
        (("--socket-dir", str(tmp_path)), "0700"),
        (("--socket-dir", str(tmp_path), "--token-fd", "77"), "0700"),
    ):
        started = subprocess.run(
            [sys.executable, "-m", "skill2real_bench", *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
        assert started.returncode == 2 and says in started.stderr


def test_describe_says_what_a_configuration_holds() -> None:
    out = subprocess.run(
        [sys.executable, "-m", "skill2real_bench", "--describe"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    ).stdout
    described = json.loads(out)
    assert described == json.loads(json.dumps(describe_rig()))
    assert math.isclose(described["cameras"]["wrist"]["depth"]["units_m"], 0.0001)


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
