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
    decimal: str | None = None  # a comma, if its numbers had decimal commas
    noise_column: str | None = None  # with the known noise of each row

    def inputs(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """Return the table as the model takes it, whatever the order of its columns."""
        import pandas as pd

        if self.columns is None:
            raise ValueError(
                "the model was fitted on numbers without names of columns, so columns of a file "
                "cannot be told apart: fit it with `goodprior fit`, or on a pandas DataFrame"
            )
        if self.model.columns_ is not None:
            return frame
        return pd.DataFrame(self.columns.matrix(frame), columns=self.columns.names)

    def read(self, data: Path) -> "pd.DataFrame":
        """Return the table in a file, with numbers written as in the training table."""
        from goodprior.data.table.read import read_table

        return read_table(data, least_columns=1, decimal=self.decimal)

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
    from goodprior.data.table.column import Column
    from goodprior.data.table.encode import Columns
    from goodprior.estimators import load

    model = load(path)
    if not hasattr(model, "posterior_"):
        raise ValueError(f"{path} holds a prior that has seen no data, not a fitted model")
    about: dict[str, Any] = getattr(model, "table_", {})
    try:
        targets = list(about.get("targets", []))
        known = targets, about.get("rows"), about.get("decimal"), about.get("noise_std")
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{path} does not describe its table well: {error!r}") from None
    if model.columns_ is not None:
        return ModelFile(model, model.columns_, *known)
    names = getattr(model, "feature_names_in_", None)
    columns = None if names is None else Columns(tuple(Column(str(n), "number") for n in names))
    return ModelFile(model, columns, *known)
