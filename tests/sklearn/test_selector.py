"""The selector, and rows that are series (`in_time`)."""

import math
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.feature_selection import SelectFdr, SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import renyi
from renyi.errors import InputError
from renyi.sklearn import RandomCopulaFeatures, RDCSelector, rdc_score


def frame(x):
    return pd.DataFrame(x, columns=list("abcdef"))


# The selector.


def test_support_ranking_and_path_tell_the_same(data):
    selector = RDCSelector().fit(*data)
    assert selector.get_support(indices=True).tolist() == [1, 4]
    order = [step.feature for step in selector.path_]
    assert selector.ranking_[order].tolist() == [1, 2]
    assert sorted(selector.ranking_) == [1, 2, 3, 4, 5, 6]
    assert selector.transform(data[0]).tolist() == data[0][:, [1, 4]].tolist()


@pytest.mark.parametrize(("wanted", "n"), [(3, 3), (0.5, 3), (1.0, 6), (0.01, 1)])
def test_a_number_or_a_share_of_features(data, wanted, n):
    assert RDCSelector(n_features_to_select=wanted).fit(*data).support_.sum() == n


@pytest.mark.parametrize("wanted", [0, -1, 1.5, "all", True, None])
def test_no_number_of_features(data, wanted):
    with pytest.raises(InputError, match="n_features_to_select"):
        RDCSelector(n_features_to_select=wanted).fit(*data)


def test_more_features_than_there_are(data):
    with pytest.raises(InputError, match="X has 6 features: pass fewer"):
        RDCSelector(n_features_to_select=7).fit(*data)


def test_constants_are_never_chosen(data):
    x = data[0].copy()
    x[:, 1] = 3.0
    selector = RDCSelector(n_features_to_select=5).fit(x, data[1])
    assert not selector.support_[1]
    assert selector.ranking_[1] == 6
    assert "constant" in selector.skipped_["x1"]
    with pytest.raises(InputError, match=r"only 5 of 6 features can be chosen \('x1': constant"):
        RDCSelector(n_features_to_select=6).fit(x, data[1])


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.ones(30), "y is constant"),
        (np.full(30, "a"), "y has one class, 'a'"),
        (np.array([f"class {i}" for i in range(30)]), "one row in each of its 30 classes"),
    ],
)
def test_targets_that_nothing_depends_on(y, said):
    with pytest.raises(InputError, match=said):
        RDCSelector().fit(np.random.default_rng(0).normal(size=(30, 3)), y)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 0}, "alpha must be .*, got 0"),
        ({"target_type": "vector"}, "target_type='vector'"),
        ({"n_jobs": 0}, "n_jobs must be .*, got 0"),
        ({"measure": "spearman"}, "takes no vectors"),
        ({"measure": "dcor", "random_state": "x"}, "random_state='x'"),
        ({"categorical_features": "all"}, "categorical_features='all'"),
        ({"categorical_features": ["z"]}, "not a column of X"),
        ({"categorical_features": [9]}, "pass a place"),
        ({"categorical_features": [True]}, "a mask of 1"),
    ],
)
def test_invalid_settings_are_refused(data, settings, said):
    with pytest.raises(InputError, match=said):
        RDCSelector(**settings).fit(*data)


def test_names_and_frames_go_through(data):
    x = frame(data[0])
    selector = RDCSelector().fit(x, data[1])
    assert selector.get_feature_names_out().tolist() == ["b", "e"]
    assert {step.name for step in selector.path_} == {"b", "e"}
    assert selector.set_output(transform="pandas").transform(x).columns.tolist() == ["b", "e"]
    by_polars = RDCSelector().set_output(transform="polars").fit(pl.from_pandas(x), data[1])
    assert by_polars.transform(pl.from_pandas(x)).columns == ["b", "e"]


@pytest.mark.slow
def test_increasing_maps_change_nothing(data):
    x, y = data
    plain, bent = RDCSelector().fit(x, y), RDCSelector().fit(np.exp(3 * x), np.arctan(y))
    assert [step.pvalue for step in bent.path_] == pytest.approx([step.pvalue for step in plain.path_])


def test_threads_and_rows_in_another_order_change_nothing(data):
    x, y = data
    order = np.random.default_rng(1).permutation(len(y))
    paths = [RDCSelector().fit(x, y), RDCSelector(n_jobs=2).fit(x, y), RDCSelector(n_jobs=-1).fit(x[order], y[order])]
    features = [[step.feature for step in one.path_] for one in paths]
    assert features[0] == features[1] == features[2]


