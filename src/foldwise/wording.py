"""Words and numbers as a reader wants them: names cut to length, numbers rounded by their error."""

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

# Joiners make one letter or emoji of several; everything else that is invisible goes.
JOINERS = "\u200c\u200d"
LONGEST_NAME = 60
NOTHING = "–"
# A difference that chance alone makes more often than this is not called one.
CHANCE = 0.05
# The rows of a leaderboard that are no learner.
MADE = ("stack", "best single", "plain mean")
UNITS = ((9, "G"), (6, "M"))
LARGE = 1e7
METRICS = {
    "brier_score": "Brier score",
    "f1": "F1",
    "log_loss": "log-loss",
    "max_error": "largest error",
    "r2": "R²",
    "roc_auc": "ROC AUC",
    "root_mean_squared_error": "RMSE",
    "root_mean_squared_log_error": "RMSLE",
}


def clean(text: str) -> str:
    """Return text without characters that are invisible, turn the reading direction or break it."""
    return "".join(
        " " if letter.isspace() else letter
        for letter in text
        if letter.isspace()
        or letter in JOINERS
        or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )


def shortened(text: Any, longest: int = LONGEST_NAME) -> str:
    """Return a name cleaned and cut in its middle, where names differ least."""
    whole = clean(str(text)).strip() or "(no name)"
    if len(whole) <= longest:
        return whole
    kept = longest - 1
    return whole[: kept - kept // 2] + "…" + whole[len(whole) - kept // 2 :]


def decimals_for(size: float, digits: int = 2) -> int | None:
    """Return the decimals that show two digits of a standard error, or more; None for nothing."""
    if not math.isfinite(size) or size <= 0:
        return None
    return digits - 1 - math.floor(math.log10(size))


def number(value: Any, decimals: int | None = None) -> str:
    """Return a number to read; a dash where there is none.

    ``decimals``: How many decimals, fewer than none to round to tens or more; None for three
    significant digits, whole numbers in full.
    """
    if value is None or not math.isfinite(value):
        return NOTHING if value is None or math.isnan(value) else ("∞" if value > 0 else "−∞")
    value = float(value) + 0.0
    if decimals is not None and abs(value) < 0.5 * 10.0**-decimals:
        return f"{0:.{max(decimals, 0)}f}"
    if value != 0 and not 1e-4 <= abs(value) < 1e12:
        return f"{value:.2g}".replace("-", "−", 1) if value < 0 else f"{value:.2g}"
    if decimals is None:
        digits = 2 - math.floor(math.log10(abs(value))) if value else 0
        digits = digits if abs(value) >= LARGE else max(0, digits)
        decimals = 0 if value.is_integer() else digits
    for power, unit in UNITS:
        if decimals <= 2 - power:
            return number(value / 10.0**power, decimals + power) + unit
    return f"{round(value, decimals):,.{max(decimals, 0)}f}".replace("-", "−")


def with_error(value: float, error: float) -> str:
    """Return a number and its standard error, both to two digits of the error."""
    decimals = decimals_for(error)
    if decimals is None or not math.isfinite(value):
        return number(value)
    return f"{number(value, decimals)} ± {number(error, decimals)}"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent."""
    if not math.isfinite(share):
        return NOTHING
    if share != 0 and abs(share) < 0.5 * 10 ** -(decimals + 2):
        return f"{100 * share:.1g} %".replace("-", "−")
    return f"{100 * share:.{decimals}f} %".replace("-", "−")


def duration(value: float) -> str:
    """Return a time in the unit a person would use."""
    if not math.isfinite(value):
        return NOTHING
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < 100:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 100:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def rough_duration(seconds: float) -> str:
    """Return about how long something takes."""
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("h", 3_600)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.{0 if seconds > 100 * length else 1}f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def memory(amount: float) -> str:
    """Return a number of bytes to read."""
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def enumerated(words: Sequence[str], most: int = 6) -> str:
    """Return words in a row as a sentence has them, the list cut."""
    shown = list(words[:most])
    if len(words) > most:
        return f"{', '.join(shown)} and {len(words) - most} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def metric_name(name: str) -> str:
    """Return a metric's name as people write it."""
    return METRICS.get(name, name.replace("_", " "))


def article(name: str) -> str:
    """Return a metric's name with its article."""
    return ("an " if name[0] in "aeioAEIFRM" else "a ") + name


def direction(sign: int) -> str:
    """Return which way is better."""
    return "higher is better" if sign > 0 else "lower is better"


def verdict(gain: float, error: float) -> str:
    """Return how sure it is that one model is better than another."""
    if gain == 0:
        return "exactly as good as"
    if not math.isfinite(gain):
        return "not comparable with"
    word = "better" if gain > 0 else "worse"
    if math.isnan(error):
        return f"{word} than"
    distance = gain / error if error > 0 else math.inf
    if abs(distance) < 1:
        return "about as good as"
    return f"{'clearly' if abs(distance) >= 2 else 'probably'} {word} than"


def p_value(p: float) -> str:
    """Return a p-value to read."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def closest_learner(models: Sequence[str], p: Sequence[float]) -> tuple[str, float]:
    """Return the learner that the stack leads with the largest p-value; "" if none has one."""
    known = [
        (value, model)
        for model, value in zip(models, p, strict=True)
        if model not in MADE and not math.isnan(value)
    ]
    value, model = max(known, key=lambda pair: pair[0], default=(math.nan, ""))
    return model, value


def who_may_be_best(models: Sequence[str], inside: Sequence[bool], p: Sequence[float]) -> str:
    """Return in words whether the stack beats every learner, and which models may be best.

    ``inside``: Which models cannot be told from the best one at 95 %. ``p``: The p-values of the
    stack being better than each.
    """
    rival, worst = closest_learner(models, p)
    unclear = "cannot be told from" if worst < 1 - CHANCE else "is no better than"
    told = "beats every learner" if worst <= CHANCE else f"{unclear} {shortened(rival)}"
    said = f"The stack {told} ({p_value(worst)}). " if rival else ""
    sides: dict[bool, list[str]] = {True: [], False: []}
    for model, may in zip(models, inside, strict=True):
        # It is one of the learners, chosen for each fold.
        if model != "best single":
            sides[bool(may)].append(f"the {model}" if model in MADE else shortened(model))
    if not sides[False]:
        return f"{said}Any model may be best."
    best, others = (enumerated(sides[side]) for side in (True, False))
    out = f"{others} {'is' if len(sides[False]) == 1 else 'are'} not"
    # A learner keeps its name as it is, even at the beginning.
    best = f"T{best[1:]}" if best.startswith("the ") else best
    return f"{said}{best} may be best; {out}."
