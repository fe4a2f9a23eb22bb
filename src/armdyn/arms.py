"""Arms from the literature, ready to use: `armdyn.arms.puma560()`."""

from armdyn.model.library import *  # noqa: F403
from armdyn.model.library import __all__ as __all__
