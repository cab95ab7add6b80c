import numpy as np
import pytest

from renyi.report.document import ReportOptions, document_of
from renyi.tables.api import matrix
from sample_tables import VECTORS, mixed


@pytest.fixture(scope="module")
def table():
    columns = ["plain", "curve", "noise", "flag", "five", "date", "grade", "lat", "lon"]
    return mixed(400, np.random.default_rng(7), gaps=0.1)[columns]


@pytest.fixture(scope="module")
def found(table):
    return matrix(table, vectors=VECTORS)


@pytest.fixture(scope="module")
def document(found):
    return document_of(found, ReportOptions(pairs=[("noise", "plain")]))
