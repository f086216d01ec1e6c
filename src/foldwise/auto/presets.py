"""How much work is put into a stack."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """What a preset decides."""

    tier: int  # members up to this tier of the portfolio are tried: 1 to 3
    folds: int  # number of folds
    # numbers of folds that may be used with a time budget, the most wanted first
    folds_in_time: tuple[int, ...]
    n_repeats: int = 1  # number of deals of the folds
    # whether stackers compete, and probabilities are calibrated where that helps
    thorough: bool = True
    # number of trees and of net training rounds, relative to the members' own settings
    size: float = 1.0


PRESETS = {
    "fast": Preset(tier=1, folds=5, folds_in_time=(5, 4), thorough=False, size=0.25),
    "balanced": Preset(tier=2, folds=5, folds_in_time=(8, 5, 4)),
    "best": Preset(tier=3, folds=8, folds_in_time=(8, 5, 4), n_repeats=2),
}
