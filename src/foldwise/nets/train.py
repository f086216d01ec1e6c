"""Training: the networks of many nodes as one tensor, each with its own rows, draws and best epoch.

All that is random is drawn by NumPy from the seed of the node: weights to start from, the order of
the rows in each epoch, which units are left out. So a node draws the same alone and among others,
on a processor and on a graphics card.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.errors import MissingPackageError
from foldwise.nets.network import Drop, Shape, Weights, first_weights, numpy_silu, respond

BETAS = (0.9, 0.95)
# Learning rates relative to that of the matrices; what is not named has 1 and decays.
FACTORS = {"scale": 6.0, "frequency": 0.1, "phase": 0.1, "bias": 0.1, "bend": 0.1}
LEVELS = 256  # of a random byte
STARTS = 2**18
ROWS_AT_ONCE = 2**19  # numbers of a hidden layer, of one node, that are answered together


@dataclass(frozen=True)
class Recipe:
    """How networks are trained, the same for all nodes of one tensor."""

    shape: Shape
    classify: bool
    steps: int  # in an epoch: nodes of fewer rows have smaller batches
    epochs: int
    patience: int | None
    learning_rate: float
    weight_decay: float
    dropout: float
    dtype: str = "float32"


@dataclass(frozen=True)
class NodeRows:
    """One node: rows to learn from, rows to stop on, and its seed.

    Shapes: x (n, n_columns), y (n, n_outputs) of standardised targets or indicators of classes,
    weight (n,).
    """

    x: FloatArray
    y: FloatArray
    weight: FloatArray
    x_stop: FloatArray
    y_stop: FloatArray
    weight_stop: FloatArray
    seed: int


@dataclass(frozen=True)
class Trained:
    """The weights of a node's best epoch, and its losses on the rows to stop on."""

    weights: dict[str, Array]
    best_epoch: int
    losses: FloatArray


def imported_torch(owner: str) -> Any:
    """Return torch, or say how to get it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise MissingPackageError(
            f"{owner}: torch must be installed; got no package of that name. "
            "Run pip install 'foldwise[neural]'."
        ) from error


def device_named(torch: Any, name: str) -> str:
    """Return the device a word stands for."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name


@contextlib.contextmanager
def one_thread(torch: Any, device: str) -> Iterator[None]:
    """Let the processor work in one thread: sums that several share end in other bits."""
    before = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train(
    torch: Any,
    nodes: Sequence[NodeRows],
    recipe: Recipe,
    device: str,
    tell: Callable[[int], Any] = bool,
) -> list[Trained]:
    """Return the networks of all nodes, trained together."""
    draws = [np.random.default_rng(node.seed) for node in nodes]
    data = _Data(torch, nodes, recipe, device)
    weights = data.stacked([first_weights(recipe.shape, rng) for rng in draws])
    dropped = _Dropout(torch, nodes, recipe, data.batch_rows, device)
    optimiser = _optimiser(torch, weights, recipe)
    best = _Best(torch, weights, len(nodes), recipe, device)
    silu = torch.nn.functional.silu
    for epoch in range(recipe.epochs):
        orders = data.orders(draws)
        for step in range(recipe.steps):
            _schedule(optimiser, dropped, recipe, (epoch + step / recipe.steps) / recipe.epochs)
            x, y, weight = data.batch(orders[:, step])
            answer = respond(torch, silu, recipe.shape, weights, x, dropped.drop)
            loss = _losses(torch, answer, y[:, None], recipe.classify).mean(1)
            (loss * weight).sum().backward()
            optimiser.step()
            optimiser.zero_grad()
        goes_on = best.look(epoch, weights, data.stopping_losses(weights))
        tell(epoch + 1)
        if not goes_on:
            break
    return best.trained()


def _losses(torch: Any, answer: Any, y: Any, classify: bool) -> Any:
    """Return the loss of each answer: squared, the mean over targets, or that of the class."""
    if not classify:
        return ((answer - y) ** 2).mean(-1)
    return -(torch.log_softmax(answer, -1) * y).sum(-1)


def _schedule(optimiser: Any, dropped: "_Dropout", recipe: Recipe, done: float) -> None:
    """Set rates by the share of steps done: level for half of them, then half a cosine to zero."""
    share = 1.0 if done < 0.5 else 0.5 * (1 + np.cos(np.pi * (2 * done - 1)))
    for group in optimiser.param_groups:
        group["lr"] = recipe.learning_rate * group["factor"] * share
        group["weight_decay"] = recipe.weight_decay * group["decays"] * share
    dropped.share = recipe.dropout * share


