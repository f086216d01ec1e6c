"""How much better an ensemble would look if it were judged less honestly."""

from dataclasses import astuple, dataclass
from typing import Any

import pandas as pd

from foldwise.diagnose.table import Claim, as_text, table_of
from foldwise.errors import Plain, unsupported

CLEAR = 2.0


@dataclass(frozen=True)
class LeakAudit:
    """The honest score and the optimistic ones beside it.

    Attributes
    ----------
    metric : str
        What is scored; here greater is always better.
    score, score_se : float
        The honest score and its standard error.
    claims : tuple of Claim
        Other numbers one could report, each with its gap to the honest score on the same rows.
    """

    metric: str
    score: float
    score_se: float
    claims: tuple[Claim, ...]

    @property
    def verdict(self) -> str:
        """What the gaps mean, in a sentence or two."""
        clear = [c for c in self.claims if c.gap > 0 and c.gap >= CLEAR * c.gap_se]
        honest = f"{self.score:.4g} ± {self.score_se:.2g}"
        if not clear:
            return (
                f"No number looks clearly better than the honest {honest}: choosing and fitting "
                "on these rows cost little honesty here."
            )
        worst = max(clear, key=lambda claim: claim.gap)
        how = f"{worst.gap / worst.gap_se:.1f} standard errors" if worst.gap_se > 0 else "exactly"
        return (
            f"Judged as '{worst.name}' the ensemble would look {worst.gap:.3g} better than it is "
            f"({how}), because {worst.why}. Report the honest {honest}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a number: the honest one first."""
        rows = [("honestly", self.score, 0.0, 0.0, ""), *map(astuple, self.claims)]
        return pd.DataFrame(rows, columns=["judged", "score", "gap", "gap_se", "why"])

    def __str__(self) -> str:
        text = as_text(self.to_frame().drop(columns="why"))
        return f"Leak audit ({self.metric}, greater is better)\n{text}\n{self.verdict}"


def leak_audit(source: Any) -> LeakAudit:
    """Compare the honest score with what less careful judging would have reported.

    Parameters
    ----------
    source : fitted stack, or OutOfFoldTable with claims
        The stack's own tables are read; nothing is fitted but stackers.

    Returns
    -------
    LeakAudit
        With a sentence on what the gaps mean.

    Notes
    -----
    Three numbers stand beside the honest one. *choice seen*: the stacker, its penalty and
    its calibration were chosen by the very folds they are judged on. *features seen*: the
    stacker is cross-validated on plain out-of-fold predictions, made by learners that saw the
    judged fold, which is what most libraries report. *fit seen*: the deployed stacker is scored
    on the rows that it was trained on. A negative gap is chance, or comes from features of
    single models, where the honest judge, like the deployed stack, reads the mean of several.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from foldwise import StackingRegressor
    >>> X, y = make_friedman1(100, random_state=0)
    >>> learners = [("ridge", Ridge()), ("knn", KNeighborsRegressor())]
    >>> audit = leak_audit(StackingRegressor(learners, random_state=0).fit(X, y))
    >>> audit.to_frame()["judged"].tolist()
    ['honestly', 'choice seen', 'features seen', 'fit seen']
    """
    table = table_of(source, "leak_audit")
    if table.claims is None:
        got, fix = Plain("predictions alone"), "Give the fitted stack."
        raise unsupported("leak_audit", "source", must="know how it was fitted", got=got, fix=fix)
    return LeakAudit(table.metric, table.score, table.score_se, table.claims())
