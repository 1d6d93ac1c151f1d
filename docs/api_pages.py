"""Pages of the reference: one for each subpackage, with all of its public names."""

from importlib import import_module
from pathlib import Path

ROOMS = {
    "estimators": "Estimators for scikit-learn, and reading and writing their model files.",
    "comparison": "Several estimators on the same folds, with a recommendation.",
    "beliefs": "Distributions over functions, kernels, and where functions are compared.",
    "distributions": "Distributions of positive numbers, such as uncertain lengthscales.",
    "networks": "Layers and networks; any equinox module is a network, too.",
    "priors": "Distributions over the weights of a network.",
    "matching": "Tuning a prior until its functions are like the belief's.",
    "data": "Scaling, splits and named data sets.",
    "inference": "Likelihoods, samplers, posteriors and predictions.",
    "evaluation": "Metrics, diagnostics and leave-one-out.",
    "baselines": "Ensembles, modes, Laplace, fBNN, and tuning by validation.",
    "storage": "Model files that are safe to open.",
    "pipeline": "From rows and a belief to a posterior, by any method.",
    "plots": "Pictures of function draws, posteriors and classes.",
    "devices": "How many cores are used.",
}
# Constants, which have no docstring.
NOT_DOCUMENTED = (
    *("ACTIVATIONS", "IMAGE_NETWORKS", "KERNELS", "PAPER_NAMES"),
    *("TEMPERATURES", "WEIGHT_DECAYS"),
)


def public_names() -> dict[str, list[str]]:
    """The documented names of each room, with their modules: `goodprior` where it has them."""
    import goodprior

    found = {}
    for room in ROOMS:
        module = import_module(f"goodprior.{room}")
        front = [name for name in goodprior.__all__ if _room_of(name) == room]
        names = set(getattr(module, "__all__", front)) | set(front)
        if room == "plots":
            names = {"new_figure", "plot_classes", "plot_functions", "plot_history"}
            names |= {"plot_posterior"}
        found[room] = [
            f"goodprior.{name}" if name in front else f"goodprior.{room}.{name}"
            for name in sorted(names - set(NOT_DOCUMENTED), key=str.lower)
        ]
    return found


def _room_of(name: str) -> str | None:
    from goodprior import _ROOM_OF

    return _ROOM_OF.get(name)


def write(folder: Path) -> None:
    """Write `index.rst` and a page for each room, where they are not there already."""
    folder.mkdir(exist_ok=True)
    pages = {"index": _index()}
    for room, names in public_names().items():
        pages[room] = _page(room, names)
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _index() -> str:
    lines = [
        "API reference",
        "=============",
        "",
        "Names that are written `goodprior.Name` can be imported from `goodprior` itself. The",
        "subpackages are in the order in which most people need them.",
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {room}" for room in ROOMS),
        "",
        ".. list-table::",
        "   :widths: 25 75",
        "",
    ]
    for room, what in ROOMS.items():
        lines += [f"   * - :doc:`{room}`", f"     - {what}"]
    return "\n".join(lines) + "\n"


def _page(room: str, names: list[str]) -> str:
    title = f"goodprior.{room}"
    lines = [title, "=" * len(title), "", ROOMS[room], "", ".. currentmodule:: goodprior", ""]
    lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    lines += [f"   {name.removeprefix('goodprior.')}" for name in names]
    return "\n".join(lines) + "\n"
