"""The network as pure mathematics: its weights, and the answer they give.

Every array has a leading dimension of nodes. Nothing is shared along it: a batch of networks is
as many networks, only multiplied together. The same function is read by torch, which trains, and
by NumPy, which can predict where torch is not installed.

The network after Holzmüller et al. (RealMLP) and Gorishniy et al. (TabM-mini): cosines of every
number with learned frequencies, one scale of the inputs for each implicit member, a trunk that the
members share, activations that can fade into straight lines, and a head for each member.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray

WAVES_OUT = 3
# Members keep out of step with each other through random signs, as in TabM.
FIRST_FREQUENCY = 0.2

Weights = dict[str, Any]  # arrays or tensors (n_nodes, ...)
Drop = Callable[[Any, int], Any]  # a hidden layer and its number -> the layer with units left out
# what a matrix gives, bias and bend (n_nodes, 1, width), the layer's number -> the hidden layer
Bent = Callable[[Any, Any, Any, int], Any]


@dataclass(frozen=True)
class Shape:
    """The sizes of a network; networks of one shape can be trained as one tensor."""

    n_waved: int  # columns, the first ones, that get cosines
    n_straight: int  # the other columns
    n_outputs: int
    n_members: int
    width: int
    n_layers: int
    n_frequencies: int
    residual: bool = False

    @property
    def n_inputs(self) -> int:
        """Numbers that the trunk reads."""
        waves = self.n_waved * WAVES_OUT if self.n_frequencies else 0
        return self.n_waved + self.n_straight + waves


def first_weights(shape: Shape, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Return the weights that training starts from, of one node, without the leading dimension."""
    s, k = shape, shape.n_members
    weights: dict[str, FloatArray] = {}
    if s.n_waved and s.n_frequencies:
        size = (s.n_waved, s.n_frequencies)
        weights["frequency"] = 2 * np.pi * FIRST_FREQUENCY * rng.standard_normal(size)
        weights["phase"] = rng.uniform(-np.pi, np.pi, size)
        mixed = rng.standard_normal((*size, WAVES_OUT))
        weights["wave_mix"] = mixed / np.sqrt(s.n_frequencies)
        weights["wave_bias"] = np.zeros((s.n_waved, WAVES_OUT))
    signs = rng.choice([-1.0, 1.0], (k, s.n_inputs))
    weights["scale"] = signs if k > 1 else np.ones((1, s.n_inputs))
    sizes = [s.n_inputs] + [s.width] * s.n_layers
    for layer in range(s.n_layers):
        before, after = sizes[layer], sizes[layer + 1]
        weights[f"matrix_{layer}"] = rng.standard_normal((before, after)) / np.sqrt(before)
        weights[f"bias_{layer}"] = np.zeros(after)
        weights[f"bend_{layer}"] = np.ones(after)
    last = rng.standard_normal((k, sizes[-1], s.n_outputs))
    weights["head"] = last / np.sqrt(sizes[-1])
    weights["head_bias"] = np.zeros((k, s.n_outputs))
    return weights


def bent_by(silu: Callable[[Any], Any], drop: Drop | None = None) -> Bent:
    """Return what makes a hidden layer: an activation that can fade into straight lines."""

    def bent(product: Any, bias: Any, bend: Any, layer: int) -> Any:
        line = product + bias
        hidden = line + bend * (silu(line) - line)
        return hidden if drop is None else drop(hidden, layer)

    return bent


def respond(xp: Any, bent: Bent, shape: Shape, weights: Weights, x: Any) -> Any:
    """Return what every member says.

    Shapes: x (n_nodes, n_rows, n_columns); returns (n_nodes, n_members, n_rows, n_outputs).
    ``xp`` is numpy or torch.
    """
    n_nodes, n_rows = x.shape[:2]
    if "frequency" in weights:
        waved = x[:, :, : shape.n_waved, None]
        waves = xp.cos(waved * weights["frequency"][:, None] + weights["phase"][:, None])
        mixed = xp.einsum("nrcf,ncfo->nrco", waves, weights["wave_mix"])
        mixed = mixed + weights["wave_bias"][:, None]
        x = xp.concatenate([x, mixed.reshape(n_nodes, n_rows, -1)], -1)
    # Members lie along the rows: the trunk does not know them apart.
    hidden = x[:, None] * weights["scale"][:, :, None]
    hidden = hidden.reshape(n_nodes, shape.n_members * n_rows, -1)
    for layer in range(shape.n_layers):
        bias, bend = (weights[f"{name}_{layer}"][:, None] for name in ("bias", "bend"))
        next_one = bent(hidden @ weights[f"matrix_{layer}"], bias, bend, layer)
        hidden = hidden + next_one if shape.residual and layer else next_one
    hidden = hidden.reshape(n_nodes, shape.n_members, n_rows, -1)
    return hidden @ weights["head"] + weights["head_bias"][:, :, None]


def numpy_silu(x: Array) -> Array:
    """Return x times its logistic function."""
    return x * (0.5 + 0.5 * np.tanh(0.5 * x))
