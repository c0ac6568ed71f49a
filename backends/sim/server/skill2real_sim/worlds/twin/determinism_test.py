"""Same seed and calls, same state; snapshots restore it; hidden names change nothing that is seen."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ...core.snapshot_file import read_snapshot, write_snapshot
from ..base import BadArgument, GripperMove
from . import ur5e
from .capabilities import ARM
from .testing.drive import smooth
from .testing.oracle import run_oracle
from .world import TwinWorld

SERVER = Path(__file__).resolve().parents[3]

SCRIPT = """
import hashlib
from skill2real_sim.worlds.twin.testing.oracle import run_oracle
from skill2real_sim.worlds.twin.world import TwinWorld
world = TwinWorld()
world.reset("r1", {seed}, "", "")
print(world.state_hash())
run_oracle(world)
print(world.state_hash())
pixels = b"".join(f.pixels.tobytes() for f in world.render(["topdown_left", "wrist_right"]))
print(hashlib.sha256(pixels).hexdigest())
world.close()
"""


def in_a_process(seed: int) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(seed=seed)],
        cwd=SERVER,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return run.stdout.split()


def test_two_processes_agree() -> None:
    first, second = in_a_process(12), in_a_process(12)
    assert len(first) == 3 and first == second
    assert in_a_process(13)[0] != first[0]


def move(world: TwinWorld, group: int) -> None:
    q = world.arms()[0].q_rad
    away = np.array([0.4, 0.2, -0.1, 0.1, 0.0, 0.3])
    world.start_group(group, [smooth(q, q + away, 1.5), GripperMove(ARM, 0.01)])


def test_reset_forgets_what_was(world: TwinWorld) -> None:
    world.reset("r1", 5, "", "")
    fresh = world.state_hash()
    move(world, 1)
    world.step_until(0.7, True)
    assert world.state_hash() != fresh
    world.stop("test")
    world.reset("r1", 6, "", "")
    world.reset("r1", 5, "", "")
    assert world.state_hash() == fresh
    assert world.time_s == 0.0 and world.groups() == [] and world.arms()[0].mode == "IDLE"


@pytest.mark.parametrize("moment", [0.3, 0.9, 2.0])
def test_a_restore_goes_on_as_before(world: TwinWorld, moment: float) -> None:
    world.reset("r1", 5, "", "")
    move(world, 1)
    world.step_until(moment, True)
    kept, kept_hash = world.snapshot(), world.state_hash()
    events = world.step_until(3.0, True)
    after = world.state_hash()
    frame = world.render(["scene_left"])[0].pixels.tobytes()
    world.restore(kept)
    assert world.state_hash() == kept_hash and world.time_s == pytest.approx(moment)
    again = world.step_until(3.0, True)
    assert world.state_hash() == after
    assert [(e.kind, e.time_s) for e in events] == [(e.kind, e.time_s) for e in again]
    assert world.render(["scene_left"])[0].pixels.tobytes() == frame


def test_a_restore_survives_another_episode(world: TwinWorld) -> None:
    world.reset("r1", 5, "", "")
    move(world, 1)
    world.step_until(0.5, True)
    kept, kept_hash = world.snapshot(), world.state_hash()
    world.step_until(3.0, True)
    after = world.state_hash()
    world.reset("r1", 44, "", "")
    run_oracle(world)
    world.restore(kept)
    assert world.state_hash() == kept_hash
    world.step_until(3.0, True)
    assert world.state_hash() == after


def test_a_restore_in_a_grasp_keeps_what_is_awake(world: TwinWorld) -> None:
    """Which bodies sleep is no part of the engine's state vector: a restore must bring it back too."""
    world.reset("r1", 0, "", "")
    rest = world.snapshot()
    verdict = run_oracle(world)
    end = world.state_hash()
    world.restore(rest)
    assert run_oracle(world) == verdict
    assert world.state_hash() == end


def test_looking_changes_nothing(world: TwinWorld) -> None:
    hashes = []
    for look in (False, True):
        world.reset("r1", 8, "", "")
        move(world, 1)
        for n in range(1, 30):
            world.step_until(n * 0.05, True)
            if look:
                world.render(["wrist_left"])
                world.evaluate()
                world.true_bodies()
                world.true_contacts()
                world.arms()
                world.groups()
                world.snapshot()
        hashes.append(world.state_hash())
    assert hashes[0] == hashes[1]


