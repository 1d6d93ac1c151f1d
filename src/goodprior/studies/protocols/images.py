"""The paper's protocol for images (section 6.4, appendix A), and what `quick` cuts of it.

The paper does not say how many images are in a step of a chain or of training (128 here), nor how
long the chains are by which the temperature of FG+TS is tuned.
"""

from goodprior.studies.engine.study import Against, Choice, Settings
from goodprior.studies.protocols.method_names import MATCHED, SAMPLED, START, matched_by

NETWORKS = ("lenet5", "preresnet20", "vgg16")
ROWS = {"mnist": 60_000, "cifar10": 50_000}
QUICK_ROWS = {"mnist": 60_000, "cifar10": 20_000}
COST = {"lenet5": 1.0, "preresnet20": 25.0, "vgg16": 40.0}  # of a step, roughly

QUICK = {"networks": ("lenet5",), "splits": 1}
LENGTHS = {
    "cifar10": {"burn_in": 10_000, "draws": 200, "thinning": 10_000},
    "mnist": {"burn_in": 10_000, "draws": 100, "thinning": 10_000},
}
QUICK_LENGTHS = {
    "cifar10": {"burn_in": 2000, "draws": 20, "thinning": 200},
    "mnist": {"burn_in": 6000, "draws": 30, "thinning": 300},
}
TUNING = {"tuning_burn_in": 10_000, "tuning_draws": 20, "tuning_thinning": 1000}
QUICK_TUNING = {"tuning_burn_in": 1000, "tuning_draws": 5, "tuning_thinning": 100}
EPOCHS = {
    "ensemble": 200,
    "la-ggn": 300,
    "la-marglik": 300,
    "fg+la": 150,
    "gpi-g+la": 150,
    "early-stopping": 150,
    "map-fg": 150,
    "map-gpi-g": 150,
}

ACCURACY = Against(
    "accuracy",
    "cifar10_accuracy",
    "test accuracy (%)",
    decimals=2,
    scale=100.0,
    higher_is_better=True,
    runs=4,
)
NLL = Against("nll", "cifar10_nll", "test NLL", decimals=4, unit="nats", runs=4)
COLUMNS = ("accuracy", "nll", "ece", "training_rows", "rhat_max", "ess_min", "sample_seconds")


def image_jobs(choice: Choice) -> list[Settings]:
    """Network by training set size, run and method."""
    return [
        image_settings(dataset, network, method, split, choice, rows)
        for dataset in choice.datasets
        for network in choice.networks
        for rows in choice.sizes or (None,)
        for split in range(choice.splits or 4)
        for method in choice.methods
    ]


def image_settings(
    dataset: str, network: str, method: str, split: int, choice: Choice, rows: int | None = None
) -> Settings:
    """All that the result of one job depends on; `rows` is the number of training images."""
    quick = choice.preset == "quick"
    lengths, tuning = (QUICK_LENGTHS, QUICK_TUNING) if quick else (LENGTHS, TUNING)
    settings: Settings = {
        "dataset": dataset,
        "network": network,
        "method": method,
        "split": split,
        "seed": 0,
        "rows": rows or (QUICK_ROWS if quick else ROWS)[dataset],
        "batch_size": 128,
    }
    if method in SAMPLED:
        settings |= {"chains": 1, **START, **lengths[dataset]}
    if method == "fg+ts":
        settings |= tuning
    if method in EPOCHS:
        settings["epochs"] = EPOCHS[method] // (10 if quick else 1)
    if method in ("la-ggn", "la-marglik"):
        settings["evidence_steps"] = 10  # after each epoch
    if method == "ensemble":
        settings |= {"falling_rate": True, "weight_decay": 1e-4 if quick else None}
    if method in MATCHED:
        settings |= image_matching(choice)
    return {name: value for name, value in settings.items() if value is not None}


def image_matching(choice: Choice) -> Settings:
    """32 training images in each step, and for the paper's distance 128 draws at a rate of 0.01."""
    rate = {"match_draws": 128, "match_rate": 0.01}
    own = rate if choice.distance == "wasserstein" else {"match_draws": 64}
    return {**matched_by(choice.distance), **pixels(choice), "match_points": 32, **own}


def pixels(choice: Choice) -> Settings:
    """The units of the belief's lengthscale; standardised pixels need no word."""
    return {} if choice.pixels == "standardised" else {"pixels": choice.pixels}


def image_cost(settings: Settings) -> float:
    """Roughly proportional to the time of a job, in steps of LeNet5."""
    steps = settings.get("burn_in", 0) + settings.get("draws", 0) * settings.get("thinning", 0)
    tuning = settings.get("tuning_draws", 0) * settings.get("tuning_thinning", 0)
    steps += 5 * (tuning + settings.get("tuning_burn_in", 0))
    members = {"ensemble": 5 if "weight_decay" in settings else 37}.get(settings["method"], 1)
    steps += members * settings.get("epochs", 0) * settings.get("rows", 0) / 128
    if settings.get("distance"):
        steps += settings.get("match_steps", 200) * settings.get("match_draws", 64) / 4
    return COST[settings["network"]] * (100 + steps)
