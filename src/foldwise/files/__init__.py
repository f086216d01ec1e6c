"""Model files: one zip, checked byte by byte, from which no code is run."""

from foldwise.files.allowed import trusted_types
from foldwise.files.model_file import load, read_manifest, save
from foldwise.files.onnx_export import export_onnx

__all__ = ["export_onnx", "load", "read_manifest", "save", "trusted_types"]
