"""Follows the states that a publisher sends, and prints the gap as lines of JSON.

``python -m skill2real_mirror --states ADDRESS [--picture FILE] [--hz 10]``

The end of standard input ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from pathlib import Path

import zmq
from PIL import Image
from skill2real_sim.worlds.twin import task_r1
from skill2real_sim.worlds.twin.capabilities import ARM
from skill2real_sim.worlds.twin.mjcf_scene import compile_scene
from skill2real_sim.worlds.twin.rendering import Renderer

from .mirror_twin import BadState, Gap, LiveState, MirrorTwin, parse_state

PICTURE_EVERY_S = 1.0
WAIT_MS = 10
VIEW = "scene_left"


def _line(gap: Gap, twin: MirrorTwin, rate_hz: float, refused: int) -> str:
    return json.dumps(
        {
            "age_ms": round(1e3 * gap.age_s, 2),
            "rate_hz": round(rate_hz, 1),
            "joint_error_mrad": [round(1e3 * float(v), 3) for v in gap.joints_rad],
            "tcp_distance_mm": round(1e3 * gap.tcp_m, 3),
            "of_that_kinematics_mm": round(1e3 * gap.kinematics_m, 3),
            "opening_error_mm": None if gap.opening_m is None else round(1e3 * gap.opening_m, 2),
            "touches": gap.touches,
            "taken_over": twin.taken_over,
            "dropped_s": round(twin.dropped_s, 3),
            "refused": refused,
        }
    )


def _save(renderer: Renderer, twin: MirrorTwin, path: Path) -> None:
    """Whole or not at all: whoever shows the file never reads half of a picture."""
    (rows,) = renderer.render([VIEW], twin.data.qpos)
    beside = path.with_name(f".{path.name}.{os.getpid()}.png")
    Image.fromarray(rows).save(beside)
    beside.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="skill2real_mirror")
    parser.add_argument("--states", required=True, help="ZeroMQ address of the publisher of states")
    parser.add_argument("--picture", type=Path, help="file that is rendered anew each second")
    parser.add_argument("--hz", type=float, default=10.0, help="lines a second")
    arguments = parser.parse_args()
    model = compile_scene(task_r1.draw(0, "empty_table", ARM).spec)
    twin = MirrorTwin(model)
    renderer = Renderer()
    if arguments.picture:
        renderer.use_model(model)
    socket = zmq.Context.instance().socket(zmq.SUB)
    # The newest state alone counts: a mirror that is behind must not play the past.
    socket.set(zmq.CONFLATE, 1)
    socket.set(zmq.SUBSCRIBE, b"")
    socket.connect(arguments.states)
    print(json.dumps({"ready": True}), flush=True)
    _run(socket, twin, renderer, arguments)


def _run(
    socket: zmq.Socket[bytes], twin: MirrorTwin, renderer: Renderer, arguments: argparse.Namespace
) -> None:
    live: LiveState | None = None
    refused, states, counted_s = 0, 0, time.monotonic()
    line_s = picture_s = time.monotonic()
    rate_hz = 0.0
    while True:
        if select.select([sys.stdin], [], [], 0)[0] and not sys.stdin.buffer.read1(4096):
            return
        if socket.poll(WAIT_MS):
            try:
                live = parse_state(socket.recv())
                states += 1
            except BadState as error:
                refused += 1
                print(f"refused: {error}", file=sys.stderr)
        now_s = time.monotonic()
        if live is None:
            continue
        twin.follow(live, now_s)
        if now_s - counted_s >= 1.0:
            rate_hz, states, counted_s = states / (now_s - counted_s), 0, now_s
        if now_s - line_s >= 1.0 / arguments.hz:
            line_s = now_s
            print(_line(twin.gap(now_s), twin, rate_hz, refused), flush=True)
        if arguments.picture and now_s - picture_s >= PICTURE_EVERY_S:
            picture_s = now_s
            _save(renderer, twin, arguments.picture)


if __name__ == "__main__":
    main()
