"""`goodprior studio`: shape a belief in the browser."""

import os
import signal
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from goodprior.studio.studio import Studio


def studio(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV file whose columns the belief is about; without one, ranges are typed in.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column that functions are about.")
    ] = None,
    port: Annotated[int, typer.Option(help="0: any that is free.", min=0, max=65535)] = 0,
    browser: Annotated[
        bool, typer.Option(help="Open the page; otherwise only its address is printed.")
    ] = True,
) -> None:
    """Shape a belief about functions in the browser, while looking at draws.

    The page is on this machine only, and its address holds a token. Ctrl-C ends it.
    """
    from goodprior.studio.server import Server

    # Matrices here are small: threads of BLAS would cost more than they bring.
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

    def make_studio() -> "Studio":
        from goodprior.studio.studio import Studio

        return Studio(data, target)

    try:
        server = Server(make_studio, port)
    except OSError as error:
        raise typer.BadParameter(f"{port}: {error.strerror}", param_hint="--port") from None
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    try:
        typer.echo(f"studio: {server.address}\n(Ctrl-C ends it)")
        if browser:
            webbrowser.open(server.address)
        server.serve_forever()
    except KeyboardInterrupt:
        typer.echo("\nstopped")
    server.server_close()
    sys.stdout.flush()
    os._exit(0)  # threads that are still computing would crash while the interpreter ends
