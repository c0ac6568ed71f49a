"""What the bridge is measured beside: the same content from a websocket server that packs with msgpack.

Prints ``{"port": n}`` on standard output once it listens on loopback; serves until its standard input ends.
The first message of a client is what to serve: a map of replies by verb. Every later message is a map
{"verb": name}; its reply is packed anew each time, as such servers do, and sent without compression.
"""

from __future__ import annotations

import asyncio
import json
import sys

import msgpack
from websockets.asyncio.server import ServerConnection, serve


async def answer(connection: ServerConnection) -> None:
    replies = msgpack.unpackb(await connection.recv())
    await connection.send(msgpack.packb({"ready": True}))
    async for message in connection:
        await connection.send(msgpack.packb(replies[msgpack.unpackb(message)["verb"]]))


async def main() -> None:
    async with serve(answer, "127.0.0.1", 0, compression=None, max_size=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(json.dumps({"port": port}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
