"""The command that serves a challenge over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream.cli.arguments import file_option


def serve(
    folder: Annotated[Path, typer.Argument(help="The organiser's folder.")],
    bundle: Annotated[Path | None, typer.Option(help="The bundle, for its files to be downloaded.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; beyond this machine, only encrypted.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Name of the host in addresses, where it is not --host; may be repeated.")
    ] = None,
    certificate: Annotated[Path | None, file_option(help="Certificate, as a PEM file.")] = None,
    key: Annotated[Path | None, file_option(help="Key of the certificate, as a PEM file.")] = None,
    behind_tls_proxy: Annotated[
        bool, typer.Option("--behind-tls-proxy", help="A proxy of yours encrypts, and forwards to this server.")
    ] = False,
    new_token: Annotated[bool, typer.Option("--new-token", help="Replace the token of the organiser.")] = False,
) -> None:
    """Serve a challenge: rules, data, board, a page for each team, and the organiser's page.

    One server runs on a folder. The first start prints the organiser's token.
    """
    try:
        from mlstream.challenge.server.serve import Address, serve
    except ImportError as error:
        raise ImportError("FastAPI must be installed to serve: pip install 'mlstream-toolkit[challenge]'.") from error
    from mlstream.cli import console

    at = Address(host, port, tuple(name or ()), certificate, key, behind_tls_proxy)
    serve(folder, bundle, at=at, new_token=new_token, say=console.print_line)
