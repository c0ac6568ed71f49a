"""``python -m skill2real_bench --socket-dir DIR --rig-seed N``: one emulated bench, until standard input
ends.

Prints one line when ready: ``{"ready": true, "plant": PATH, "frames": ADDRESS, "privileged": ADDRESS or null,
...}``. The privileged plane is there only with ``--token-fd N``: a descriptor from which one line of 64
hexadecimal digits is read. Lines on standard input: see faults.py.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence

from skill2real_sim.core.bootstrap import StartError, check_socket_dir
from skill2real_sim.core.log import LOGGER, log_to_stderr, settle_log
from skill2real_sim.core.parent_watch import die_with_parent
from skill2real_sim.core.serve import EXIT_BAD_START
from skill2real_sim.core.server import EXIT_ASKED, EXIT_DEFECT
from skill2real_sim.worlds.base import BadArgument
from skill2real_sim.worlds.twin import RENDERER

from .bench_cameras import describe_rig
from .bench_server import BenchServer
from .bench_world import BenchWorld
from .rig_draw import draw_rig

SWITCH_INTERVAL_S = 0.0002
TOKEN_BYTES = 32


def main(argv: Sequence[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.describe:
        print(json.dumps(describe_rig(), indent=2))
        return 0
    # Whatever a library prints goes to standard error; standard output carries lines of JSON alone.
    out = os.dup(1)
    os.dup2(2, 1)

    def say(line: dict[str, object]) -> None:
        os.write(out, json.dumps(line).encode() + b"\n")

    die_with_parent()
    log_to_stderr()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the token
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        if arguments.socket_dir is None:
            raise StartError("give --socket-dir, a folder of this user with mode 0700")
        check_socket_dir(arguments.socket_dir)
        plant = arguments.plant or os.path.join(arguments.socket_dir, "plant")
        token = _token(arguments.token_fd)
        rig = draw_rig(arguments.rig_seed)
        server = BenchServer(BenchWorld(rig), arguments.socket_dir, plant, token, say)
        server.load("r1", arguments.seed, arguments.variant)
    except (StartError, BadArgument, OSError) as error:
        LOGGER.error("cannot start: %s", error)
        settle_log()
        return EXIT_BAD_START
    except Exception:
        LOGGER.exception("the bench cannot start")
        settle_log()
        return EXIT_DEFECT
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: server.end("asked to end", EXIT_ASKED))
    try:
        server.start()
    except RuntimeError as error:
        LOGGER.error("cannot start: %s", error)
        settle_log()
        return EXIT_DEFECT
    say(
        {
            "ready": True,
            "plant": plant,
            "frames": server.frames_address,
            "privileged": server.privileged_address,
            "pid": os.getpid(),
            "renderer": RENDERER,
            "wrench": {
                "bias": rig.wrench_bias.tolist(),
                "noise_n": float(rig.wrench_noise_sigma[0]),
                "noise_nm": float(rig.wrench_noise_sigma[3]),
            },
        }
    )
    code = server.run()
    settle_log()
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="skill2real_bench", description="The emulated bench in real time.")
    parser.add_argument(
        "--describe", action="store_true", help="print what a rig's configuration says, and end"
    )
    parser.add_argument("--socket-dir", help="private folder (mode 0700) for sockets and the plant memory")
    parser.add_argument("--plant", help="path of the plant memory; default SOCKET_DIR/plant")
    parser.add_argument("--rig-seed", type=int, default=0, help="which hidden errors the rig has")
    parser.add_argument("--seed", type=int, default=0, help="scene before the first reset")
    parser.add_argument("--variant", default="empty_table", help="variant of that scene")
    parser.add_argument("--token-fd", type=int, help="descriptor that the privileged token is read from")
    return parser


def _token(descriptor: int | None) -> bytes | None:
    if descriptor is None:
        return None
    try:
        with os.fdopen(descriptor, "rb") as pipe:
            line = pipe.readline(2 * TOKEN_BYTES + 2)
        token = bytes.fromhex(line.decode("ascii").strip())
    except (OSError, ValueError):
        token = b""
    if len(token) != TOKEN_BYTES:
        raise StartError(
            f"descriptor {descriptor} must give one line of {2 * TOKEN_BYTES} hexadecimal digits"
        )
    return token


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
