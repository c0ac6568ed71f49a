from __future__ import annotations

import numpy as np

from .bench_cameras import CAMERAS, SCENE, Intrinsics
from .exposures import LENS_MARGIN_PX
from .lens import Lens, distort, undistort


def test_undistort_is_the_inverse_of_distort() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-0.55, 0.55, 500), rng.uniform(-0.42, 0.42, 500)
    back = undistort(*distort(x, y, SCENE.color.coeffs), SCENE.color.coeffs)
    assert np.abs(back[0] - x).max() < 1e-9 and np.abs(back[1] - y).max() < 1e-9


def test_one_camera_at_least_distorts_by_pixels() -> None:
    distorted = [camera for camera in CAMERAS if camera.color.distorted]
    assert distorted
    k = distorted[0].color
    x, y = np.array([-k.cx_px / k.fx_px]), np.array([-k.cy_px / k.fy_px])
    moved = distort(x, y, k.coeffs)
    assert np.hypot((moved[0] - x) * k.fx_px, (moved[1] - y) * k.fy_px)[0] > 2.0


def test_a_dot_lands_where_the_model_says() -> None:
    seen = SCENE.color
    lens = Lens(seen, 640, 480, LENS_MARGIN_PX)
    for x, y in ((-0.42, -0.3), (0.3, 0.35), (0.0, 0.0), (0.45, -0.34)):
        ideal = np.zeros((lens.height, lens.width, 3), dtype=np.uint8)
        u, v = x * seen.fx_px + lens.wide.cx_px, y * seen.fy_px + lens.wide.cy_px
        rows, columns = np.mgrid[0 : lens.height, 0 : lens.width]
        ideal[:] = (255 * np.exp(-((columns - u) ** 2 + (rows - v) ** 2) / 18.0))[..., None].astype(np.uint8)
        picture = lens.apply(ideal)[..., 0].astype(np.float64)
        rows, columns = np.mgrid[0:480, 0:640]
        centre = (picture * columns).sum() / picture.sum(), (picture * rows).sum() / picture.sum()
        xd, yd = distort(np.array([x]), np.array([y]), seen.coeffs)
        expected = xd[0] * seen.fx_px + seen.cx_px, yd[0] * seen.fy_px + seen.cy_px
        assert np.hypot(centre[0] - expected[0], centre[1] - expected[1]) < 0.1


def test_an_even_picture_stays_even() -> None:
    lens = Lens(Intrinsics(600.0, 600.0, 320.0, 240.0, (-0.03, 0.02, 0.0, 0.0, 0.0)), 640, 480, 16)
    for level in (0, 100, 255):
        picture = lens.apply(np.full((lens.height, lens.width, 3), level, dtype=np.uint8))
        assert np.abs(picture.astype(int) - level).max() <= 1
