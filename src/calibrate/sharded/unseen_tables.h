#pragma once

#include "base/result.h"
#include "calibrate/sharded/sharded_fit.h"

namespace stint {

/// How far trainings are from a law that was fitted to those of other people: what a plan for a
/// model without a measurement of its own can expect.
struct UnseenTables {
  double mean = 0;    // Of ln(measured / predicted), tables counting equally.
  double spread = 0;  // Deviation of a normal distribution whose 80 % interval covers 80 % of it.
  int tables = 0;
};

/// Holds out the tables of each publisher in turn (those whose names begin with the same word).
/// Rows with odd placements do not count, since plans have none. `near` is the fit of all `rows`.
/// Nothing is learned from fewer than two publishers: then `tables` is 0.
Result<UnseenTables> unseen_tables(const CasePointers& rows, const ShardedStepModel& near);

}  // namespace stint
