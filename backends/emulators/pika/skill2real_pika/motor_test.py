from __future__ import annotations

import pytest

from .linkage import angle_of, opening_of
from .motor import FirstOrderMotor, Settings


def test_reaches_its_target_at_about_the_set_speed() -> None:
    motor = FirstOrderMotor(0.0)
    settings = Settings(enabled=True, target_rad=1.0, speed_rad_s=2.0)
    motor.advance(settings, 0.25, jammed=False)
    assert 0.35 < motor.reading.angle_rad < 0.5
    motor.advance(settings, 1.0, jammed=False)
    assert motor.reading.angle_rad == pytest.approx(1.0, abs=1e-3)
    assert abs(motor.reading.current_a) < 0.1


def test_an_obstacle_lets_the_current_rise_to_the_limit_and_no_further() -> None:
    motor = FirstOrderMotor(0.08, obstacle_m=0.04)
    settings = Settings(enabled=True, target_rad=0.0, limit_a=0.7)
    for _ in range(200):
        motor.advance(settings, 0.01, jammed=False)
        assert abs(motor.reading.current_a) <= 0.7
    assert opening_of(motor.reading.angle_rad) == pytest.approx(0.04, abs=1e-9)
    assert motor.reading.current_a == pytest.approx(-0.7, abs=1e-3)
    motor.advance(Settings(enabled=True, target_rad=angle_of(0.06)), 1.0, jammed=False)
    assert opening_of(motor.reading.angle_rad) == pytest.approx(0.06, abs=1e-4)


def test_without_power_nothing_turns_and_nothing_presses() -> None:
    motor = FirstOrderMotor(0.05, obstacle_m=0.05)
    motor.advance(Settings(enabled=False, target_rad=0.0), 1.0, jammed=False)
    assert opening_of(motor.reading.angle_rad) == pytest.approx(0.05, abs=1e-9)
    assert motor.reading.current_a == 0.0


def test_the_stop_ends_the_travel() -> None:
    motor = FirstOrderMotor(0.09)
    motor.advance(Settings(enabled=True, target_rad=2.2), 2.0, jammed=False)
    assert motor.reading.angle_rad == pytest.approx(1.67, abs=1e-9)
    assert motor.reading.current_a > 1.0
