"""`import renyi.pandas` gives every DataFrame of pandas `df.renyi`, which has the functions on tables as methods."""

from renyi.accessor import Accessor
from renyi.errors import load

load("pandas", extra=None).api.extensions.register_dataframe_accessor("renyi")(Accessor)
