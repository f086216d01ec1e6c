"""Training: the networks of many nodes as one tensor, each with its own rows, draws and best epoch.

All that is random is drawn by NumPy from the seed of the node: weights to start from, the order of
the rows in each epoch, which units are left out. So a node draws the same alone and among others,
on a processor and on a graphics card.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldwise.arrays import Array, FloatArray
from foldwise.nets.device import working_on
from foldwise.nets.fused import fused_layer
from foldwise.nets.network import (
    Bent,
    Drop,
    Shape,
    Weights,
    bent_by,
    first_weights,
    numpy_silu,
    respond,
)

BETAS = (0.9, 0.95)
# Learning rates relative to that of the matrices; what is not named has 1 and decays.
FACTORS = {"scale": 6.0, "frequency": 0.1, "phase": 0.1, "bias": 0.1, "bend": 0.1}
LEVELS = 256  # of a random byte
STARTS = 2**18
# Numbers of a hidden layer, of one node, that are answered together: what a cache or a card holds.
AT_ONCE = {"cpu": 2**19, "cuda": 2**23}


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
    steps = _Steps(torch, nodes, data, weights, recipe, device)
    best = _Best(torch, weights, len(nodes), recipe, device)
    for epoch in range(recipe.epochs):
        steps.do_epoch(data.orders(draws))
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


def _shares(recipe: Recipe) -> FloatArray:
    """Return what rates are relative to the first, step by step: level, then half a cosine to 0."""
    n_steps = recipe.epochs * recipe.steps
    done = np.arange(n_steps) / n_steps
    return np.where(done < 0.5, 1.0, 0.5 * (1 + np.cos(np.pi * (2 * done - 1))))


class _Steps:
    """The steps of training; all that changes from step to step is read from the device.

    So that a graphics card can be told once what a step is, and then only to do it again: to ask it
    for every small part of a step takes many times as long as these parts do.
    """

    def __init__(
        self,
        torch: Any,
        nodes: Sequence[NodeRows],
        data: "_Data",
        weights: Weights,
        recipe: Recipe,
        device: str,
    ) -> None:
        self.torch, self.data, self.weights, self.recipe = torch, data, weights, recipe
        shares = _shares(recipe)
        self.dropped = _Dropout(torch, nodes, recipe, shares, data.batch_rows, device)
        self.number = torch.zeros(1, dtype=torch.int64, device=device)
        self.orders: Any = None
        self.groups = self._groups(shares, device)
        self.captures = device.startswith("cuda")
        self.bent = self.dropped.bent(fused_layer(torch) if self.captures else None)
        self.graph: Any = None
        # One pass over all weights of a group: there are many small ones.
        self.optimiser = torch.optim.AdamW(
            [{"params": group.weights, "lr": group.rate} for group in self.groups],
            betas=BETAS,
            weight_decay=0.0,
            fused=True,
            capturable=self.captures,
        )

    def _groups(self, shares: FloatArray, device: str) -> "list[_Group]":
        """Return the weights of each rate; biases do not decay."""
        named: dict[tuple[float, bool], list[Any]] = {}
        for name, values in self.weights.items():
            kind = next((k for k in FACTORS if k in name), "")
            named.setdefault((FACTORS.get(kind, 1.0), kind in ("", "frequency")), []).append(values)
        kind = self.torch.float64 if device == "cpu" else self.torch.float32
        groups = []
        for (factor, decays), values in named.items():
            rates = self.recipe.learning_rate * factor * shares
            left = 1.0 - rates * self.recipe.weight_decay * decays * shares
            rates, left = (
                self.torch.as_tensor(each, dtype=kind).to(device) for each in (rates, left)
            )
            groups.append(_Group(values, rates, left, rates[0].clone()))
        return groups

    def do_epoch(self, orders: Any) -> None:
        """Go once over the rows, in each node's own order."""
        if self.orders is None:
            self.orders = orders
        self.orders.copy_(orders)
        if self.captures and self.graph is None:
            self._capture()
        for _ in range(self.recipe.steps):
            if self.graph is None:
                self._do()
            else:
                self.graph.replay()

    def _do(self) -> None:
        """Do one step."""
        torch, recipe, number = self.torch, self.recipe, self.number
        order = self.orders.index_select(1, number % recipe.steps)[:, 0]
        x, y, weight = self.data.batch(order)
        self.dropped.number = number
        answer = respond(torch, self.bent, recipe.shape, self.weights, x)
        loss = _losses(torch, answer, y[:, None], recipe.classify).mean(1)
        self.optimiser.zero_grad()
        (loss * weight).sum().backward()
        with torch.no_grad():
            for group in self.groups:
                group.rate.copy_(group.rates.index_select(0, number)[0])
                left = group.left.index_select(0, number)[0].to(group.weights[0].dtype)
                # The decay of AdamW, which has only one rate for all steps that are told at once.
                torch._foreach_mul_(group.weights, left)
        self.optimiser.step()
        number += 1

    def _capture(self) -> None:
        """Tell the card what a step is, after some that load what it needs and are taken back."""
        torch = self.torch
        before = {name: values.detach().clone() for name, values in self.weights.items()}
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._do()
                # There may be fewer steps than these.
                self.number.zero_()
        torch.cuda.current_stream().wait_stream(stream)
        self.optimiser.zero_grad()
        graph = torch.cuda.CUDAGraph()
        # Other threads may use the card meanwhile.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._do()
        with torch.no_grad():
            for name, values in self.weights.items():
                values.copy_(before[name])
            for state in self.optimiser.state.values():
                for value in state.values():
                    value.zero_()
            self.number.zero_()
        self.graph = graph


