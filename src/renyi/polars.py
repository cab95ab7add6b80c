"""`import renyi.polars` gives frames of Polars, lazy ones too, `df.renyi`: the functions on tables as methods."""

from renyi.accessor import Accessor
from renyi.errors import load

_api = load("polars", extra="cli").api
_api.register_dataframe_namespace("renyi")(Accessor)
_api.register_lazyframe_namespace("renyi")(Accessor)
