"""The command line, assembled from `commands`."""

import typer

from goodprior.commands.calibrate import calibrate
from goodprior.commands.compare import compare
from goodprior.commands.demo import demo
from goodprior.commands.fit import fit
from goodprior.commands.predict import predict
from goodprior.commands.show import show
from goodprior.commands.studio import studio
from goodprior.commands.study import app as study

app = typer.Typer(
    help="From a belief about functions to a prior over weights, and to its posterior.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (fit, predict, show, compare, calibrate, demo, studio):
    app.command()(command)
app.add_typer(study, name="study")


def main() -> None:
    """The entry point of the `goodprior` command."""
    app()
