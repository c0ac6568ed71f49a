from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from skill2real_sim.core.bootstrap import StartError, options_from, read_config_line


def _config(folder: Path, **changes: object) -> dict[str, object]:
    folder.chmod(0o700)
    return {"socket_dir": str(folder), "privileged_token_hex": None, "realtime": 0, **changes}


def _pipe_with(data: bytes) -> int:
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    return out


def test_the_line_is_read_and_what_follows_is_left() -> None:
    fd = _pipe_with(json.dumps({"realtime": 1}).encode() + b"\n")
    assert read_config_line(fd) == {"realtime": 1}


@pytest.mark.parametrize("data", [b"", b'{"a": 1}', b"not json\n", b"[1]\n", b"\xff\xfe\n"])
def test_a_bad_line_is_refused_without_being_quoted(data: bytes) -> None:
    with pytest.raises(StartError) as refused:
        read_config_line(_pipe_with(data))
    assert "not json" not in str(refused.value)


def test_an_endless_line_is_refused() -> None:
    out, into = os.pipe()
    writer = threading.Thread(target=lambda: os.write(into, b"x" * 80_000))
    writer.start()
    with pytest.raises(StartError, match="exceed"):
        read_config_line(out)
    os.read(out, 80_000)
    writer.join()


def test_options_come_through(tmp_path: Path) -> None:
    options = options_from(
        _config(tmp_path, privileged_token_hex="ab" * 32, realtime=1.0, exit_on_lease_lapse=True)
    )
    assert options.privileged_token == b"\xab" * 32
    assert options.realtime == 1.0
    assert options.exit_on_lease_lapse


@pytest.mark.parametrize(
    "changes",
    [
        {"socket_dir": None},
        {"socket_dir": "relative"},
        {"socket_dir": "/nowhere/at/all"},
        {"privileged_token_hex": "ab"},
        {"privileged_token_hex": "zz" * 32},
        {"privileged_token_hex": " " + "ab" * 31 + " "},
        {"realtime": -1},
        {"realtime": True},
        {"realtime": float("nan")},
        {"realtime": "1"},
        {"exit_on_lease_lapse": 1},
        {"curve": {"public_key": "x"}},
        {"curve": {"public_key": "x" * 40, "secret_key": "y" * 40, "client_keys": []}},
        {"bind": {"elsewhere": "tcp://127.0.0.1:0"}},
        {"bind": {"device": "tcp://0.0.0.0:0"}},
        {"bind": {"device": "udp://127.0.0.1:0"}},
        {"unknown": 1},
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(StartError) as refused:
        options_from(_config(tmp_path, **changes))
    assert next(iter(changes)) in str(refused.value).replace("CURVE", "curve").replace("addresses", "bind")


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    config = _config(tmp_path)
    tmp_path.chmod(0o755)
    with pytest.raises(StartError, match="0700"):
        options_from(config)


def test_a_folder_too_deep_for_a_socket_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir(mode=0o700)
    with pytest.raises(StartError, match="at most 107"):
        options_from(_config(deep))
