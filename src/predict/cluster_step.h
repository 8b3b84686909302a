#pragma once

#include "job/job.h"
#include "predict/calibrated_law.h"
#include "predict/step.h"
#include "predict/worker_group.h"

namespace stint {

/// The iteration under a law. Forward and backward are stretched by what workers do to each other:
/// `crowding` without its straggling, which stands apart as a deviation that makes the slowest of n
/// workers as late as the law says. All gradients are one stream from the start of backward,
/// because the law was fitted so: playing buckets errs far more on the rows it was fitted to. Where
/// `plays_buckets` is chosen, those of the profile leave when they are ready, each with the latency
/// of one: to be simulated or drawn. What hides communication is the profile's own backward, not
/// the law's share. A cluster with a BucketLaw follows that alone, see bucket_setup.
StepSetup step_setup(const JobProfile& job, const Workers& cluster, const FabricLaw& fabric,
                     const JobLaw& own);

/// Deviation of the log of a time that comes from how compute times were had, not from the law:
/// carried over from another device, or beyond twice the largest batch measured.
double compute_deviation(const Workers& cluster, Seconds iteration);

/// What the busiest worker would take if nobody were beside it.
Seconds alone_time(const Workers& cluster);

/// What of that deviation the cost of communication makes, the job's own and that of a network
/// that was not measured: one of the independent parts that time_spread adds up.
double cost_deviation(const JobProfile& job, const CalibratedLaw& law, const KnownJob* known,
                      const Workers& cluster);

/// Deviations of the log of an iteration that is predicted to take `mean`: the law's (always by the
/// closed form of one stream), that of a network that was not measured, and compute_deviation. Null
/// is a job never seen.
LogSpread time_spread(const JobProfile& job, const CalibratedLaw& law, const KnownJob* known,
                      const Workers& cluster, Seconds mean);

}  // namespace stint
