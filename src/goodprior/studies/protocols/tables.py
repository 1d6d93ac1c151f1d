"""The paper's protocol for tables (sections 6.2 and 6.3, appendix A), and what `quick` cuts."""

from collections.abc import Iterator

from goodprior.studies.engine.study import Choice, Settings
from goodprior.studies.protocols.method_names import MATCHED, SAMPLED, START, matched_by

# Smallest first. Noise variances on standardised targets are those of the paper's tables 7 and 9.
NOISE_VARIANCE = {
    "boston": 0.1,
    "energy": 0.001,
    "concrete": 0.1,
    "wine": 0.5,
    "kin8nm": 0.1,
    "power": 0.05,
    "naval": 0.001,
    "protein": 0.5,
}
REGRESSION = tuple(NOISE_VARIANCE)
# Rows for training and for testing (Milios et al., 2018).
SIZES = {
    "eeg": (10980, 4000),
    "htru2": (12898, 5000),
    "magic": (14020, 5000),
    "letter": (15000, 5000),
    "drive": (48509, 10000),
    "mocap": (68095, 10000),
    "miniboo": (120064, 10000),
}
CLASSIFICATION = tuple(SIZES)
CLASSES = {"letter": 26, "drive": 11, "mocap": 5}  # the others have two

# Passes over the rows: the paper's for ensembles and single networks. For LA-GGN and fBNN it refers
# to others; their numbers here are ours.
EPOCHS = {
    "ensemble": 50,
    "fbnn": 150,
    "la-ggn": 500,
    "la-marglik": 500,
    "fg+la": 150,
    "gpi-g+la": 150,
    "early-stopping": 150,
    "map-fg": 150,
    "map-gpi-g": 150,
}
LARGE = (
    "kin8nm",
    "power",
    "naval",
    "protein",
)  # ten times the rows: a tenth of the passes for fBNN

# The chains by which the temperature of FG+TS is tuned on split 0.
TUNING = {
    "paper": {"tuning_draws": 10, "tuning_thinning": 500},
    "quick": {"tuning_draws": 5, "tuning_thinning": 100},
}
MORE_METHODS = ("fg+la", "gpi-g+la", "la-ggn", "la-marglik", "early-stopping", "map-fg",
                "map-gpi-g")  # fmt: skip
FOUR = ("fg", "gpi-g", "fh", "gpi-h")  # methods of quick presets
TWO_SETS = {"datasets": ("boston", "energy"), "splits": 2}
QUICK = {"burn_in": 1000, "draws": 10, "thinning": 200}


def splits(choice: Choice, dataset: str) -> int:
    """How many splits: the paper has 10, 5 for protein."""
    return choice.splits or (5 if dataset == "protein" else 10)


def lengths(dataset: str, preset: str) -> Settings:
    """Chains and their lengths (appendix A.3)."""
    if preset == "quick":
        return {"chains": 4, **START, **QUICK}
    large = dataset in ("protein", "miniboo", "letter", "drive")
    short_burn_in = dataset in ("boston", "concrete", "energy", "wine", "eeg", "htru2", "magic")
    return {
        "chains": 4,
        **START,
        "burn_in": 2000 if short_burn_in or dataset == "mocap" else 5000,
        "draws": 60 if dataset == "protein" else 30,
        "thinning": 5000 if large else 2000,
    }


def training(dataset: str, method: str, preset: str) -> Settings:
    """Passes over the rows of methods that train by gradients."""
    found: Settings = {"epochs": EPOCHS[method] // (10 if preset == "quick" else 1)}
    if method in ("la-ggn", "la-marglik"):
        found["evidence_steps"] = 10  # after each pass
    if method == "fbnn" and dataset in LARGE:
        found["epochs"] = max(1, found["epochs"] // 10)
    return found


def width(dataset: str) -> int:
    """Units of a hidden layer."""
    return 200 if dataset in ("protein", "miniboo", "drive", "mocap") else 100


def two_layers(dataset: str, method: str, split: int) -> Settings:
    """What studies of matching share: a network of two hidden layers on one split."""
    return {
        "dataset": dataset,
        "method": method,
        "depth": 2,
        "width": width(dataset),
        "split": split,
        "seed": 0,
    }


def table_jobs(choice: Choice) -> Iterator[Settings]:
    """Data set by depth, split and method, for regression and classification alike."""
    for dataset in choice.datasets:
        for depth in choice.depths:
            for split in range(splits(choice, dataset)):
                for method in choice.methods:
                    yield table_settings(dataset, method, depth, split, choice)


def benchmark_jobs(choice: Choice) -> list[Settings]:
    """The same, as jobs of the benchmark that a data set belongs to."""
    return [
        {"study": benchmark_of(settings["dataset"]), **settings} for settings in table_jobs(choice)
    ]


def benchmark_of(dataset: str) -> str:
    """The benchmark that a data set belongs to."""
    return "uci-regression" if dataset in NOISE_VARIANCE else "uci-classification"


def table_settings(dataset: str, method: str, depth: int, split: int, choice: Choice) -> Settings:
    """All that the result of one job depends on."""
    return {
        "dataset": dataset,
        "method": method,
        "depth": depth,
        "split": split,
        "seed": 0,
        "width": width(dataset),
        "noise_variance": NOISE_VARIANCE.get(dataset),
        "batch_size": 32 if dataset in NOISE_VARIANCE else 64,
        **(lengths(dataset, choice.preset) if method in SAMPLED else {}),
        **(training(dataset, method, choice.preset) if method in EPOCHS else {}),
        **(TUNING[choice.preset] if method == "fg+ts" else {}),
        **(matching(choice.distance) if method in MATCHED else {"distance": None}),
    }


def matching(distance: str) -> Settings:
    """The distance and its draws in each step: the paper's N_s, and the energy distance's own."""
    return {**matched_by(distance), "match_draws": 128 if distance == "wasserstein" else 64}


def table_cost(settings: Settings) -> float:
    """Roughly proportional to the time of a job: steps, rows of a batch, weights."""
    steps = settings.get("burn_in", 0) + settings.get("draws", 0) * settings.get("thinning", 0)
    weights = settings["width"] * (10 + settings["width"] * (settings["depth"] - 1))
    steps += 5 * settings.get("tuning_draws", 0) * settings.get("tuning_thinning", 0)
    steps += 200 * settings.get("epochs", 0)
    matching = 20_000 * (10 if settings.get("distance") == "wasserstein" else 1)
    return weights * (5000 + steps + (matching if settings.get("distance") else 0)) * 1e-9
