"""The findings of a table as a graph of networkx."""

from typing import Any

from renyi.errors import load
from renyi.report.records import record_of
from renyi.report.summary import Result


def graph_of(result: Result, rate: float, /) -> Any:
    """Columns as nodes, findings at a rate as edges, strongest first, with all that is known of each."""
    record = record_of(result, q=rate)
    # Formats of files for graphs know neither None nor lists.
    told = {"measure": record["measure"], "fdr": record["fdr"], "given": ", ".join(record["given"])}
    graph = load("networkx", extra=None).Graph(**{name: value for name, value in told.items() if value})
    firsts = [variable.column.name for variable in result.edges.x]
    others = [variable.column.name for variable in result.edges.y]
    # Names that both tables have are told apart as `types` of the result tells them.
    known = {*firsts, *result.skipped} if result.other_names is not None else set()
    seconds = {name: f"{name} (other)" if name in known else name for name in others}
    for names, part in ((firsts, 0), (seconds.values(), 1)):
        side = {"bipartite": part} if result.other_names is not None else {}
        # igraph takes what is called "type" for the sides of a graph.
        graph.add_nodes_from((name, {"column_type": result.types[name], **side}) for name in names)
    for pair in record["pairs"]:
        x, y = pair.pop("x"), pair.pop("y")
        graph.add_edge(x, seconds[y], **{name: value for name, value in pair.items() if value is not None})
    return graph
