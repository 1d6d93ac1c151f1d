"""What is to be explained, and how: what every method is given."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from goodprior.beliefs import (
    Belief,
    MeasurementSet,
    Monotone,
    Rows,
    Stacked,
    SumOfTerms,
    as_terms,
    rows_and_box,
)
from goodprior.data.rounding import rounding_variances
from goodprior.data.scaling import Scaling
from goodprior.inference import Likelihood
from goodprior.matching import Distance, MatchSchedule
from goodprior.pipeline.network import NetworkSpec
from goodprior.pipeline.observation import ObservationModel
from goodprior.priors import Prior, is_matched
from goodprior.priors.hierarchical import Form

IMAGE_POINTS = 32  # images at which belief and prior are compared


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows on their original scale, the belief about them, and how a network explains them.

    Parameters
    ----------
    X, y
        Training rows, or images, and targets (None: only a prior is wanted).
    observation
        Likelihood and noise.
    belief
        About functions of standardised inputs.
    belief_is_default
        Nobody asked for this belief: a method may find a better one in the rows.
    network
        A `NetworkSpec`, or any equinox module.
    scaling
        Between original and standardised units (None: they are standardised already).
    prior
        One of the paper's names (`fg`, `fh`, `gpi-g`, `gpi-h`, `gpi-nf`) or a prior object.
    match_given
        Whether a prior that is given as an object is matched, too.
    hierarchical_form
        In which coordinates hierarchical priors are sampled; the paper's is `gibbs`.
    flow_on_readout
        Whether the flows of `gpi-nf` have the last layer, too, as the paper's; chains mix better
        without.
    distance, schedule
        How the prior is matched (schedule None: the distance's own).
    held_out
        Draws that measure prior and belief before and after the match (0: don't).
    points
        Where belief and prior are compared (None: rows and their box, or images).
    row_weights
        How often each row counts (None: once).

    Examples
    --------
    >>> from goodprior.beliefs import GaussianProcess, rbf
    >>> from goodprior.inference import Gaussian
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> model = ObservationModel(Gaussian(0.1), 1)
    >>> problem = Problem(X, X[:, 0], model, GaussianProcess(rbf()), prior="fg")
    >>> problem.prior, problem.distance
    ('fg', 'energy')
    """

    X: np.ndarray
    y: np.ndarray | None
    observation: ObservationModel
    belief: Belief
    network: Any = field(default_factory=NetworkSpec)
    scaling: Scaling | None = None
    belief_is_default: bool = False
    prior: str | Prior = "gpi-g"
    match_given: bool = False
    hierarchical_form: Form = "noncentred"
    flow_on_readout: bool = False
    distance: str | Distance = "energy"
    schedule: MatchSchedule | None = None
    held_out: int = 0
    points: MeasurementSet | None = None
    row_weights: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.X)

    @property
    def likelihood(self) -> Likelihood:
        """Of the targets given the network's outputs."""
        return self.observation.likelihood

    @property
    def function_belief(self) -> Belief:
        """About all outputs of the network, the log noise variances included."""
        noise = self.observation.noise_belief
        return self.belief if noise is None else Stacked((self.belief, noise))

    @property
    def matched_belief(self) -> Belief:
        """About the outputs that are matched: all, unless the noise has a prior of its own."""
        return self.belief if self.noise_apart else self.function_belief

    @property
    def noise_apart(self) -> bool:
        """Whether log noise variances have a prior of their own, in closed form."""
        matched = isinstance(self.prior, str) and is_matched(self.prior)
        return (
            matched
            and isinstance(self.network, NetworkSpec)
            and self.X.ndim == 2
            and (self.observation.noise_belief is not None)
        )

    @property
    def closed_form(self) -> SumOfTerms | Monotone | None:
        """The belief in closed form, where the network may be chosen for it and none is matched.

        A distance or a schedule that is asked for says that the prior is to be matched by it. A
        belief that nobody stated is left to an MLP, whose chains mix better so far.
        """
        spec = self.network
        asked = self.distance != "energy" or self.schedule is not None or self.belief_is_default
        automatic = isinstance(spec, NetworkSpec) and spec.is_automatic and self.X.ndim == 2
        if asked or not automatic or isinstance(self.prior, Prior) or not is_matched(self.prior):
            return None
        if isinstance(self.belief, Monotone):
            return self.belief
        return as_terms(self.belief, self.X.shape[1])

    def with_rounding(self) -> "Problem":
        """With learned noise that stays above what rounding of the targets leaves out."""
        if self.y is None or self.scaling is None:
            return self
        left_out = rounding_variances(self.y.reshape(self.rows, -1)) / self.scaling.y_std**2
        return replace(self, observation=self.observation.with_rounding(left_out))

    def build_network(self, *, noise: bool = True) -> Any:
        """The given network, or the one that the spec describes, with or without noise outputs."""
        if isinstance(self.network, NetworkSpec):
            extra = self.observation.noise_outputs if noise else 0
            return self.network.build(self.X.shape[1:], self.observation.functions, extra)
        return self.network

    def measurement_set(self) -> MeasurementSet:
        """The given one, or the paper's: rows and their box, or some of the images."""
        if self.points is not None:
            return self.points
        x = self.X if self.scaling is None else self.scaling.inputs(self.X)
        return Rows(x, IMAGE_POINTS) if x.ndim == 4 else rows_and_box(x)
