"""Pictures against geometry: a small bright ball must appear where the reported calibration says."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from . import RENDERER, gl_backend, mjcf_scene, task_r1, ur5e
from .capabilities import ARM
from .kinematics import tcp_pose
from .rendering import Renderer
from .streams import image_noise
from .world import TwinWorld

# Large enough that stair-steps at its rim average out: 700 pixels and more.
BALL_M = 0.018

# Places that both cameras of a pair see, given in the camera's parent.
PLACES = {
    "topdown": [(0.0, 0.45, 0.02), (0.3, 0.3, 0.06), (-0.3, 0.62, 0.1)],
    "scene": [(0.0, 0.45, 0.02), (0.2, 0.3, 0.1), (-0.1, 0.55, 0.05)],
    "wrist": [(0.03, 0.0, 0.15), (-0.02, 0.03, 0.12), (0.08, -0.03, 0.2)],
}


def ball_images(
    role: str, place: tuple[float, float, float], seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(projected pixel, intensity centroid) of a glowing ball, for the left and right camera of the pair."""
    spec = task_r1.draw(seed, "empty_table", ARM).spec
    pair = next(p for p in spec.pairs if p.role == role)
    q = np.array(ur5e.HOME_Q_RAD)
    X_world_parent = np.eye(4) if pair.parent == "world" else tcp_pose(q)
    p_world = (X_world_parent @ np.array([*place, 1.0]))[:3]
    ball = (
        f'<geom type="sphere" size="{BALL_M}" contype="0" conaffinity="0" group="2" material="glow" '
        f'pos="{p_world[0]} {p_world[1]} {p_world[2]}"/>'
    )
    # Everything but the ball is black, so that the picture is the ball alone.
    dark = dataclasses.replace(spec, extra_geoms=ball)
    xml = mjcf_scene.scene_xml(dark).replace(
        "</asset>", '<material name="glow" rgba="1 1 1 1" emission="1"/></asset>'
    )
    engine_spec = mujoco.MjSpec.from_string(_without_textures(xml))
    model = engine_spec.compile()
    glow = model.material("glow").id
    for material in range(model.nmat):
        if material != glow:
            model.mat_rgba[material, :3] = 0
            model.mat_specular[material] = 0
    model.vis.headlight.ambient[:] = 0
    model.light_diffuse[:] = 0
    model.tex_data[:] = 0
    # The engine draws spheres as polyhedra: fine ones here, so that the outline is round.
    model.vis.quality.numslices = model.vis.quality.numstacks = 128
    renderer = Renderer()
    renderer.use_model(model)
    data = mujoco.MjData(model)
    data.qpos[:6] = q
    cameras = pair.cameras()
    images = renderer.render([c.name for c in cameras], data.qpos)
    renderer.close()
    found = []
    for camera, image in zip(cameras, images, strict=True):
        p = np.linalg.inv(X_world_parent @ camera.X_parent_camera) @ np.array([*p_world, 1.0])
        cx, cy = camera.principal_px
        # The outline of a ball is an ellipse about this point, a little outwards of the projected centre.
        scale = camera.focal_px * p[2] / (p[2] ** 2 - BALL_M**2)
        expected = np.array([scale * p[0] + cx, scale * p[1] + cy])
        weight = image.astype(np.float64).sum(axis=2)
        v, u = np.mgrid[0 : image.shape[0], 0 : image.shape[1]]
        found.append((expected, np.array([(u * weight).sum(), (v * weight).sum()]) / weight.sum()))
    return found


def _without_textures(xml: str) -> str:
    import re

    return re.sub(r' texture="tex_[a-z0-9_]*"', "", xml)


@pytest.mark.parametrize("role", list(PLACES))
def test_pixels_are_where_the_calibration_says(role: str) -> None:
    errors = []
    for seed, place in enumerate(PLACES[role]):
        errors += [measured - expected for expected, measured in ball_images(role, place, seed)]
    errors = np.array(errors)
    assert np.abs(errors).max() < 0.1, errors
    assert np.abs(errors.mean(axis=0)).max() < 0.05, errors


