"""Programs as flat graphs: their order, their operations, and the same result with fewer of them."""
