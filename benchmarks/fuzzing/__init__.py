"""Kinds of fuzz: each makes what it needs in a folder, and a case from its seed alone."""
