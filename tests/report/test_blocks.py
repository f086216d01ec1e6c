from dataclasses import fields, is_dataclass

from foldwise.report import blocks


def test_every_block_is_frozen_and_has_a_kind_the_template_knows() -> None:
    kinds = []
    for block in (
        blocks.Prose,
        blocks.Tiles,
        blocks.Figures,
        blocks.Table,
        blocks.Facts,
        blocks.Code,
    ):
        assert is_dataclass(block)
        assert fields(block)
        assert block.__dataclass_params__.frozen
        kinds.append(block.kind)
    assert len(set(kinds)) == len(kinds)
