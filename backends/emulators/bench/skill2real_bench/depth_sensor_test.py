from __future__ import annotations

import numpy as np

from .depth_sensor import beside_jumps, correlated_noise, measure_depth, occluded

SHAPE = (480, 640)
F_B = 389.6 * 0.018


def measured(z_m: np.ndarray, units_m: float = 0.0001, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return measure_depth(z_m.astype(np.float32), F_B, 0.05, (0.05, 1.5), units_m, rng) * units_m


def flat(z_m: float) -> np.ndarray:
    return np.full(SHAPE, z_m, dtype=np.float32)


def test_the_error_grows_with_the_square_of_the_distance() -> None:
    sigmas = {}
    for z in (0.2, 0.4, 0.8):
        depth = measured(flat(z))
        sigmas[z] = depth[depth > 0].std()
        assert abs(float(np.median(depth[depth > 0])) - z) < z * z / F_B / 32
        # The steps of 1/32 px add a twelfth of their square.
        expected = z * z / F_B * np.hypot(0.05, 1 / 32 / np.sqrt(12))
        assert abs(sigmas[z] / expected - 1) < 0.1
    assert 3.4 < sigmas[0.8] / sigmas[0.4] < 4.6


def test_noise_is_shared_by_neighbours() -> None:
    noise = correlated_noise(np.random.default_rng(0), SHAPE)
    assert abs(float(noise.std()) - 1) < 0.02
    assert 0.5 < float((noise[:, 1:] * noise[:, :-1]).mean()) < 0.8
    assert abs(float((noise[:, 5:] * noise[:, :-5]).mean())) < 0.03


def test_the_right_imager_does_not_see_what_is_left_of_a_near_thing() -> None:
    z = flat(0.6)
    z[100:300, 300:400] = 0.3
    far_px, near_px = F_B / 0.6, F_B / 0.3
    hidden = occluded(np.float32(F_B) / z)
    row = np.flatnonzero(hidden[200])
    left_band = row[row < 100]
    assert abs(len(left_band) - far_px) <= 1
    shadow = row[row >= 100]
    assert abs(len(shadow) - (near_px - far_px)) <= 1 and shadow.max() == 299
    assert not hidden[50, 100:].any()


def test_holes_beside_jumps_beyond_range_and_nowhere_else() -> None:
    z = flat(0.6)
    z[100:300, 300:400] = 0.3
    depth = measured(z)
    jumps = beside_jumps(np.float32(F_B) / z)
    assert 0.5 < float((depth[jumps] == 0).mean()) < 0.95
    calm = ~jumps & ~occluded(np.float32(F_B) / z)
    assert float((depth[calm] == 0).mean()) < 0.004
    assert (measured(flat(2.0)) == 0).all() and (measured(flat(0.04)) == 0).all()


def test_depth_comes_in_whole_units_and_repeats() -> None:
    z = flat(0.5)
    counts = measure_depth(z, F_B, 0.05, (0.05, 1.5), 0.001, np.random.default_rng(3))
    assert counts.dtype == np.uint16
    assert set(np.unique(counts[counts > 0])) <= set(range(480, 521))
    again = measure_depth(z, F_B, 0.05, (0.05, 1.5), 0.001, np.random.default_rng(3))
    assert np.array_equal(counts, again)