def test_steps_can_be_cut_anywhere(world: TwinWorld) -> None:
    hashes = []
    for cut in (3.0, 0.002, 0.034):
        world.reset("r1", 8, "", "")
        move(world, 1)
        while world.time_s < 3.0 - 1e-9:
            world.step_until(min(3.0, world.time_s + cut), True)
        hashes.append(world.state_hash())
    assert len(set(hashes)) == 1


def public_view(world: TwinWorld, salt: str) -> str:
    digest = hashlib.sha256()
    info = world.reset("r1", 21, salt, "")
    digest.update(info.instruction.encode())
    digest.update(repr(world.capabilities()).encode())
    move(world, 1)
    for n in range(1, 5):
        events = world.step_until(n * 0.5, True)
        digest.update(repr([(e.kind, e.time_s, e.group) for e in events]).encode())
        digest.update(repr((world.arms(), world.grippers(), world.groups())).encode())
        for frame in world.render(["topdown_left", "topdown_right", "scene_left", "wrist_left"]):
            digest.update(frame.pixels.tobytes())
            digest.update(repr(frame.X_world_camera).encode())
    return digest.hexdigest()


def test_hidden_names_do_not_reach_the_sensors(world: TwinWorld) -> None:
    plain = public_view(world, "")
    names = {b.name for b in world.true_bodies()}
    predicates = [p.name for p in world.evaluate().predicates]
    salted = public_view(world, "other")
    assert salted == plain
    assert names.isdisjoint({b.name for b in world.true_bodies()})
    hidden = [p.name for p in world.evaluate().predicates]
    assert set(predicates).isdisjoint(hidden) and len(hidden) == len(predicates)
    assert not any("item" in contact for contact in world.true_contacts())


def test_home_is_where_every_episode_starts(world: TwinWorld) -> None:
    world.reset("r1", 30, "", "")
    assert np.abs(world.arms()[0].q_rad - np.array(ur5e.HOME_Q_RAD)).max() < 1e-6
    assert np.abs(world.arms()[0].qd_rad_s).max() == 0.0


def test_things_lie_still_at_time_zero_and_later(world: TwinWorld) -> None:
    for seed in range(50, 60):
        world.reset("r1", seed, "", "")
        before = [b.X_world_body for b in world.true_bodies()]
        world.step_until(5.0, True)
        for a, b in zip(before, world.true_bodies(), strict=True):
            assert np.abs(a - b.X_world_body).max() < 1e-5


def test_a_packed_snapshot_goes_on_in_another_world(world: TwinWorld, tmp_path: Path) -> None:
    """As from file to file, in the middle of a motion and with things asleep and awake."""
    world.reset("r1", 5, "", "")
    move(world, 1)
    world.step_until(0.9, True)
    path = str(tmp_path / "kept")
    write_snapshot(path, world.pack(world.snapshot()))
    kept_hash = world.state_hash()
    world.step_until(3.0, True)
    after = world.state_hash()
    frame = world.render(["scene_left"])[0].pixels.tobytes()

    world.reset("r1", 6, "", "")
    with pytest.raises(BadArgument, match="another task, seed"):
        world.unpack(read_snapshot(path, TwinWorld.packed_classes))
    world.reset("r1", 5, "", "")
    world.restore(world.unpack(read_snapshot(path, TwinWorld.packed_classes)))
    assert world.state_hash() == kept_hash and world.time_s == pytest.approx(0.9)
    world.step_until(3.0, True)
    assert world.state_hash() == after
    assert world.render(["scene_left"])[0].pixels.tobytes() == frame


def test_a_packed_snapshot_of_a_grasp_ends_as_it_would_have(world: TwinWorld) -> None:
    world.reset("r1", 0, "", "")
    rest = pickle.dumps(world.pack(world.snapshot()))
    verdict = run_oracle(world)
    end = world.state_hash()
    world.restore(world.unpack(pickle.loads(rest)))
    assert run_oracle(world) == verdict
    assert world.state_hash() == end