@dataclass(frozen=True)
class _Group:
    """Weights of one rate, and for each step that rate and what decay leaves of them."""

    weights: list[Any]
    rates: Any
    left: Any
    rate: Any  # of this step


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
        step = _rows_at_once(shape, self.device)
        bent = bent_by(torch.nn.functional.silu)
        with torch.no_grad():
            for start in range(0, self.stopping[0].shape[1], step):
                x, y, weight = (values[:, start : start + step] for values in self.stopping)
                answer = respond(torch, bent, shape, weights, x)
                if self.recipe.classify:
                    mean = torch.softmax(answer, -1).mean(1).clamp_min(1e-7)
                    loss = -(mean.log() * y).sum(-1)
                else:
                    loss = ((answer.mean(1) - y) ** 2).mean(-1)
                total = total + (loss * weight).sum(1)
        return total


def _rows_at_once(shape: Shape, device: str) -> int:
    """Return how many rows are answered together."""
    numbers = AT_ONCE["cuda" if device.startswith("cuda") else "cpu"]
    return max(numbers // (shape.n_members * shape.width), 1)


class _Dropout:
    """Which units are left out: slices of one long draw of each node, each time from elsewhere.

    To draw every mask anew would cost more than the step, and no generator draws for many nodes
    from the seed of each. Rows come first in a slice: a node's own rows find the same units left
    out whatever the largest batch is.
    """

    def __init__(
        self,
        torch: Any,
        nodes: Sequence[NodeRows],
        recipe: Recipe,
        shares: FloatArray,
        rows: int,
        device: str,
    ) -> None:
        shape, dtype = recipe.shape, getattr(torch, recipe.dtype)
        self.torch, self.dropout = torch, recipe.dropout
        size = rows * shape.n_members * shape.width
        self.number: Any = None  # of the step
        draws = [np.random.default_rng([node.seed, 1]) for node in nodes]
        each = [rng.bytes(STARTS + size) if recipe.dropout else b"\0" for rng in draws]
        drawn = np.stack([np.frombuffer(one, np.uint8) for one in each])
        starts = np.random.default_rng(0).integers(STARTS, size=(len(shares), shape.n_layers))
        least = np.minimum(np.rint(LEVELS * recipe.dropout * shares), LEVELS - 1)
        places = torch.arange(size, device=device).view(rows, shape.n_members, shape.width)
        # In a hidden layer members come first.
        self.places = places.transpose(0, 1).reshape(-1)
        self.drawn = torch.as_tensor(drawn).to(device)
        self.starts = torch.as_tensor(starts).to(device)
        self.least = torch.as_tensor(least).to(torch.uint8).to(device)
        self.larger = torch.as_tensor(LEVELS / (LEVELS - least), dtype=dtype).to(device)

    def bent(self, fused: Any) -> Bent:
        """Return what makes a hidden layer with some units left out, the others larger for it."""
        if fused is not None:
            # To read numbers of another type takes the kernel longer than to read more of its own.
            kind = self.larger.dtype
            self.drawn, self.least = self.drawn.to(kind), self.least.to(kind)
            return lambda *line: fused(*line[:-1], *self._chances(line[0], line[-1]))
        silu = self.torch.nn.functional.silu
        return bent_by(silu, self.drop if self.dropout else None)

    def drop(self, hidden: Any, layer: int) -> Any:
        """Return a hidden layer with some units left out, the others larger for it."""
        drawn, least, larger = self._chances(hidden, layer)
        return hidden * ((drawn >= least).to(hidden.dtype) * larger)

    def _chances(self, hidden: Any, layer: int) -> tuple[Any, Any, Any]:
        """Return a byte drawn for each unit, the least that stays, and how much larger it is."""
        start, least, larger = (
            # Not by a plain index, which would be asked for on the processor.
            values.index_select(0, self.number)
            for values in (self.starts, self.least, self.larger)
        )
        if not self.dropout:
            return self.drawn[:, :, None], least, larger
        drawn = self.drawn.index_select(1, self.places + start[:, layer])
        return drawn.view(hidden.shape), least, larger


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
    step = _rows_at_once(shape, device)
    double = {name: np.asarray(values, np.float64)[None] for name, values in weights.items()}
    parts = [x[None, start : start + step] for start in range(0, len(x), step)]
    if torch is None:
        bent = bent_by(numpy_silu, drop)
        said = [respond(np, bent, shape, double, part)[0] for part in parts]
        return np.concatenate(said, axis=1)
    bent = bent_by(torch.nn.functional.silu, drop)
    there = {name: torch.as_tensor(values).to(device) for name, values in double.items()}
    said = []
    with torch.no_grad(), working_on(torch, device):
        for part in parts:
            on = torch.as_tensor(np.ascontiguousarray(part)).to(device)
            said.append(respond(torch, bent, shape, there, on)[0].cpu().numpy())
    return np.concatenate(said, axis=1)
