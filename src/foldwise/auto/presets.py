"""How much work is put into a stack."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """What a preset decides.

    Attributes
    ----------
    tier : int
        Members up to this tier of the portfolio are tried: 1 to 3.
    folds : int
        Number of folds.
    folds_in_time : tuple of int
        Numbers of folds that may be used with a time budget, the most wanted first.
    n_repeats : int
        Number of deals of the folds.
    thorough : bool
        Whether stackers compete, and probabilities are calibrated where that helps.
    size : float
        Number of trees and of net training rounds, relative to the members' own settings.
    """

    tier: int
    folds: int
    folds_in_time: tuple[int, ...]
    n_repeats: int = 1
    thorough: bool = True
    size: float = 1.0


PRESETS = {
    "fast": Preset(tier=1, folds=5, folds_in_time=(5, 3), thorough=False, size=0.25),
    "balanced": Preset(tier=2, folds=5, folds_in_time=(8, 5, 3)),
    "best": Preset(tier=3, folds=8, folds_in_time=(8, 5, 3), n_repeats=2),
}
