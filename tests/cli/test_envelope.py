"""`levycollapse envelope`: from a model, from time scales, from an envelope, and from files that are none of it."""

from __future__ import annotations

import pickle
import subprocess
import zipfile

import numpy as np
import pytest

import levycollapse as lc
from levycollapse.cli.tables import read_timescales
from tests.cli.test_cli import COMMAND, _assert_one_line, strict_json
from tests.cli.test_simulate import read, run
from tests.conftest import REFERENCE

LAGS = np.geomspace(1.0, 1e4, 128)
TAU = np.array([1.5, 20.0, 3.0, 400.0])
WEIGHTS = np.array([1.0, 2.0, 0.0, 0.5])


@pytest.fixture(scope="module")
def law():
    return lc.stationary_density(lc.CollapseModel.from_parameters(**REFERENCE))


def test_from_the_model(here, capsys, without_saving, law):
    code, out, err = run(["envelope", "--json"], capsys)
    assert (code, err) == (0, "")
    record = strict_json(out)
    folder = here / "results" / "envelope"
    names = ["envelope.nc", "envelope.pdf", "envelope.png", "summary.json"]
    assert sorted(p.name for p in folder.iterdir()) == names
    assert sorted(record.pop("files")) == [f"results/envelope/{name}" for name in names]
    assert strict_json((folder / "summary.json").read_text()) == record
    asymptote = lc.tauberian_envelope(law.tail, LAGS)
    assert record["asymptote_holds_from"] == asymptote.holds_from(0.05, law)
    assert record["beta"] == lc.spectral_exponent(**REFERENCE)
    data = read(folder / "envelope.nc")
    np.testing.assert_array_equal(data["lag"], LAGS)
    np.testing.assert_array_equal(data["f"], law.envelope(LAGS))
    np.testing.assert_array_equal(data["local_exponent"], lc.local_exponent(LAGS, law).exponent)
    np.testing.assert_array_equal(data["asymptote"], asymptote.envelope)
    np.testing.assert_array_equal(data["asymptote_leading"], asymptote.leading)
    assert record["last"] == {
        "lag": LAGS[-1],
        "f": data["f"].values[-1],
        "local_exponent": data["local_exponent"].values[-1],
    }
    # What the record claims: within 5 % from that lag on, and not just before it.
    off = np.abs(data["asymptote"] / data["f"] - 1).values
    assert (off[record["asymptote_holds_from"] <= LAGS] <= 0.05).all()
    assert (off[0.9 * record["asymptote_holds_from"] > LAGS] > 0.05).all()


def test_bands_over_networks(here, capsys, without_saving, law):
    code, out, _ = run(
        [
            *("envelope", "--lags", "1:1e3:7:log", "--units", "50", "--networks", "60", "--seed", "4"),
            *("--drift-width", "1", "--json"),
        ],
        capsys,
    )
    assert code == 0
    lags = np.geomspace(1.0, 1e3, 7)
    expected = lc.finite_width_envelope(law, lags, 50, n_networks=60, rng=4)
    data = read(here / "results/envelope/envelope.nc")
    np.testing.assert_array_equal(data["level"], expected.quantile_levels)
    np.testing.assert_array_equal(data["quantile"], expected.quantiles)
    np.testing.assert_array_equal(data["quantile_low"], expected.quantiles_low)
    np.testing.assert_array_equal(data["variance"], expected.variance)
    network = strict_json(out)["network"]
    assert network["crossover_lag"] == expected.crossover_lag
    assert network["largest_timescale_median"] == expected.largest.median
    assert (network["units"], network["simulated"], network["seed"]) == (50, 60, 4)


