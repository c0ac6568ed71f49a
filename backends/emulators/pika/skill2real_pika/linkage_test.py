from __future__ import annotations

import pytest

from .linkage import angle_of, opening_of, slope_of

# Angle [rad] and opening [mm] of the published linkage.
TABLE = [
    (0.0, 0.0),
    (0.25, 10.740),
    (0.5, 23.712),
    (0.75, 38.773),
    (1.0, 55.310),
    (1.25, 72.160),
    (1.5, 87.735),
    (1.67, 96.707),
    (2.212, 110.519),
]


@pytest.mark.parametrize(("angle_rad", "opening_mm"), TABLE)
def test_opening_of_an_angle_and_back(angle_rad: float, opening_mm: float) -> None:
    assert opening_of(angle_rad) * 1e3 == pytest.approx(opening_mm, abs=6e-4)
    if angle_rad < 2:
        assert angle_of(opening_of(angle_rad)) == pytest.approx(angle_rad, abs=1e-9)


def test_slope_at_rest_and_where_it_is_steepest() -> None:
    assert slope_of(0.0) * 1e3 == pytest.approx(38.6, abs=0.1)
    assert slope_of(1.06) * 1e3 == pytest.approx(67.9, abs=0.1)
