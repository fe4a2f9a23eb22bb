"""Arms as frozen data, and the ways to describe them."""
