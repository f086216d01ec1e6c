import pytest

from foldwise.diagnose import Claim, LeakAudit, OutOfFoldTable, leak_audit
from foldwise.errors import UnsupportedError


def audit(gap: float, error: float) -> LeakAudit:
    return LeakAudit("log_loss", -0.5, 0.02, (Claim("fit seen", -0.4, gap, error, "it is so"),))


def test_a_clear_gap_is_named_with_its_size_and_reason() -> None:
    assert audit(0.1, 0.01).verdict == (
        "Judged as 'fit seen' the ensemble would look 0.1 better than it is (10.0 standard "
        "errors), because it is so. Report the honest -0.5 ± 0.02."
    )


@pytest.mark.parametrize(("gap", "error"), [(0.1, 0.06), (-0.1, 0.01), (0.0, 0.0)])
def test_a_gap_within_chance_is_not_made_much_of(gap: float, error: float) -> None:
    assert audit(gap, error).verdict == (
        "No number looks clearly better than the honest -0.5 ± 0.02: choosing and fitting on "
        "these rows cost little honesty here."
    )


def test_the_honest_number_comes_first() -> None:
    frame = audit(0.1, 0.01).to_frame()
    assert frame["judged"].tolist() == ["honestly", "fit seen"]
    assert str(audit(0.1, 0.01)).splitlines()[0] == "Leak audit (log_loss, greater is better)"


def test_predictions_alone_cannot_be_audited() -> None:
    with pytest.raises(UnsupportedError) as error:
        leak_audit(OutOfFoldTable.from_arrays([[1.0]], [1.0]))
    assert str(error.value) == (
        "leak_audit: source must know how it was fitted; got predictions alone. "
        "Give the fitted stack."
    )
