import numpy as np

from goodprior import plots

X = np.linspace(0, 1, 5)


def test_function_draws_are_drawn_over_their_band():
    axes = plots.new_figure(1, 1).subplots()
    functions = np.arange(50.0).reshape(10, 5)
    plots.plot_functions(axes, X, functions, colour="green", n=3)
    lines = [line.get_ydata() for line in axes.lines]
    np.testing.assert_allclose(lines, functions[:3])
    low, high = np.quantile(functions, [0.025, 0.975], axis=0)
    corners = axes.collections[0].get_paths()[0].vertices
    assert corners[:, 1].min() == low.min()
    assert corners[:, 1].max() == high.max()


def test_a_posterior_has_its_mean_its_interval_the_truth_and_the_data():
    axes = plots.new_figure(1, 1).subplots()
    mean, interval = np.zeros(5), np.array([[-3.0] * 5, [4.0] * 5])
    plots.plot_posterior(axes, X, mean, interval, (X[:2], X[:2]), colour="red", truth=X**2)
    drawn, truth, data = axes.lines
    np.testing.assert_allclose(drawn.get_ydata(), mean)
    np.testing.assert_allclose(truth.get_ydata(), X**2)
    np.testing.assert_allclose(data.get_xdata(), X[:2])
    corners = axes.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([corners.min(), corners.max()], [-3, 4])


def test_without_a_truth_none_is_drawn():
    axes = plots.new_figure(1, 1).subplots()
    plots.plot_posterior(axes, X, X, np.stack([X, X]), (X, X), colour="red")
    assert len(axes.lines) == 2


def test_a_history_starts_at_step_one():
    axes = plots.new_figure(1, 1).subplots()
    plots.plot_history(axes, np.array([3.0, 2.0, 1.0]), colour="blue")
    np.testing.assert_allclose(axes.lines[0].get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [3, 2, 1])


def test_a_figure_grows_with_its_panels_and_can_be_saved(tmp_path):
    figure = plots.new_figure(2, 3, panel=(2.0, 1.0))
    assert figure.get_size_inches().tolist() == [6.0, 2.0]
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
