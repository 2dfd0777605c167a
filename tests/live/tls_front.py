"""Speaks TLS in front of a server of this loopback that does not, as proxies in front of databases
do.

    python tls_front.py PORT SERVER_PORT CERTIFICATE KEY

prints `ready` once it listens, and goes on until it is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys


async def serve(port: int, server: int, certificate: str, key: str) -> None:
    """Pass on what comes to `port` until the task is cancelled."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", server)
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    front = await asyncio.start_server(pass_on, "127.0.0.1", port, ssl=context)
    print("ready", flush=True)  # noqa: T201
    async with front:
        await front.serve_forever()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
