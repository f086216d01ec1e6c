"""Tables: reading them, telling what each column is, and turning them into numbers."""

from foldwise.auto.tables.encoder import TableEncoder
from foldwise.auto.tables.kinds import ColumnKind, Kinds, column_kinds
from foldwise.auto.tables.read import read_table

__all__ = ["ColumnKind", "Kinds", "TableEncoder", "column_kinds", "read_table"]
