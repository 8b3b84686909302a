#pragma once

#include <string>

#include "calibrate/law_fit.h"
#include "plan/calibration.h"

namespace stint {

/// A fitted law as a document, without name, date, data and accuracy. Its constants are, by scope:
///
///   fabric    each number of FabricLaw
///   job       how far jobs lie from the population (prior_deviation)
///   noise     noise_floor, noise_exposed, dispersion, and the widths of intervals of unseen jobs
///   job:NAME  each number of that job's law, its noise over the population's, its gradient bytes
///   fabric_reference  the network that the costs are stated for
///
/// Units are those of `priors`, the document the fit began with.
Calibration to_calibration(const FittedLaw& law, const Calibration& priors,
                           BytesPerSecond reference);

}  // namespace stint
