from renyi.report.network import network_of


def test_network_keeps_parts_apart():
    network = network_of([(0, 1), (1, 2), (5, 6)])
    places = {node["column"]: (node["x"], node["y"]) for node in network["nodes"]}
    assert set(places) == {0, 1, 2, 5, 6}
    assert len(set(places.values())) == 5
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert network["edges"] == [0, 1, 2]


def test_network_limits_the_lines_of_a_column():
    network = network_of([(0, k) for k in range(1, 20)])
    assert len(network["edges"]) == 6
    assert network_of([]) is None
