from __future__ import annotations

import mujoco
import numpy as np
import pytest

from . import conventions


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return conventions.matrix_from_wxyz(q / np.linalg.norm(q))


def test_quaternion_orders_are_each_others_inverse() -> None:
    wxyz = np.array([0.1, 0.2, 0.3, 0.4])
    assert conventions.xyzw_from_wxyz(wxyz).tolist() == [0.2, 0.3, 0.4, 0.1]
    assert conventions.wxyz_from_xyzw(conventions.xyzw_from_wxyz(wxyz)).tolist() == wxyz.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_matrix_and_quaternion_agree_with_the_engine(seed: int) -> None:
    R = random_rotation(np.random.default_rng(seed))
    engine = np.zeros(4)
    mujoco.mju_mat2Quat(engine, R.ravel())
    ours = conventions.wxyz_from_matrix(R)
    assert np.allclose(ours, engine if engine[0] >= 0 else -engine, atol=1e-12)
    assert np.allclose(conventions.matrix_from_wxyz(ours), R, atol=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_have_a_quaternion(axis: int) -> None:
    R = -np.eye(3)
    R[axis, axis] = 1.0
    assert np.allclose(conventions.matrix_from_wxyz(conventions.wxyz_from_matrix(R)), R, atol=1e-12)


def test_camera_frames_return_through_the_engine() -> None:
    X = conventions.pose_matrix(np.array([0.1, 0.2, 0.3]), random_rotation(np.random.default_rng(3)))
    position, quat = conventions.engine_camera_from_optical(X)
    R_gl = conventions.matrix_from_wxyz(quat)
    assert np.allclose(conventions.optical_from_engine_camera(position, R_gl), X)
    # The engine's camera looks along its -z, the optical frame along +z; both have x to the right.
    assert np.allclose(-R_gl[:, 2], X[:3, 2]) and np.allclose(R_gl[:, 0], X[:3, 0])


def test_focal_length_and_field_of_view_are_inverse() -> None:
    fovy = np.radians(conventions.fovy_deg_from_focal(572.0, 480))
    assert conventions.focal_px_from_fovy(float(fovy), 480) == pytest.approx(572.0)
