"""Spectrum, envelope and theory together: what can be said of a network's phase, and what cannot."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import kstest

from ._checks import NON_NEGATIVE, FloatArray, checked
from ._envelope.finite_width import FiniteWidthEnvelope, finite_width_envelope
from ._envelope.inverse import Estimate
from ._model.collapse_model import CollapseModel
from ._stationary.solve import stationary_density
from ._theory.phase import Phase
from .errors import ParameterError
from .tails import (
    Regime,
    RegimeResult,
    Shape,
    SpectrumFit,
    SpectrumFitStatus,
    TailShape,
    UnitStatus,
    fit_spectrum,
    regime,
    tail_shape,
)

#: Networks simulated for the finite-width bands, and the level of these.
NETWORKS, BAND = 200, (0.05, 0.95)
#: Lags of the finite-width prediction if no envelope is given: from 1 to this many thresholds of the spectrum.
REACH, LAGS = 30.0, 60
#: Gain in twice the log-likelihood beyond which a cutoff is reported as needed (3.84 is the 5 % point of its null law).
CUTOFF = 3.84
CAVEAT = (
    "The spectrum alone cannot name the phase: below threshold the model's spectrum is itself a power law, with index "
    "lambda and a logarithmic correction."
)
NOTHING = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class ModelAgreement:
    """How a model fits the measured spectrum.

    Attributes
    ----------
    phase : Phase
        Phase of the model.
    rate : float
        Its tail index: beta, or lambda below threshold; nan where it has none.
    rate_inside : bool or None
        Whether the interval of the spectrum's index holds the rate; None where one of them does not exist. Below
        threshold the logarithm makes the local index larger than lambda, so that False is no contradiction there.
    distance, p_value : float
        Kolmogorov-Smirnov distance between the units and the model's stationary law, and its p-value for independent
        units; nan where units are censored or the law has no solution.
    """

    phase: Phase
    rate: float
    rate_inside: bool | None
    distance: float
    p_value: float


@dataclass(frozen=True)
class Verdict:
    """What a spectrum and an envelope say of a network, from `verdict`.

    Attributes
    ----------
    headline : str
        One sentence.
    phase : Phase or None
        The phase, if a model was given and the spectrum does not contradict it; otherwise None (see `candidates`).
    candidates : tuple of Phase
        Phases that the data are compatible with.
    evidence, unresolved : tuple of str
        What was found, and what could not be.
    shape : TailShape
        Whether the spectrum is a power law at all.
    fit : SpectrumFit
        Its index.
    decay : RegimeResult or None
        Regime of the envelope, if one was given.
    beta_spectrum, beta_envelope : Estimate
        The index from either side; nan where it was not determined, the ends alone nan for an envelope without
        replicates.
    independent : bool or None
        Whether spectrum and envelope come from different sequences; None if that is not known.
    prediction : FiniteWidthEnvelope or None
        Envelope of networks of this width with the fitted spectrum.
    inside : float
        Share of lags at which the measured envelope is within the 90 % band of the prediction; nan without either.
    counts : dict
        Units of each status.
    model : ModelAgreement or None
        How the given model fits.
    lags, f : ndarray
        The measured envelope, mean over replicates; empty if none was given.
    """

    headline: str
    phase: Phase | None
    candidates: tuple[Phase, ...]
    evidence: tuple[str, ...]
    unresolved: tuple[str, ...]
    shape: TailShape
    fit: SpectrumFit
    decay: RegimeResult | None
    beta_spectrum: Estimate
    beta_envelope: Estimate
    independent: bool | None
    prediction: FiniteWidthEnvelope | None
    inside: float
    counts: dict[str, int]
    model: ModelAgreement | None
    lags: FloatArray = field(repr=False)
    f: FloatArray = field(repr=False)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Verdict in words, a line for each finding.

        Returns
        -------
        str
            The text.
        """
        names = ", ".join(phase.name.lower() for phase in self.candidates) or "none could be told"
        lines = [self.headline, ""]
        lines += [f"phase: {self.phase.name.lower() if self.phase is not None else 'not named'} (candidates: {names})"]
        lines += [
            "units: " + ", ".join(f"{n} {name.lower().replace('_', ' ')}" for name, n in self.counts.items() if n)
        ]
        lines += ["", "evidence", *(f"  - {line}" for line in self.evidence)]
        if self.unresolved:
            lines += ["", "not resolved", *(f"  - {line}" for line in self.unresolved)]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Verdict as strict JSON: null where a number does not exist.

        Returns
        -------
        str
            The JSON text.
        """
        fit, shape, decay = self.fit, self.shape, self.decay
        cutoff = None
        if fit.cutoff is not None:
            cutoff = {
                "beta": fit.cutoff.beta,
                "tau_cut": fit.cutoff.tau_cut,
                "likelihood_ratio": fit.cutoff.likelihood_ratio,
                "separable": fit.cutoff.separable,
                "beta_sharp": fit.cutoff.sharp,
            }
        content = {
            "headline": self.headline,
            "phase": None if self.phase is None else self.phase.name,
            "candidates": [phase.name for phase in self.candidates],
            "evidence": self.evidence,
            "unresolved": self.unresolved,
            "units": self.counts,
            "beta_spectrum": self.beta_spectrum,
            "beta_envelope": self.beta_envelope,
            "independent": self.independent,
            "spectrum": {
                "status": fit.status.name,
                "threshold": fit.threshold,
                "k": fit.k,
                "n_censored": fit.n_censored,
                "n_units": fit.n_units,
                "level": fit.level,
                "cutoff": cutoff,
                "shape": shape.shape.name,
                "shape_reason": shape.reason,
                "p_lognormal": shape.p_lognormal,
                "p_power": shape.p_power,
                "decades": shape.decades,
            },
            "envelope": None
            if decay is None
            else {
                "regime": decay.regime.name,
                "reason": decay.reason,
                "exponent": decay.exponent,
                "bend": decay.bend,
                "curvature": decay.curvature,
                "window": decay.window,
                "n_replicates": decay.n_replicates,
                "lags": self.lags,
                "f": self.f,
            },
            "finite_width": None
            if self.prediction is None
            else {
                "width": self.prediction.width,
                "lags": self.prediction.lags,
                "mean": self.prediction.mean,
                "levels": self.prediction.quantile_levels,
                "quantiles": self.prediction.quantiles,
                "crossover_lag": self.prediction.crossover_lag,
                "largest_median": self.prediction.largest.median,
                "inside": self.inside,
            },
            "model": None
            if self.model is None
            else {
                "phase": self.model.phase.name,
                "rate": self.model.rate,
                "rate_inside": self.model.rate_inside,
                "distance": self.model.distance,
                "p_value": self.model.p_value,
            },
        }
        return json.dumps(_plain(content), indent=2, allow_nan=False)


def verdict(
    spectrum: Any,
    envelope: Any = None,
    *,
    model: CollapseModel | None = None,
    independent: bool | None = None,
    level: float = 0.95,
    rng: Any = 0,
) -> Verdict:
    """What a network's time scales and envelope say of its phase, with the evidence and its limits.

    Parameters
    ----------
    spectrum : array_like or xarray.Dataset
        Time scales in network steps, one for each unit; or a result of `networks.timescales`, whose unit statuses
        count: censored units are lower bounds (`tau_low` where it is there), units below one step are short, growing
        ones have no time scale.
    envelope : tuple or xarray.Dataset, optional
        Envelope: (lags, f) with f of shape (lags,) or (replicates, lags); or a result of `networks.envelope`.
    model : CollapseModel, optional
        A model to hold the spectrum against; only with one can a phase be named.
    independent : bool, optional
        Whether the envelope was measured on other sequences than the spectrum. Told from `attrs["inputs"]` of the two
        datasets if they have it, the digests of their sequences: none may be in both. Otherwise not known. A stretch
        of a sequence counts as another one.
    level : float, optional
        Nominal coverage of the intervals.
    rng : None, int, SeedSequence or Generator, optional
        SPEC 7, for the bands of the finite-width prediction.

    Returns
    -------
    Verdict
        Findings, with `to_text`, `to_json`, and a picture by `plotting.plot_verdict`.

    Raises
    ------
    ParameterError
        If a time scale, lag or value is outside its range, or a dataset lacks what is needed.

    See Also
    --------
    levycollapse.tails : The parts: `fit_spectrum`, `tail_shape`, `regime`.

    Notes
    -----
    Nothing here rests on how many lags the grid has, and no unit is floored, capped or dropped in silence. Spectrum
    and envelope of one network share their units, so that they confirm each other's measurement and not the law: that
    takes several networks. The measured envelope averages the size of the transport over windows, which exp(-lag/tau)
    does not: fluctuating gates make the former decay more slowly.

    References
    ----------
    THEORY 4, 6.

    Examples
    --------
    >>> import numpy as np
    >>> import levycollapse as lc
    >>> tau = lc.Pareto(beta=0.6, tau_min=2.0).rvs(512, rng=2)
    >>> lags = np.geomspace(1.0, 400.0, 40)
    >>> found = lc.verdict(tau, (lags, lc.envelope(tau, lags)))
    >>> found.shape.shape.value, found.phase, [phase.name for phase in found.candidates]
    ('power', None, ['BROAD', 'COLLAPSED'])
    """
    if independent not in (None, True, False):
        raise ParameterError(f"independent={independent!r} must be True, False or None")
    tau, status = _spectrum(spectrum)
    shape = tail_shape(tau, status)
    fit = fit_spectrum(tau, status, level=level)
    evidence = [*_of_spectrum(shape, fit)]
    unresolved = [*_of_units(fit)]
    beta_spectrum = fit.beta if fit.status is SpectrumFitStatus.FITTED else NOTHING
    lags, curves = (np.empty(0), np.empty((0, 0))) if envelope is None else _envelope(envelope)
    mean = curves.mean(axis=0) if curves.size else np.empty(0)
    decay, beta_envelope = None, NOTHING
    if curves.size:
        positive = lags > 0
        decay = regime(lags[positive], curves[:, positive] if len(curves) > 1 else curves[0, positive], level=level)
        beta_envelope = decay.exponent if decay.regime is Regime.POWER else NOTHING
        same = _independent(spectrum, envelope) if independent is None else independent
        evidence += _of_envelope(decay, beta_spectrum, same)
        unresolved += _of_decay(decay, same)
    else:
        same = independent
        unresolved.append("no envelope was given")
    prediction, inside = _predicted(fit, lags, mean, rng)
    if prediction is not None:
        evidence.append(_of_prediction(prediction, inside))
    candidates = _candidates(shape, fit)
    agreement = None if model is None else _agreement(model, fit, tau, status)
    named = None
    if agreement is not None:
        evidence.append(_of_model(agreement))
        contradicted = agreement.p_value < 1.0 - level or (
            agreement.rate_inside is False and agreement.phase is not Phase.COLLAPSED
        )
        named = None if contradicted else agreement.phase
    else:
        unresolved.append(CAVEAT)
    return Verdict(
        headline=_headline(shape, fit, named),
        phase=named,
        candidates=candidates,
        evidence=tuple(evidence),
        unresolved=tuple(unresolved),
        shape=shape,
        fit=fit,
        decay=decay,
        beta_spectrum=beta_spectrum,
        beta_envelope=beta_envelope,
        independent=same,
        prediction=prediction,
        inside=inside,
        counts=fit.counts,
        model=agreement,
        lags=lags,
        f=mean,
    )


def _spectrum(spectrum: Any) -> tuple[Any, Any]:
    """Time scales and statuses; of censored units the bound."""
    if not hasattr(spectrum, "data_vars"):
        return spectrum, None
    for name in ("tau", "status"):
        if name not in spectrum:
            raise ParameterError(
                f"spectrum has no variable {name!r}; give a result of networks.timescales, or an array"
            )
    tau = np.array(spectrum["tau"].values, dtype=float)
    status = np.asarray(spectrum["status"].values)
    if "tau_low" in spectrum:
        late = np.array([item in (2, "CENSORED_LONG", "censored_long") for item in status.ravel().tolist()])
        tau[late.reshape(tau.shape)] = spectrum["tau_low"].values[late.reshape(tau.shape)]
    return tau, status


def _envelope(envelope: Any) -> tuple[FloatArray, FloatArray]:
    """Lags and curves, one row for each replicate."""
    if hasattr(envelope, "data_vars"):
        if "lag" not in envelope.coords or not ("f_mean" in envelope or "log_f_sequence" in envelope):
            raise ParameterError("envelope has no f_mean over lag; give a result of networks.envelope, or (lags, f)")
        lags = np.asarray(envelope["lag"].values, dtype=float)
        if "log_f_sequence" in envelope:
            # Sequences that are shorter than a lag say nothing there: the lags that all of them know.
            values = np.exp(envelope["log_f_sequence"].transpose(..., "lag").values)
            known = np.isfinite(values).all(axis=0)
            lags, values = lags[known], values[:, known]
        else:
            values = np.asarray(envelope["f_mean"].transpose(..., "lag").values, dtype=float)
    else:
        try:
            lags, values = envelope
        except (TypeError, ValueError):
            raise ParameterError("envelope must be a pair (lags, f) or a result of networks.envelope") from None
    at, curves = checked("lags", lags, NON_NEGATIVE), checked("f", values, NON_NEGATIVE)
    if at.ndim != 1 or curves.ndim not in (1, 2) or curves.shape[-1] != at.size or not curves.size:
        raise ParameterError(f"f must have shape (lags,) or (replicates, lags): lags {at.shape}, f {curves.shape}")
    return at, np.atleast_2d(curves)


def _independent(spectrum: Any, envelope: Any) -> bool | None:
    first, second = (getattr(item, "attrs", {}).get("inputs") for item in (spectrum, envelope))
    return None if first is None or second is None else set(first.split()).isdisjoint(second.split())


def _predicted(
    fit: SpectrumFit, lags: FloatArray, mean: FloatArray, rng: Any
) -> tuple[FiniteWidthEnvelope | None, float]:
    if fit.status is not SpectrumFitStatus.FITTED:
        return None, math.nan
    at = lags if lags.size else np.geomspace(1.0, REACH * max(fit.threshold, 1.0), LAGS)
    found = finite_width_envelope(fit.law, at, fit.n_units, quantiles=BAND, n_networks=NETWORKS, rng=rng)
    if not mean.size:
        return found, math.nan
    held = (mean >= found.quantiles[0]) & (mean <= found.quantiles[1])
    return found, float(held.mean())


def _agreement(model: CollapseModel, fit: SpectrumFit, tau: Any, status: Any) -> ModelAgreement:
    if not isinstance(model, CollapseModel):
        raise ParameterError(f"model={model!r} must be a CollapseModel")
    rate = float(model.tail.rate)
    known = fit.status is SpectrumFitStatus.FITTED and math.isfinite(rate)
    inside = bool(fit.beta.lower <= rate <= fit.beta.upper) if known else None
    distance, p_value = math.nan, math.nan
    values = np.asarray(tau, dtype=float)
    resolved = status is None or fit.counts[UnitStatus.RESOLVED.name] == values.size
    if resolved and values.size and model.phase is not Phase.NONSTATIONARY:
        zeta = -np.log(values)
        test = kstest(zeta, stationary_density(model).cdf)
        distance, p_value = float(test.statistic), float(test.pvalue)
    return ModelAgreement(Phase(model.phase), rate, inside, distance, p_value)


def _candidates(shape: TailShape, fit: SpectrumFit) -> tuple[Phase, ...]:
    if shape.shape is Shape.LIGHT:
        return Phase.COLLAPSED, Phase.CONFINED
    if fit.status is not SpectrumFitStatus.FITTED:
        return ()
    beta = fit.beta
    found = []
    if beta.lower < 1:
        found.append(Phase.BROAD)
    if beta.lower <= 1 <= beta.upper:
        found.append(Phase.CRITICAL)
    if beta.upper > 1:
        found.append(Phase.CONCENTRATED)
    found.append(Phase.COLLAPSED)
    if shape.shape is Shape.UNDECIDED:
        found.append(Phase.CONFINED)
    return tuple(found)


def _headline(shape: TailShape, fit: SpectrumFit, named: Phase | None) -> str:
    end = "" if named is None else f"; in the given model: {named.name.lower()}"
    if shape.shape is Shape.LIGHT:
        return "The spectrum is lighter than a power law" + end
    if fit.status is not SpectrumFitStatus.FITTED:
        return f"No tail index could be determined ({fit.status.value})" + end
    number = _interval(fit.beta)
    if shape.shape is Shape.UNDECIDED:
        return f"Whether the spectrum is a power law is undecided ({shape.reason}); its local index is {number}" + end
    if fit.beta.upper < 1:
        return f"A power-law spectrum with infinite mean time scale, beta = {number}" + end
    if fit.beta.lower > 1:
        return f"A power-law spectrum with finite mean time scale, beta = {number}" + end
    return f"A power-law spectrum, beta = {number}, whose mean time scale may or may not be finite" + end


def _of_spectrum(shape: TailShape, fit: SpectrumFit) -> list[str]:
    lines = [
        f"spectrum: {shape.shape.value} ({shape.reason}); upper {shape.k} of {shape.n_units} units"
        + (
            ""
            if math.isnan(shape.statistic)
            else f", p(log-normal) = {shape.p_lognormal:.2g}, p(Pareto) = {shape.p_power:.2g}"
        )
    ]
    if fit.status is SpectrumFitStatus.FITTED:
        lines.append(
            f"index of the spectrum above tau = {fit.threshold:.3g}: {_interval(fit.beta)} from {fit.k} units"
            + (f", {fit.n_censored} of them censored" if fit.n_censored else "")
        )
        cutoff = fit.cutoff
        if cutoff is not None and cutoff.likelihood_ratio > CUTOFF:
            lines.append(
                f"a cutoff near tau = {cutoff.tau_cut:.3g} explains the tail better; with it beta = "
                f"{_interval(cutoff.beta)}, and the index above is the local exponent only"
            )
    return lines


def _of_units(fit: SpectrumFit) -> list[str]:
    lines = []
    counts = fit.counts
    if fit.status is not SpectrumFitStatus.FITTED:
        lines.append(f"index of the spectrum: {fit.status.value}")
    elif fit.cutoff is not None and not fit.cutoff.separable:
        lines.append("beta cannot be told from a cutoff: an index of 0 with a cutoff explains the tail as well")
    if counts[UnitStatus.CENSORED_LONG.name]:
        lines.append(f"{counts[UnitStatus.CENSORED_LONG.name]} units are slower than could be measured")
    if counts[UnitStatus.BELOW_STEP.name]:
        lines.append(f"{counts[UnitStatus.BELOW_STEP.name]} units decay within one step")
    if counts[UnitStatus.GROWING.name]:
        lines.append(f"{counts[UnitStatus.GROWING.name]} units grow: they have no time scale and are left out")
    return lines


def _of_envelope(decay: RegimeResult, beta: Estimate, independent: bool | None) -> list[str]:
    lines = [f"envelope: {decay.regime.value} ({decay.reason})"]
    if not math.isnan(decay.exponent.value):
        first, last = decay.window
        text = f"local exponent of the envelope over lags {first:.3g} to {last:.3g}: {_interval(decay.exponent)}"
        if decay.n_replicates > 1:
            text += " (over sequences; for these units)"
        lines.append(text + ("" if decay.regime is Regime.POWER else ", which is no index"))
    known = decay.regime is Regime.POWER and math.isfinite(decay.exponent.lower) and math.isfinite(beta.lower)
    if known:
        overlap = decay.exponent.lower <= beta.upper and beta.lower <= decay.exponent.upper
        lines.append(f"the intervals of the two indices {'overlap' if overlap else 'do not overlap'}")
    if independent:
        lines.append("spectrum and envelope come from different sequences (but from the same units)")
    return lines


def _of_decay(decay: RegimeResult, independent: bool | None) -> list[str]:
    lines = []
    if decay.regime is Regime.UNDETERMINED:
        lines.append(f"regime of the envelope: {decay.reason}")
    if decay.n_replicates == 1:
        lines.append("the envelope is a single curve: its exponent has no interval")
    if independent is False:
        lines.append("spectrum and envelope share sequences: their agreement is no independent evidence")
    if independent is None:
        lines.append("whether spectrum and envelope come from the same sequences is not known")
    return lines


def _of_prediction(found: FiniteWidthEnvelope, inside: float) -> str:
    text = (
        f"networks of {found.width} units with this spectrum: largest time scale {found.largest.median:.3g} (median); "
        f"one network says nothing about the law's envelope beyond lag {found.crossover_lag:.3g}"
    )
    return (
        text
        if math.isnan(inside)
        else text + f"; the measured envelope is in their 90 % band at {inside:.0%} of the lags"
    )


def _of_model(found: ModelAgreement) -> str:
    text = f"model: {found.phase.name.lower()}, tail index {found.rate:.3g}"
    if found.rate_inside is not None:
        text += ", inside the spectrum's interval" if found.rate_inside else ", outside the spectrum's interval"
    if not math.isnan(found.p_value):
        text += f"; distance from the units {found.distance:.2g} (p = {found.p_value:.2g})"
    return text


def _interval(estimate: Estimate) -> str:
    if math.isnan(estimate.lower):
        return f"{estimate.value:.3g} (no interval)"
    return f"{estimate.value:.3g} [{estimate.lower:.3g}, {estimate.upper:.3g}]"


def _plain(item: Any) -> Any:
    """JSON's own types; None for what is no number."""
    if isinstance(item, dict):
        return {str(key): _plain(value) for key, value in item.items()}
    if isinstance(item, (list, tuple, np.ndarray)):
        return [_plain(value) for value in item]
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    if isinstance(item, (float, np.floating)):
        return float(item) if math.isfinite(item) else None
    return int(item) if isinstance(item, np.integer) else item
