"""The sections of a report, a module each: plain values in, text, tables and figures out."""
