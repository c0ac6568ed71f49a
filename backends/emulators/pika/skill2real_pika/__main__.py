"""``python -m skill2real_pika``: one emulated gripper. See README.md beside the package."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import time

from .emulator import Emulator, Options, tell
from .firmware import Drive
from .motor import FirstOrderMotor
from .wire import DIALECTS

PR_SET_PDEATHSIG = 1
# Above ordinary load, below the controller's own thread.
PRIORITY = 20
PLANT_WAIT_S = 30.0


def die_with_parent() -> None:
    """Asks the kernel to end this process with its parent."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def real_time() -> bool:
    """Takes the policy of a device that runs nothing else, where this user may."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        return True
    return False


def drive_of(arguments: argparse.Namespace) -> Drive:
    if arguments.plant is None:
        obstacle_m = None if arguments.obstacle_mm is None else arguments.obstacle_mm / 1e3
        return FirstOrderMotor(arguments.initial_mm / 1e3, obstacle_m)
    from .plant_jaw import PlantJaw

    jaw = PlantJaw(arguments.plant, arguments.newton_per_amp)
    end_s = time.monotonic() + PLANT_WAIT_S
    while not jaw.ready:
        if time.monotonic() > end_s:
            raise SystemExit(f"{arguments.plant} tells no state of the gripper: is the bench running?")
        time.sleep(0.01)
        jaw.refresh()
    return jaw


def number(least: float, most: float):  # noqa: ANN201 - argparse's converter
    def convert(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least:g} to {most:g}")
        return value

    return convert


def main() -> None:
    parser = argparse.ArgumentParser(prog="skill2real_pika", description=__doc__)
    parser.add_argument("--link", help="symbolic link kept on the terminal, as /dev/serial/by-path is")
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="sdk")
    parser.add_argument("--rate", type=number(50, 250), default=200.0, help="telemetry objects a second")
    parser.add_argument("--plant", help="the bench's plant memory; without it a first-order motor of its own")
    parser.add_argument("--initial-mm", type=number(0, 96), default=50.0)
    parser.add_argument("--obstacle-mm", type=number(0, 96), help="something that wide between the fingers")
    parser.add_argument("--newton-per-amp", type=number(0.1, 1000), default=10.0)
    parser.add_argument("--firmware", default="1.3.0", help="version that GET_INFO tells")
    parser.add_argument("--reset-on-open", action="store_true", help="opening the line restarts the firmware")
    parser.add_argument("--seed", type=int, default=0, help="of noise and damage")
    arguments = parser.parse_args()
    if arguments.plant is not None and arguments.obstacle_mm is not None:
        parser.error("--obstacle-mm is for the first-order motor: with --plant the world has its own objects")
    die_with_parent()
    options = Options(
        dialect=arguments.dialect,
        rate_hz=arguments.rate,
        link=arguments.link,
        version=arguments.firmware,
        seed=arguments.seed,
        reset_on_open=arguments.reset_on_open,
    )
    emulator = Emulator(options, drive_of(arguments))
    tell({"ready": True, "path": emulator.line.path, "realtime": real_time()})
    emulator.run()


if __name__ == "__main__":
    main()
