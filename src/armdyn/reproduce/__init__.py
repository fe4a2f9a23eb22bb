"""The results of the founding documents, computed again: one module a document, see `cases`."""
