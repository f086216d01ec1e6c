"""How much work is put into a stack."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """What a preset decides.

    Attributes
    ----------
    tier : int
        Members up to this tier of the portfolio are tried: 1 to 3.
    folds : tuple of int
        Numbers of folds that may be used, the most wanted first; fewer for a time budget.
    n_repeats : int
        Number of deals of the folds.
    thorough : bool
        Whether stackers compete, and probabilities are calibrated where that helps.
    size : float
        Number of trees and of net training rounds, relative to the members' own settings.
    """

    tier: int
    folds: tuple[int, ...]
    n_repeats: int = 1
    thorough: bool = True
    size: float = 1.0


PRESETS = {
    "fast": Preset(tier=1, folds=(5, 3), thorough=False, size=0.5),
    "balanced": Preset(tier=2, folds=(5, 3)),
    "best": Preset(tier=3, folds=(8, 5, 3), n_repeats=2),
}
