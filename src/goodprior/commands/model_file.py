"""A model file with the table that it was fitted on: which columns, which targets."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from goodprior.data.table.encode import Columns


@dataclass(frozen=True)
class ModelFile:
    """A fitted estimator and how to make its inputs from a table."""

    model: Any
    columns: "Columns | None"  # None: it was fitted on numbers without names
    targets: list[str]
    rows: int | None  # of the training table
    noise_column: str | None = None  # with the known noise of each row

    def inputs(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """Return the table as the model's inputs."""
        import pandas as pd

        if self.columns is None:
            raise ValueError(
                "the model was fitted on numbers without names of columns, so columns of a file "
                "cannot be told apart: fit it with `goodprior fit`, or on a pandas DataFrame"
            )
        return pd.DataFrame(self.columns.matrix(frame), columns=self.columns.names)

    def known_noise(self, frame: "pd.DataFrame") -> "np.ndarray | None":
        """Return the noise of each row, if it is known and the table has it."""
        from goodprior.commands.training_table import noise_values

        if self.noise_column is None or self.noise_column not in frame.columns:
            return None
        return noise_values(frame, self.noise_column)

    def known_targets(self, frame: "pd.DataFrame") -> "np.ndarray | None":
        """Return the targets, if the table has them."""
        from goodprior.data.table.targets import target_values

        if not self.targets or not set(self.targets) <= set(frame.columns):
            return None
        return target_values(frame, self.targets[0] if len(self.targets) == 1 else self.targets)


def open_model(path: Path) -> ModelFile:
    """Read a model file; what is none, or holds no posterior, is refused."""
    from goodprior.data.table.encode import Column, Columns
    from goodprior.estimators import load

    model = load(path)
    if not hasattr(model, "posterior_"):
        raise ValueError(f"{path} holds a prior that has seen no data, not a fitted model")
    about: dict[str, Any] | None = getattr(model, "columns_", None)
    if about is not None:
        try:
            columns = Columns.from_dict(about)
            targets, rows, noise = about["targets"], about["rows"], about.get("noise_std")
            return ModelFile(model, columns, list(targets), int(rows), noise)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} does not describe its columns well: {error!r}") from None
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return ModelFile(model, None, [], None)
    return ModelFile(model, Columns(tuple(Column(str(n), "number") for n in names)), [], None)
