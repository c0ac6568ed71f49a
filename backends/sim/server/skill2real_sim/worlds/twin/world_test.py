from __future__ import annotations

import json

import numpy as np
import pytest

from ...core.codec import capabilities_message
from ...wire import device_pb2 as dp
from ..base import BadArgument
from .testing.oracle import run_blind, run_oracle
from .world import TwinWorld


def test_capabilities_fill_the_message(world: TwinWorld) -> None:
    message = capabilities_message(world.capabilities(), dp.SIM, "test")
    arm = message.arms[0]
    assert len(arm.dh) == 6 and len(arm.limits) == 6 and len(arm.home_q_rad) == 6
    assert len(arm.X_world_base) == 16 and len(arm.X_flange_tcp) == 16
    assert {c.name for c in message.cameras} == {
        f"{role}_{side}" for role in ("topdown", "scene", "wrist") for side in ("left", "right")
    }
    assert {(v.role, v.left, v.right, v.arm) for v in message.views} == {
        ("topdown", "topdown_left", "topdown_right", ""),
        ("scene", "scene_left", "scene_right", ""),
        ("wrist", "wrist_left", "wrist_right", arm.name),
    }
    assert "tcp_path" not in message.features and "press" not in message.features
    assert message.gripper if hasattr(message, "gripper") else message.grippers[0].max_opening_m == 0.095
    assert message.grippers[0].stroke_m == 0.1 and message.control_period_s == 0.002


def test_an_unloaded_world_refuses() -> None:
    unloaded = TwinWorld()
    assert not unloaded.ready and unloaded.tasks() == ["r1"]
    for call in (unloaded.arms, unloaded.evaluate, unloaded.snapshot, unloaded.state_hash):
        with pytest.raises(BadArgument, match="reset"):
            call()


@pytest.mark.parametrize(
    ("task", "seed", "variant", "words"),
    [
        ("r9", 0, "", "r1"),
        ("r1", -1, "", "seed"),
        ("r1", 2**64, "", "seed"),
        ("r1", 0, "flood", "empty_table"),
    ],
)
def test_bad_resets_change_nothing(world: TwinWorld, task: str, seed: int, variant: str, words: str) -> None:
    world.reset("r1", 2, "", "")
    before = world.state_hash()
    with pytest.raises(BadArgument, match=words):
        world.reset(task, seed, "", variant)
    assert world.state_hash() == before


def test_a_reset_tells_what_it_drew(world: TwinWorld) -> None:
    info = world.reset("r1", 2, "", "")
    details = json.loads(info.details_json)
    bodies = world.true_bodies()
    assert [i["kind"] for i in details["items"]] == [b.kind for b in bodies]
    assert info.rejected_draws == sum(int(v) for v in info.rejected_reasons.values())
    target = next(b for b in bodies if b.role == "target")
    goal = next(b for b in bodies if b.role == "goal")
    assert f"the {target.colour} {target.kind} " in info.instruction
    assert info.instruction.endswith(f"the {goal.colour} {goal.kind}.")


def test_an_unknown_camera_is_named(world: TwinWorld) -> None:
    world.reset("r1", 2, "", "")
    with pytest.raises(BadArgument, match="topdown_left"):
        world.render(["ceiling"])


# Seeds that cover every kind of target and goal.
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 7, 12, 14])
def test_a_script_that_knows_the_truth_succeeds(world: TwinWorld, seed: int) -> None:
    world.reset("r1", seed, "", "")
    start = [b.X_world_body[:2, 3] for b in world.true_bodies()]
    evaluation = run_oracle(world)
    assert evaluation.success, evaluation
    # Only the target was moved (a container may give a little when the object touches it).
    for before, body in zip(start, world.true_bodies(), strict=True):
        if body.role != "target":
            assert np.linalg.norm(body.X_world_body[:2, 3] - before) < 0.02, body


def test_a_script_that_looks_at_nothing_fails(world: TwinWorld) -> None:
    wins = 0
    for seed in range(10, 22):
        world.reset("r1", seed, "", "")
        wins += run_blind(world).success
    assert wins <= 1