def test_logarithmic_model_has_bands_too(here, capsys, without_saving):
    """Its time scales exceed the largest double, its envelopes do not."""
    code, out, _ = run(
        [*("envelope", "--lam", "0", "--units", "64", "--networks", "40", "--lags", "1:100:5:log", "--json")], capsys
    )
    assert code == 0
    assert strict_json(out)["network"]["largest_timescale_median"] == "inf"
    data = read(here / "results/envelope/envelope.nc")
    middle = data["quantile"].sel(level=0.5).values
    np.testing.assert_allclose(middle, data["f"], rtol=0.1)


def test_from_time_scales(here, capsys, without_saving):
    rows = zip(TAU, WEIGHTS, strict=True)
    (here / "tau.csv").write_text("# by hand\nweight, tau\r\n" + "".join(f"{w},{t}\r\n" for t, w in rows) + "\n\n")
    code, out, _ = run(["envelope", "--tau", "tau.csv", "--lags", "1:1e3:9:log", "--json"], capsys)
    assert code == 0
    lags = np.geomspace(1.0, 1e3, 9)
    data = read(here / "results/envelope/envelope.nc")
    np.testing.assert_array_equal(data["f"], lc.envelope(TAU, lags, WEIGHTS))
    slope = lc.local_exponent(lags, tau=TAU, weights=WEIGHTS)
    np.testing.assert_array_equal(data["local_exponent"], slope.exponent)
    record = strict_json(out)
    mean = pytest.approx(np.average(TAU, weights=WEIGHTS))
    assert record["timescales"] == {"count": 4, "least": 1.5, "mean": mean, "largest": 400.0}
    assert record["weighted"] is True


def test_every_kind_of_file(here):
    (here / "plain.CSV").write_text("\ufeff" + "\n".join(map(str, TAU)))
    np.savez_compressed(here / "both.npz", weights=WEIGHTS.astype(np.float32), tau=TAU)
    np.savez(here / "one.npz", TAU.reshape(2, 2))
    np.save(here / "tau.npy", TAU)
    for name, weights in (("plain.CSV", None), ("both.npz", WEIGHTS), ("one.npz", None), ("tau.npy", None)):
        tau, found = read_timescales(here / name)
        np.testing.assert_array_equal(tau.ravel(), TAU)
        np.testing.assert_equal(found, weights)


def test_time_scales_that_leave_nothing_to_see(here, capsys, without_saving):
    np.save(here / "tau.npy", [1e-5])
    assert run(["envelope", "--tau", "tau.npy"], capsys)[0] == 0
    assert (read(here / "results/envelope/envelope.nc")["f"] == 0).all()


def test_an_envelope_is_inverted(here, capsys):
    noise = 1 + 0.01 * np.random.default_rng(1).standard_normal(128)
    f = lc.Pareto(beta=0.8).envelope(LAGS) * noise
    table = np.column_stack([f, np.full(128, 0.01), LAGS])
    np.savetxt(here / "f.csv", table, delimiter=",", header="f,sigma,lags", comments="", fmt="%.17g")
    code, out, _ = run(["envelope", "--f", "f.csv", "--json"], capsys)
    assert code == 0
    record = strict_json(out)
    expected = lc.invert_envelope(LAGS, f, 0.01)
    assert record["status"] == "power-law tail"
    assert record["beta"] == expected.beta._asdict()
    assert record["beta"]["lower"] < 0.8 < record["beta"]["upper"]
    assert record["noise"] == {"sigma": 0.01, "given": True}
    assert (here / "results/envelope/envelope.png").read_bytes().startswith(b"\x89PNG")
    assert (here / "results/envelope/envelope.pdf").read_bytes().startswith(b"%PDF")
    data = read(here / "results/envelope/envelope.nc")
    np.testing.assert_array_equal(data["f_fitted"], expected.envelope(LAGS))
    np.testing.assert_array_equal(data["mass"], expected.weights)
    np.testing.assert_array_equal(data["timescale"], expected.timescales)
    slope = lc.local_exponent(LAGS, f, sigma=np.full(128, 0.01))
    np.testing.assert_array_equal(data["local_exponent_upper"], slope.upper)


