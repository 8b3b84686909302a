#include "predict/scaling_law.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stint {

Seconds wire_time(const ScalingTraffic& traffic, double samples, const ScalingWires& wires) {
  CHECK(wires.network > BytesPerSecond{});
  CHECK(wires.degree >= 1);
  const double held = std::min(1.0, wires.workers_per_vm / wires.degree);
  const Bytes exchanged =
      held * traffic.synchronised + samples * wires.workers_per_vm * traffic.per_sample;
  return exchanged / wires.network;
}

Seconds scaled_step_time(const ScalingLaw& law, const ScalingSetup& setup) {
  CHECK(setup.workers >= 1);
  CHECK(setup.vms >= 1);
  const Seconds alone = (setup.samples + law.floor * setup.micro_steps) * law.per_sample;
  if (setup.vms == 1) return alone;
  const double doublings = std::log2(setup.vms);
  const double turns = 1 - 1.0 / setup.workers;
  return (1 + law.crossing + law.growth * doublings) * alone +
         law.exposed * turns * (1 + law.wire_growth * doublings) * setup.wire;
}

}  // namespace stint