def test_an_exposure_has_one_picture(world: TwinWorld) -> None:
    world.reset("r1", 4, "", "")
    world.step_until(0.1, True)
    state = world.render_state()
    first = world.render(["topdown_left", "wrist_right"])
    world.step_until(0.2, True)
    later = world.render(["topdown_left"])
    again = world.render(["wrist_right", "topdown_left"], state)
    assert first[0].pixels.tobytes() == again[1].pixels.tobytes()
    assert first[1].pixels.tobytes() == again[0].pixels.tobytes()
    assert later[0].exposure_time_s == pytest.approx(0.2) and again[0].exposure_time_s == pytest.approx(0.1)
    # Nothing moved between the two times: the pictures differ by noise alone, and do differ.
    difference = later[0].pixels.astype(int) - first[0].pixels.astype(int)
    assert 0 < np.abs(difference).max() <= 8


def test_noise_is_as_strong_as_documented() -> None:
    noise = image_noise(7, 2, 50, (480, 640, 3), 1.2).astype(float)
    assert abs(noise.mean()) < 0.01
    assert noise.std() == pytest.approx(1.2, abs=0.03)
    assert not np.array_equal(noise, image_noise(7, 2, 51, (480, 640, 3), 1.2))
    assert not np.array_equal(noise, image_noise(7, 3, 50, (480, 640, 3), 1.2))
    assert not np.array_equal(noise, image_noise(8, 2, 50, (480, 640, 3), 1.2))


def test_frames_carry_a_rectified_pair(world: TwinWorld) -> None:
    world.reset("r1", 9, "", "")
    for role, baseline in (("topdown", 0.10), ("scene", 0.10), ("wrist", 0.03)):
        left, right = world.render([f"{role}_left", f"{role}_right"])
        X_left_right = np.linalg.inv(left.X_world_camera) @ right.X_world_camera
        assert np.allclose(X_left_right[:3, :3], np.eye(3), atol=1e-12)
        assert np.allclose(X_left_right[:3, 3], [baseline, 0, 0], atol=1e-12)
        assert (left.fx_px, left.cx_px, left.cy_px) == (right.fx_px, 319.5, 239.5)
        assert left.pixels.shape == (480, 640, 3) and left.pixels.flags.c_contiguous


def test_wrist_extrinsics_follow_the_arm(world: TwinWorld) -> None:
    world.reset("r1", 9, "", "")
    frame = world.render(["wrist_left"])[0]
    arm = frame.arms[0]
    assert frame.parent == f"tcp:{ARM}"
    assert np.allclose(frame.X_world_camera, arm.X_world_tcp @ frame.X_parent_camera, atol=1e-12)


def test_home_leaves_the_work_area_in_view(world: TwinWorld) -> None:
    """Whatever is drawn inside the documented area shows in the top-down view of the arm at home."""
    for seed in range(6):
        world.reset("r1", seed, "", "no_noise")
        with_arm = world.render(["topdown_left"])[0]
        for body in world.true_bodies():
            p = np.linalg.inv(with_arm.X_world_camera) @ np.append(body.X_world_body[:3, 3], 1.0)
            u = with_arm.fx_px * p[0] / p[2] + with_arm.cx_px
            v = with_arm.fy_px * p[1] / p[2] + with_arm.cy_px
            assert 68 < u < 639 and 0 < v < 479, (body.name, u, v)
            patch = (
                with_arm.pixels[int(v) - 2 : int(v) + 3, int(u) - 2 : int(u) + 3].reshape(-1, 3).mean(axis=0)
            )
            # A named colour is saturated; arm and table are grey.
            assert patch.max() - patch.min() > 40, (seed, body.kind, body.colour, patch)


def test_the_renderer_is_one_that_needs_no_display() -> None:
    assert RENDERER in gl_backend.CHOICES