def test_an_exponential_is_no_power_law(here, capsys, without_saving):
    lags = LAGS[LAGS < 600]
    noise = 1 + 0.01 * np.random.default_rng(2).standard_normal(lags.size)
    np.savez(here / "f.npz", lag=lags, f=np.exp(-lags / 100.0) * noise)
    code, out, _ = run(["envelope", "--f", "f.npz"], capsys)
    assert code == 0
    assert "status        discrete" in out
    assert "value none" in out
    (spike,) = strict_json((here / "results/envelope/summary.json").read_text())["exponentials"]
    assert spike["timescale"] == pytest.approx(100.0, rel=0.01)


class _Trap:
    """Leaves a mark if anything unpickles it."""

    def __reduce__(self):
        return exec, ("open('executed', 'w').close()",)


@pytest.fixture
def files(here):
    """Bad files, by name."""
    texts = {
        "empty.csv": "",
        "names.csv": "tau\n",
        "ragged.csv": "tau,weight\n1,2\n3\n",
        "words.csv": "tau\n1.0\nlong\n",
        "gap.csv": "tau,weight\n1.0,1\n,2\n",
        "negative.csv": "1.0\n-2.0\n",
        "nan.csv": "tau\n1.0\n\n# remark\nnan\n",
        "inf.csv": "1\ninf\n",
        "other.csv": "time,value\n1,2\n",
        "twice.csv": "tau,tau\n1,2\n",
        "wide.csv": "1,2,3\n",
        "semicolon.csv": "1;2\n3;4\n",
        "underscore.csv": "tau\n1_000\n",
        "weightless.csv": "tau,weight\n1,0\n2,0\n",
        "badweight.csv": "tau,weight\n1,1\n2,-1\n",
        "code.csv": "tau\n__import__('os').system('touch executed')\n",
        "f_short.csv": "lag,f\n1,0.9\n2,0.8\n",
        "f_falling.csv": "lag,f\n1,0.9\n3,0.8\n2,0.7\n",
        "f_zero.csv": "lag,f\n0,1\n1,0.5\n",
        "f_sigma.csv": "lag,f,sigma\n1,1,0.1\n2,0.5,0\n",
        "f_one.csv": "1\n2\n",
        "tau.txt": "1\n",
    }
    for name, text in texts.items():
        (here / name).write_text(text)
    (here / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    (here / "folder.csv").mkdir()
    (here / "pickle.npz").write_bytes(pickle.dumps(_Trap()))
    (here / "pickle.npy").write_bytes(pickle.dumps(_Trap()))
    np.save(here / "object.npy", np.array([_Trap()], dtype=object), allow_pickle=True)
    np.savez(here / "object.npz", tau=np.array([_Trap(), 1.0], dtype=object))
    np.savez(here / "text.npz", tau=np.array(["1", "2"]))
    np.savez(here / "bool.npz", tau=np.array([True]))
    np.savez(here / "complex.npz", tau=np.array([1j]))
    np.savez(here / "void.npz", tau=np.array([]))
    np.savez(here / "negative.npz", tau=np.array([[1.0, 2.0], [-3.0, 4.0]]))
    np.savez(here / "shapes.npz", tau=np.ones(3), weight=np.ones(2))
    np.savez(here / "others.npz", a=np.ones(3), b=np.ones(3))
    np.savez(here / "f_table.npz", lag=np.ones((2, 2)), f=np.ones((2, 2)))
    np.save(here / "f.npy", np.ones((20, 2)))
    whole = (here / "others.npz").read_bytes()
    (here / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(here / "huge.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tau.npy", b"\x93NUMPY")
        archive.infolist()[0].file_size = 2**40
    claims = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    (here / "claims.npy").write_bytes(b"\x93NUMPY\x01\x00" + bytes([len(claims), 0]) + claims)
    return here


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--tau", "missing.csv", "missing.csv does not exist"),
        ("--tau", "folder.csv", "folder.csv is not a file"),
        ("--tau", "tau.txt", "tau.txt must end in .csv, .npz or .npy"),
        ("--f", "f.npy", "f.npy must end in .csv or .npz"),
        ("--tau", "empty.csv", "empty.csv is empty: it must have"),
        ("--tau", "names.csv", "names.csv is empty: it must have"),
        ("--tau", "binary.csv", "binary.csv is not text in UTF-8"),
        ("--tau", "ragged.csv", "ragged.csv, line 3: 1 cells; it must have 2 (tau, weight)"),
        ("--tau", "words.csv", "words.csv, line 3: tau='long' must be a finite number > 0"),
        ("--tau", "gap.csv", "gap.csv, line 3: tau='' must be a finite number > 0"),
        ("--tau", "negative.csv", "negative.csv, line 2: tau=-2.0 must be a finite number > 0"),
        ("--tau", "nan.csv", "nan.csv, line 5: tau=nan must be a finite number > 0"),
        ("--tau", "inf.csv", "inf.csv, line 2: tau=inf must be a finite number > 0"),
        ("--tau", "other.csv", "other.csv has 'time', 'value'; it must have tau[, weight]"),
        ("--tau", "twice.csv", "twice.csv has 'tau', 'tau'; it must have tau[, weight]"),
        ("--tau", "wide.csv", "wide.csv has '3 columns without names'; it must have tau[, weight]"),
        ("--tau", "semicolon.csv", "semicolon.csv has '1;2'; it must have tau[, weight]"),
        ("--tau", "underscore.csv", "underscore.csv, line 2: tau='1_000' must be"),
        ("--tau", "weightless.csv", "weightless.csv: the weights are all 0"),
        ("--tau", "badweight.csv", "badweight.csv, line 3: weight=-1.0 must be a finite number >= 0"),
        ("--tau", "code.csv", "code.csv, line 2: tau="),
        ("--f", "other.csv", "other.csv has 'time', 'value'; it must have lag, f[, sigma]"),
        ("--f", "f_short.csv", "f_short.csv: f has 2 values > 0; at least 12 are needed"),
        ("--f", "f_falling.csv", "f_falling.csv, line 4: lag=2 comes after 3; lags must increase"),
        ("--f", "f_zero.csv", "f_zero.csv, line 2: lag=0.0 must be a finite number > 0"),
        ("--f", "f_sigma.csv", "f_sigma.csv, line 3: sigma=0.0 must be a finite number > 0"),
        ("--f", "f_one.csv", "f_one.csv has '1 columns without names'; it must have lag, f[, sigma]"),
        ("--f", "f_table.npz", "f_table.npz, array lag has shape (2, 2); it must have one dimension"),
        ("--tau", "pickle.npz", "pickle.npz cannot be read as an array of numbers"),
        ("--tau", "pickle.npy", "pickle.npy cannot be read as an array of numbers: it holds Python objects"),
        ("--tau", "object.npy", "object.npy cannot be read as an array of numbers: it holds Python objects"),
        ("--tau", "object.npz", "object.npz, array tau holds Python objects (a pickle), which are not read"),
        ("--tau", "text.npz", "text.npz, array tau is of type <U1; it must be of numbers"),
        ("--tau", "bool.npz", "bool.npz, array tau is of type bool; it must be of numbers"),
        ("--tau", "complex.npz", "complex.npz, array tau is of type complex128; it must be of numbers"),
        ("--tau", "void.npz", "void.npz, array tau is empty"),
        ("--tau", "negative.npz", "negative.npz, array tau[1, 0]=-3.0 must be a finite number > 0"),
        ("--tau", "shapes.npz", "shapes.npz, array weight has shape (2,); it must have that of tau, (3,)"),
        ("--tau", "others.npz", "others.npz has 'a', 'b'; it must have tau[, weight]"),
        ("--tau", "cut.npz", "cut.npz cannot be read as an array of numbers"),
        ("--tau", "huge.npz", "huge.npz unpacks to more than 1024 MiB"),
        ("--tau", "claims.npy", "claims.npy cannot be read as an array of numbers"),
    ],
)
def test_bad_files_are_one_line(files, option, name, message, capsys):
    before = sorted(files.rglob("*"))
    code, out, err = run(["envelope", option, name], capsys)
    assert code == 2
    _assert_one_line(out, err, message)
    assert sorted(files.rglob("*")) == before, "nothing written, nothing executed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lags", "7"], "lags='7' must be a range such as 1:1e4:128:log"),
        (["--lags", "0:10:5"], "lags[0]=0.0 must be a finite number > 0"),
        (["--lags", "1:10:20000"], "20000 are too many; at most 10000"),
        (["--lags", "5:1"], "START must be below STOP"),
        (["--units", "0.5"], "units='0.5' must be an integer >= 1"),
        (["--networks", "5"], "networks='5' is about the bands over networks; give --units too"),
        (["--units", "1000000", "--networks", "1000000"], "are too many"),
        (["--units", "5", "--seed", "-1"], "seed='-1' must be an integer >= 0"),
        (["--drift-width", "0"], "error: drift_width=0.0 must be"),
        (["--tau", "t.csv", "--kappa", "2"], "kappa='2' does not go with --tau"),
        (["--tau", "t.csv", "--drift-width", "2"], "drift_width='2' does not go with --tau"),
        (["--tau", "t.csv", "--units", "2"], "units='2' does not go with --tau"),
        (["--f", "f.csv", "--tau", "t.csv"], "tau='t.csv' does not go with --f"),
        (["--f", "f.csv", "--lags", "1:2"], "lags='1:2' does not go with --f"),
        (["--lam", "0", "--alpha", "0.8"], "stationary"),
        (["--frobnicate"], "No such option"),
        (["--width", "2"], "No such option"),
    ],
)
def test_errors_are_one_line(arguments, message, here, capsys):
    code, out, err = run(["envelope", *arguments], capsys)
    assert code == 2
    _assert_one_line(out, err, message)
    assert not list(here.iterdir())


