#include "predict/collective.h"

#include <algorithm>

#include "base/check.h"

namespace stint {

Seconds ring_allreduce_time(Bytes payload, int workers, const Link& link) {
  CHECK(workers >= 1);
  const double steps = 2.0 * (workers - 1);
  return steps * (link.latency + payload / workers * link.inverse_bandwidth);
}

Seconds hierarchical_allreduce_time(Bytes payload, const Hierarchy& cluster) {
  CHECK(cluster.vms >= 1);
  // A ring inside is a reduce-scatter and an all-gather, the two ends of the hierarchy.
  return ring_allreduce_time(payload, cluster.workers_per_vm, cluster.inside) +
         ring_allreduce_time(payload, cluster.vms, cluster.between);
}

Seconds parameter_server_time(Bytes payload, int workers, int servers, const Link& link) {
  CHECK(workers >= 1);
  CHECK(servers >= 1);
  const double load = std::max(1.0, static_cast<double>(workers) / servers);
  return 2.0 * (load * (payload * link.inverse_bandwidth) + link.latency);
}

Seconds top_k_time(Bytes payload, int workers, const Link& link, const Sparsification& sparse) {
  CHECK(workers >= 1);
  CHECK(sparse.density > 0);
  CHECK(sparse.density <= 1);
  if (workers == 1) return Seconds{};
  const Bytes sent = sparse.density * (1 + sparse.index_bytes_per_value) * payload;
  const double others = workers - 1;
  return others * (sent * link.inverse_bandwidth + link.latency) + sparse.selection;
}

}  // namespace stint