def test_categories_by_type_name_place_and_mask():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 6, 400)
    y = np.array([0.0, 3.0, -2.0, 1.0, -3.0, 2.0])[codes] + rng.normal(size=400)
    x = pd.DataFrame({"noise": rng.normal(size=400), "kind": pd.Categorical([f"k{code}" for code in codes])})
    assert RDCSelector().fit(x, y).get_support(indices=True).tolist() == [1]
    assert RDCSelector(categorical_features=None, n_features_to_select=1).fit(x, y).support_.tolist() == [True, False]
    array = np.column_stack((x["noise"], codes))
    for declared in ([1], [-1], [False, True]):
        selector = RDCSelector(categorical_features=declared).fit(array, y)
        assert selector.path_[0].feature == 1
    named = RDCSelector(categorical_features=["kind"]).fit(x.assign(kind=codes), y)
    assert named.path_[0].dependence == pytest.approx(selector.path_[0].dependence)


def test_missing_values_are_left_out(data):
    x = data[0].copy()
    x[::3, 4] = np.nan
    assert RDCSelector().fit(x, data[1]).get_support(indices=True).tolist() == [1, 4]
    with pytest.raises(ValueError, match="infinity"):
        RDCSelector().fit(np.where(np.isnan(x), np.inf, x), data[1])
    with pytest.raises(ValueError, match="infinity"):
        RDCSelector().fit(frame(np.where(np.isnan(x), np.inf, x)), data[1])


@pytest.mark.slow
def test_classes_and_several_outputs():
    x, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(3).normal(size=(150, 5))
    wide = np.column_stack((x, noise))
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    for target in (
        labels,
        y,
        labels == "virginica",
        pd.Series(pd.Categorical(labels, categories=[*set(labels), "new"])),
    ):
        chosen = RDCSelector().fit(wide, target).get_support(indices=True)
        assert chosen.size >= 1
        assert chosen.max() < 4
    numbered = pd.Series(pd.Categorical(y))
    assert RDCSelector().fit(wide, numbered).path_ == RDCSelector(target_type="category").fit(wide, y).path_
    both = RDCSelector().fit(noise, np.column_stack((noise[:, 3], noise[:, 0] ** 2)))
    assert set(both.get_support(indices=True)) == {0, 3}
    joint = RDCSelector().fit(wide, np.column_stack((labels, labels)))
    assert joint.get_support(indices=True).max() < 4


def test_any_measure_of_vectors(data):
    x, y = data[0][:150], data[1][:150]
    assert RDCSelector(n_features_to_select=2, measure="dcor").fit(x, y).get_support(indices=True).size == 2
    by_cca = RDCSelector(measure="cca", random_state=0).fit(x, y)
    assert by_cca.get_support(indices=True).tolist() == [4]
    assert by_cca.path_[0].pvalue <= 0.01
    assert np.isnan(RDCSelector(n_features_to_select=1, measure=renyi.measure("rdc", k=5)).fit(x, y).path_[0].pvalue)


def test_a_measure_takes_the_rows_that_all_have(data):
    x, y = data[0][:200].copy(), data[1][:200]
    x[:100, 2] = np.nan
    selector = RDCSelector(n_features_to_select=1, measure="cca").fit(x, y)
    assert selector.get_support(indices=True).tolist() == [4]


def test_in_pipelines_searches_and_pickles(data):
    x, y = data
    model = make_pipeline(RDCSelector(), RandomCopulaFeatures(n_components=60), Ridge(0.01))
    search = GridSearchCV(model, {"rdcselector__n_features_to_select": [1, 2], "randomcopulafeatures__s": [2.0]}, cv=3)
    assert search.fit(x, y).best_params_["rdcselector__n_features_to_select"] == 2
    assert search.best_score_ > 0.9
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.predict(x).tolist() == search.best_estimator_.predict(x).tolist()
    assert clone(RDCSelector(alpha=0.2)).get_params()["alpha"] == 0.2
    columns = ColumnTransformer([("few", RDCSelector(n_features_to_select=1), ["a", "b"])], remainder="drop")
    assert columns.fit(frame(x), y).get_feature_names_out().tolist() == ["few__b"]


def test_path_is_drawn(data):
    pytest.importorskip("matplotlib").use("Agg")
    axes = RDCSelector().fit(*data).plot_path().axes[0]
    assert len(axes.lines[0].get_xdata()) == 2
    empty = RDCSelector().fit(data[0], np.random.default_rng(9).normal(size=400))
    assert "nothing was chosen" in [text.get_text() for text in empty.plot_path().axes[0].texts]


# The score.