def test_errors_through_the_command(files):
    """A whole run through the command is the example of its help, in test_cli."""
    arguments = ["envelope", "--tau", "object.npz"]
    result = subprocess.run([COMMAND, *arguments], cwd=files, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    _assert_one_line(result.stdout, result.stderr, "array tau holds Python objects (a pickle)")
    assert not (files / "executed").exists()


@pytest.mark.parametrize("values", [[5.0], [1.0, 1.0]])
def test_few_time_scales_whose_envelope_underflows(here, capsys, values):
    """The picture's limits were infinite: a traceback."""
    np.save(here / "tau.npy", np.array(values))
    code, out, err = run(["envelope", "--tau", "tau.npy", "--json"], capsys)
    assert (code, err) == (0, "")
    assert strict_json(out)["last"]["f"] == 0.0


@pytest.mark.parametrize(("tau", "lags"), [("1e-320", "1:10:3"), ("1e300", "1:10:3"), ("1", "1:1e308:3:log")])
def test_lags_and_time_scales_that_overflow_are_refused(here, capsys, tau, lags):
    (here / "tau.csv").write_text(f"tau\n{tau}\n")
    code, out, err = run(["envelope", "--tau", "tau.csv", "--lags", lags], capsys)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and "must be between 1e-100 and 1e+100" in err


def test_largest_weights_have_a_mean(here, capsys):
    (here / "tau.csv").write_text("tau,weight\n1,1e308\n2,1e308\n")
    code, out, _ = run(["envelope", "--tau", "tau.csv", "--lags", "1:10:3", "--json"], capsys)
    assert code == 0 and strict_json(out)["timescales"]["mean"] == 1.5
