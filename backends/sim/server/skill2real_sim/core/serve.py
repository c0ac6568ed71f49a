"""The process: options in, readiness line out, then the server until its end."""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence

from skill2real_sim.core.bootstrap import (
    CONFIG_FD,
    StartError,
    StartOptions,
    check_rate,
    check_socket_dir,
    options_from,
    read_config_line,
)
from skill2real_sim.core.log import LOGGER, log_to_stderr, settle_log
from skill2real_sim.core.parent_watch import EXIT_PARENT_DIED, ParentWatch, die_with_parent
from skill2real_sim.core.server import EXIT_ASKED, EXIT_DEFECT, Server
from skill2real_sim.core.sockets import open_sockets
from skill2real_sim.worlds.base import World

EXIT_BAD_START = 2
# Threads hand the interpreter over this often; the default of 5 ms would be a stop's worst wait.
SWITCH_INTERVAL_S = 0.0005


def serve(world_factories: dict[str, Callable[[], World]], argv: Sequence[str]) -> int:
    """Runs one server process to its end and returns its exit code."""
    ready_out = _keep_stdout_for_readiness()
    log_to_stderr()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the token
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    arguments = _parser(sorted(world_factories)).parse_args(argv)
    try:
        watch, options = _start_options(arguments)
        if watch is not None:
            die_with_parent()
            watch.start()
        world = world_factories[arguments.world]()
        server = Server(world, options, sockets := open_sockets(options))
    except StartError as error:
        LOGGER.error("cannot start: %s", error)
        settle_log()
        return EXIT_BAD_START
    except Exception:
        LOGGER.exception("the world %s cannot start", arguments.world)
        settle_log()
        return EXIT_DEFECT
    if watch is not None:
        watch.on_death(lambda: _stop_and_end(server))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: server.end("asked to end", EXIT_ASKED))
    line = {
        "ready": True,
        "privileged": None,
        **sockets.addresses,
        "pid": os.getpid(),
        "renderer": world.renderer,
    }
    os.write(ready_out, json.dumps(line).encode() + b"\n")
    code = server.run()
    settle_log()
    return code


def _stop_and_end(server: Server) -> None:
    server.station.stop("the parent process is gone")
    server.end("the parent process is gone", EXIT_PARENT_DIED)


def _keep_stdout_for_readiness() -> int:
    """Whatever a library prints goes to standard error; returns a descriptor of the real standard output."""
    ready_out = os.dup(1)
    os.dup2(2, 1)
    return ready_out


def _parser(worlds: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skill2real_sim",
        description=f"A simulator backend. Options come as one JSON line on descriptor {CONFIG_FD}; "
        "for a manual start without a privileged plane, give --socket-dir.",
    )
    parser.add_argument("--world", choices=worlds, required=True)
    parser.add_argument(
        "--socket-dir", help="folder for the sockets, mode 0700; without it the descriptor is read"
    )
    parser.add_argument("--realtime", type=float, default=0.0, help="0: simulated clock; 1.0: real time")
    return parser


def _start_options(arguments: argparse.Namespace) -> tuple[ParentWatch | None, StartOptions]:
    if arguments.socket_dir is not None:
        check_socket_dir(arguments.socket_dir)
        return None, StartOptions(
            arguments.socket_dir, None, check_rate(arguments.realtime), False, None, None
        )
    try:
        config = read_config_line(CONFIG_FD)
    except OSError:
        raise StartError(
            f"descriptor {CONFIG_FD} is not open; start through the launcher or give --socket-dir"
        ) from None
    return ParentWatch(CONFIG_FD), options_from(config)