def test_scores_are_those_of_the_matrix(data):
    x, y = data
    scores, pvalues = rdc_score(x, y)
    for j in (1, 3):
        found = renyi.independence_test(x[:, j], y)
        assert (scores[j], pvalues[j]) == pytest.approx((found.debiased, found.pvalue), rel=1e-6)


def test_score_in_selectors(data):
    x, y = data
    assert SelectKBest(rdc_score, k=2).fit(x, y).get_support(indices=True).tolist() == [1, 4]
    assert SelectFdr(rdc_score, alpha=0.01).fit(x, y).get_support(indices=True).tolist() == [1, 4]
    labels = np.where(y > 0.3, "high", "low")
    assert SelectKBest(rdc_score, k=2).fit(x, labels).get_support(indices=True).tolist() == [1, 4]
    of_classes = partial(rdc_score, target_type="category")
    assert of_classes(x, (y > 0.3).astype(int))[0] == pytest.approx(rdc_score(x, labels)[0])


def test_score_of_constants_and_gaps(data):
    x = data[0].copy()
    x[:, 0], x[::2, 4] = 1.0, np.nan
    scores, pvalues = rdc_score(x, data[1])
    assert np.isnan(scores[0])
    assert pvalues[0] == 1.0
    assert pvalues[4] < 1e-6
    assert np.isnan(rdc_score(x[:, :1], data[1])[0]).all()


@pytest.mark.parametrize("wanted", ["auto", 2, 3])
def test_a_feature_that_is_the_target_is_found_and_explains_it(wanted, rng):
    x = rng.random((80, 4))
    selector = RDCSelector(n_features_to_select=wanted).fit(x, x[:, 1])
    assert selector.path_[0].feature == 1
    assert selector.path_[0].dependence == pytest.approx(1.0, abs=1e-6)
    assert len(selector.path_) == (1 if wanted == "auto" else wanted)


def autoregressions(rng, n=400, n_columns=5, memory=0.9):
    rows = rng.standard_normal((n, n_columns))
    for i in range(1, n):
        rows[i] += memory * rows[i - 1]
    return rows[:, :-1], rows[:, -1]


def test_series_are_noted_with_a_warning(rng):
    x, y = autoregressions(rng)
    with pytest.warns(renyi.CalibrationWarning, match=r"5 of 5 columns .* time=True .* order=None") as seen:
        selector = RDCSelector().fit(x, y)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert selector.notes_ == (str(seen[0].message),)


def test_rows_without_an_order_are_not_noted(rng, data):
    x, y = autoregressions(rng)
    order = rng.permutation(len(y))
    # Warnings are errors here.
    assert RDCSelector(order=None).fit(x, y).notes_ == ()
    assert RDCSelector().fit(x[order], y[order]).notes_ == ()
    # The rows of one side alone are dependent: p-values hold.
    assert RDCSelector().fit(x, y[order]).notes_ == ()
    assert RDCSelector().fit(x[order], y).notes_ == ()
    assert RDCSelector(measure="rdc", n_features_to_select=1).fit(x, y).notes_ == ()
    with pytest.raises(InputError, match="order must be 'check'"):
        RDCSelector(order="time").fit(*data)


def test_no_pvalue_is_below_one_over_the_number_of_orders_of_the_rows(rng):
    x = rng.random((12, 3))
    (step,) = RDCSelector().fit(x, x[:, 1]).path_
    # The best of three columns, of which some are permuted, and pairs of them.
    assert step.pvalue == pytest.approx(3 * 3 / math.factorial(12))
    flag = np.repeat([False, True], 50)
    x = np.column_stack((rng.random((100, 2)), flag))
    (step,) = RDCSelector().fit(x, flag).path_
    assert step.feature == 2
    assert step.pvalue == pytest.approx(2 * 3 / math.comb(100, 50))


@pytest.mark.slow
def test_where_single_rows_weigh_too_much_for_a_null_distribution_rows_are_permuted():
    """Three classes that two columns nearly tell apart leave a residual of few rows."""
    x, y = load_wine(return_X_y=True, as_frame=True)
    selector = RDCSelector(target_type="category").fit(x, y)
    assert [step.name for step in selector.path_[:3]] == ["flavanoids", "color_intensity", "proline"]
    assert selector.path_[2].pvalue == pytest.approx(0.003)  # 3 looks, 999 permutations


@pytest.mark.slow
def test_permuted_columns_of_noise_are_chosen_no_more_often_than_alpha_says():
    """Rare flags, for which theory does not hold; 200 targets, alpha 0.05: 10 expected, 19 in one of 250."""
    rng = np.random.default_rng(5)
    chosen = 0
    for _ in range(200):
        flags = rng.random((150, 6)) < 0.03
        target = rng.random(150) < 0.2
        chosen += bool(RDCSelector(alpha=0.05).fit(flags[:, flags.any(axis=0)], target).path_)
    assert 0 < chosen <= 19


