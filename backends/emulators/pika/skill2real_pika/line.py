"""The serial line: a pseudo-terminal, and a link to it that stands for the device's place on the bus."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import termios
import tty
from pathlib import Path


class Line:
    """The device's end. Nobody here holds the other end, so that its owner's exclusive hold ends with it."""

    def __init__(self, link: str | None) -> None:
        self._link = None if link is None else Path(link)
        self._master = -1
        self._spare: list[int] = []
        self.path = ""
        self.plug()

    @property
    def plugged(self) -> bool:
        return self._master >= 0

    @property
    def fileno(self) -> int:
        return self._master

    def plug(self, *, other_name: bool = False) -> None:
        """Comes up as a new terminal; ``other_name``: one whose name differs from the last."""
        previous = self.path
        while True:
            master, slave = os.openpty()
            name = os.ttyname(slave)
            tty.setraw(slave, termios.TCSANOW)
            os.close(slave)
            if other_name and name == previous:
                # Held until another number has been given out.
                self._spare.append(master)
                continue
            break
        for spare in self._spare:
            os.close(spare)
        self._spare.clear()
        os.set_blocking(master, False)
        self._master, self.path = master, name
        if self._link is not None:
            new = self._link.with_name(self._link.name + ".new")
            new.unlink(missing_ok=True)
            new.symlink_to(name)
            new.replace(self._link)

    def unplug(self) -> None:
        """Hangs up on whoever has the line open, and takes the link away."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1
        if self._link is not None and self._link.is_symlink():
            self._link.unlink()

    def host_present(self) -> bool:
        """Whether somebody has the line open."""
        if not self.plugged:
            return False
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        return not any(events & select.POLLHUP for _, events in poll.poll(0))

    def read(self) -> bytes:
        if not self.plugged:
            return b""
        try:
            return os.read(self._master, 4096)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno == errno.EIO:  # nobody has it open
                return b""
            raise

    def write(self, data: bytes) -> None:
        """What the host does not take in time is lost, as on a line without flow control."""
        if self.plugged and data:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, data)