def _optimiser(torch: Any, weights: Weights, recipe: Recipe) -> Any:
    """Return AdamW, with a rate for each kind of weight; biases do not decay."""
    groups: dict[tuple[float, bool], list[Any]] = {}
    for name, values in weights.items():
        kind = next((k for k in FACTORS if k in name), "")
        decays = kind in ("", "frequency")
        groups.setdefault((FACTORS.get(kind, 1.0), decays), []).append(values)
    listed = [{"params": v, "factor": f, "decays": d} for (f, d), v in groups.items()]
    # One pass over all weights of a group: there are many small ones.
    return torch.optim.AdamW(listed, lr=recipe.learning_rate, betas=BETAS, fused=True)


class _Data:
    """The rows of all nodes on the device, padded to the longest with rows of no weight."""

    def __init__(self, torch: Any, nodes: Sequence[NodeRows], recipe: Recipe, device: str) -> None:
        self.torch, self.device, self.recipe = torch, device, recipe
        self.lengths = [len(node.x) for node in nodes]
        batches = [length // recipe.steps for length in self.lengths]
        self.batches, self.batch_rows = batches, max(batches)
        share = np.array([[(row < b) / b for row in range(self.batch_rows)] for b in batches])
        self.share = self._tensor(share)
        # In the mean of a batch, weights count relative to those of the node.
        self.rows = [
            self._padded([node.x for node in nodes]),
            self._padded([node.y for node in nodes]),
            self._padded([node.weight / node.weight.mean() for node in nodes]),
        ]
        self.stopping = [
            self._padded([node.x_stop for node in nodes]),
            self._padded([node.y_stop for node in nodes]),
            self._padded([node.weight_stop / node.weight_stop.sum() for node in nodes]),
        ]
        self.number = torch.arange(len(nodes), device=device)[:, None]

    def _tensor(self, array: Array) -> Any:
        return self.torch.as_tensor(array, dtype=getattr(self.torch, self.recipe.dtype)).to(
            self.device
        )

    def _padded(self, arrays: Sequence[FloatArray]) -> Any:
        longest = max(map(len, arrays))
        padded = np.zeros((len(arrays), longest, *arrays[0].shape[1:]), self.recipe.dtype)
        for place, array in zip(padded, arrays, strict=True):
            place[: len(array)] = array
        return self._tensor(padded)

    def stacked(self, each: Sequence[Weights]) -> Weights:
        """Return the weights of all nodes as leaves to be trained."""
        return {
            name: self._tensor(np.stack([weights[name] for weights in each])).requires_grad_()
            for name in each[0]
        }

    def orders(self, draws: Sequence[np.random.Generator]) -> Any:
        """Return each node's own order of its rows for one epoch: (n_nodes, n_steps, n_rows)."""
        steps = self.recipe.steps
        orders = np.zeros((len(draws), steps, self.batch_rows), dtype=np.int64)
        for place, rng, length, rows in zip(orders, draws, self.lengths, self.batches, strict=True):
            # The few rows that fill no batch wait for another epoch.
            place[:, :rows] = rng.permutation(length)[: steps * rows].reshape(steps, rows)
        return self.torch.as_tensor(orders).to(self.device)

    def batch(self, order: Any) -> tuple[Any, Any, Any]:
        """Return rows, targets and weights of a batch of each node; rows beyond it have none."""
        x, y, weight = (values[self.number, order] for values in self.rows)
        return x, y, weight * self.share

    def stopping_losses(self, weights: Weights) -> Any:
        """Return each node's loss on the rows to stop on: that of its members' mean."""
        torch, shape = self.torch, self.recipe.shape
        total = 0.0
        step = max(ROWS_AT_ONCE // (shape.n_members * shape.width), 1)
        silu = torch.nn.functional.silu
        with torch.no_grad():
            for start in range(0, self.stopping[0].shape[1], step):
                x, y, weight = (values[:, start : start + step] for values in self.stopping)
                answer = respond(torch, silu, shape, weights, x, None)
                if self.recipe.classify:
                    mean = torch.softmax(answer, -1).mean(1).clamp_min(1e-7)
                    loss = -(mean.log() * y).sum(-1)
                else:
                    loss = ((answer.mean(1) - y) ** 2).mean(-1)
                total = total + (loss * weight).sum(1)
        return total


class _Dropout:
    """Which units are left out: slices of one long draw of each node, each time from elsewhere.

    To draw every mask anew would cost more than the step, and no generator draws for many nodes
    from the seed of each. Rows come first in a slice: a node's own rows find the same units left
    out whatever the largest batch is.
    """

    def __init__(
        self, torch: Any, nodes: Sequence[NodeRows], recipe: Recipe, rows: int, device: str
    ) -> None:
        shape = recipe.shape
        self.share, self.dtype = recipe.dropout, getattr(torch, recipe.dtype)
        self.form = (len(nodes), rows, shape.n_members, shape.width)
        self.size = rows * shape.n_members * shape.width
        self.drawn: Any = None
        if recipe.dropout > 0:
            draws = [np.random.default_rng([node.seed, 1]) for node in nodes]
            drawn = [np.frombuffer(rng.bytes(STARTS + self.size), np.uint8) for rng in draws]
            self.drawn = torch.as_tensor(np.stack(drawn)).to(device)
            self.starts = np.random.default_rng(0)

    def drop(self, hidden: Any, _layer: int) -> Any:
        """Return a hidden layer with some units left out, the others larger for it."""
        least = round(LEVELS * self.share)
        if self.drawn is None or not least:
            return hidden
        start = int(self.starts.integers(STARTS))
        kept = self.drawn[:, start : start + self.size].view(self.form) >= least
        mask = (kept.to(self.dtype) * (LEVELS / (LEVELS - least))).transpose(1, 2)
        return hidden * mask.reshape(hidden.shape)


class _Best:
    """The best epoch of each node so far."""

    def __init__(
        self, torch: Any, weights: Weights, n_nodes: int, recipe: Recipe, device: str
    ) -> None:
        self.torch = torch
        self.patience = recipe.epochs if recipe.patience is None else recipe.patience
        self.weights = {name: values.detach().clone() for name, values in weights.items()}
        self.loss = torch.full((n_nodes,), torch.inf, device=device)
        self.epoch = torch.zeros(n_nodes, dtype=torch.int64, device=device)
        self.stopped = torch.zeros(n_nodes, dtype=torch.bool, device=device)
        self.losses: list[Any] = []

    def look(self, epoch: int, weights: Weights, loss: Any) -> bool:
        """Keep the weights of the nodes that have not been better; tell whether any goes on."""
        torch = self.torch
        self.losses.append(loss)
        better = (loss < self.loss) & ~self.stopped
        self.loss = torch.where(better, loss, self.loss)
        self.epoch = torch.where(better, epoch, self.epoch)
        with torch.no_grad():
            for name, values in weights.items():
                chosen = better.view(-1, *[1] * (values.ndim - 1))
                self.weights[name] = torch.where(chosen, values, self.weights[name])
        # A node that has stopped is trained on, as part of the tensor, and never looked at again.
        self.stopped = self.stopped | (epoch - self.epoch >= self.patience)
        return not bool(self.stopped.all())

    def trained(self) -> list[Trained]:
        """Return the best of every node."""
        weights = {name: values.cpu().numpy() for name, values in self.weights.items()}
        losses = self.torch.stack(self.losses).double().cpu().numpy().T
        return [
            Trained(
                {name: values[node] for name, values in weights.items()},
                int(best) + 1,
                losses[node, : int(best) + self.patience + 1],
            )
            for node, best in enumerate(self.epoch.cpu().numpy())
        ]


def answers(
    torch: Any, device: str, shape: Shape, weights: Weights, x: FloatArray, drop: Drop | None = None
) -> FloatArray:
    """Return what the members of one trained network say, in double precision.

    Single precision would give a row another answer alone than among others. Without torch
    (None), by NumPy. Shapes: returns (n_members, n_rows, n_outputs).
    """
    step = max(ROWS_AT_ONCE // (shape.n_members * shape.width), 1)
    double = {name: np.asarray(values, np.float64)[None] for name, values in weights.items()}
    parts = [x[None, start : start + step] for start in range(0, len(x), step)]
    if torch is None:
        said = [respond(np, numpy_silu, shape, double, part, drop)[0] for part in parts]
        return np.concatenate(said, axis=1)
    there = {name: torch.as_tensor(values).to(device) for name, values in double.items()}
    said = []
    with torch.no_grad(), one_thread(torch, device):
        for part in parts:
            on = torch.as_tensor(np.ascontiguousarray(part)).to(device)
            answer = respond(torch, torch.nn.functional.silu, shape, there, on, drop)
            said.append(answer[0].cpu().numpy())
    return np.concatenate(said, axis=1)