def test_large_whole_numbers_are_targets_with_all_of_their_digits(rng):
    steps = rng.permutation(300)
    features = np.column_stack([np.cos(steps / 40), rng.normal(size=300)])
    expected = rdc_score(features, steps)[0]
    for y in (2**62 + steps, np.array([2**62 + int(k) for k in steps], dtype=object)):
        assert np.array_equal(rdc_score(features, y, target_type="number")[0], expected)
        assert RDCSelector(target_type="number").fit(features, y).get_support().tolist() == [True, False]
    with pytest.raises(InputError, match="y has numbers with more digits than 64-bit floats keep apart"):
        rdc_score(features, np.array([2**70 + int(k) for k in steps], dtype=object), target_type="number")


# Rows in time.


def test_series_are_chosen_from_by_what_they_remember(rng):
    x, noise = autoregressions(rng, memory=0.6)
    assert RDCSelector(time=True).fit(x, noise).path_ == ()
    y = x[:, 2] ** 2 + x[:, 0] + 0.5 * noise
    selector = RDCSelector(time=True).fit(x, y)
    assert selector.get_support(indices=True).tolist() == [0, 2]
    assert selector.notes_ == ()
    stamps = pd.DataFrame(x, columns=list("abcd")).assign(day=np.arange(400.0))
    order = rng.permutation(400)
    by_name = RDCSelector(time="day").fit(stamps.iloc[order], y[order])
    assert [step.name for step in by_name.path_] == [["a", "b", "c", "d"][step.feature] for step in selector.path_]
    assert by_name.path_[0].pvalue == pytest.approx(selector.path_[0].pvalue)
    assert "order of it" in by_name.skipped_["day"]
    assert clone(by_name).get_params()["time"] == "day"


def test_series_that_remember_much_are_chosen_from_without_a_warning(rng):
    x, y = autoregressions(rng, n_columns=4)
    selector = RDCSelector(time=True).fit(x, y)
    assert selector.path_ == ()
    assert selector.notes_ == ()


def test_an_interaction_of_series_and_one_with_a_chosen_one(rng):
    x = np.array(autoregressions(rng, 500, 5, memory=0.6)[0])
    both = RDCSelector(time=True).fit(x, np.sign(x[:, 0] * x[:, 1]) + 0.1 * rng.standard_normal(500))
    assert set(both.get_support(indices=True)) == {0, 1}
    after = RDCSelector(time=True).fit(x, 2 * x[:, 0] + x[:, 0] * x[:, 1] + 0.3 * rng.standard_normal(500))
    assert set(after.get_support(indices=True)) == {0, 1}


def test_series_of_a_panel_gaps_categories_and_changes(rng):
    x, noise = autoregressions(rng, 400, 4, memory=0.6)
    unit = np.arange(400) // 100
    levels = 9.0 * rng.standard_normal(4)[unit]
    frame = pd.DataFrame(x + levels[:, np.newaxis], columns=list("abc")).assign(
        unit=pd.Categorical(unit), kind=pd.Categorical(np.where(x[:, 1] > 0, "high", "low"))
    )
    frame.loc[::7, "a"] = np.nan
    y = levels + x[:, 0] + 2 * (x[:, 1] > 0) + 0.5 * noise
    selector = RDCSelector(time=True, groups="unit").fit(frame, y)
    assert {"a", "kind"} <= {step.name for step in selector.path_} <= {"a", "b", "kind"}
    walks = np.cumsum(rng.standard_normal((300, 3)), axis=0)
    with pytest.warns(renyi.CalibrationWarning, match="wander as random walks do"):
        RDCSelector(time=True, n_features_to_select=1).fit(walks[:, :2], walks[:, 2])
    changes = RDCSelector(time=True, detrend="difference").fit(walks[:, :2], walks[:, 2])
    assert changes.path_ == ()
    assert "changes from row to row" in changes.notes_[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"time": np.arange(400)}, "time must be True for rows in order, or the name"),
        ({"time": "f"}, "'f'"),
        ({"groups": "f"}, "time must be"),
        ({"time": True, "groups": 3}, "groups must be the name"),
        ({"time": True, "measure": "dcor"}, "time is for the search by theory"),
        ({"time": True, "period": 300}, "period=300 is too long"),
    ],
)
def test_what_makes_no_sense_in_time_is_refused(data, settings, said):
    with pytest.raises(InputError, match=said):
        RDCSelector(**settings).fit(*data)
