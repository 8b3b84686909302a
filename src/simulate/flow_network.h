#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace stint {

/// An event-driven simulation of flows of bytes through shared resources: NICs, and links inside
/// VMs.
///
/// Between two events each flow moves at a constant rate. Rates over weights are max–min fair: none
/// can grow without shrinking one that is not larger. They come from progressive filling (Bertsekas
/// and Gallager, Data Networks, 1992, §6.5): all rates grow together until a resource is full,
/// which settles the flows that cross it; the others continue to grow.
///
/// Time advances only in `advance`, so that the caller can start flows of several jobs in between.
/// The results are deterministic. Not for several threads at once.
class FlowNetwork {
 public:
  using ResourceId = std::size_t;
  using FlowId = std::size_t;  // Reused after the `advance` that follows its end.

  using RouteId = std::size_t;

  /// A resource on a route.
  struct Crossing {
    ResourceId resource = 0;
    double share = 1;  // Bytes through the resource per byte of the flow.
  };

  /// Adds a resource of this capacity, which may be infinite. Requires capacity > 0.
  ResourceId add_resource(BytesPerSecond capacity);

  /// Adds a route. Requires known resources, each at most once and with a share above zero.
  RouteId add_route(std::span<const Crossing> crossings);
  std::span<const Crossing> route(RouteId route) const;

  /// Starts a flow whose bytes begin to move after `latency`. An unlimited flow arrives at once.
  /// Requires bytes ≥ 0, latency ≥ 0, a known route and a weight above zero.
  FlowId start(Bytes bytes, Seconds latency, RouteId route, double weight = 1);

  Seconds now() const { return now_; }

  /// The time at which a flow next begins to move or ends, if no other is started; infinite without
  /// flows.
  Seconds next_change();

  /// Advances to `time` and returns the flows that ended there, in the order in which they began to
  /// move; valid until the next call. Requires now() ≤ time ≤ next_change().
  std::span<const FlowId> advance(Seconds time);

  /// The current rate of a flow: zero before its bytes move.
  BytesPerSecond rate(FlowId flow);

 private:
  struct Resource {
    BytesPerSecond capacity;
    // While rates are computed:
    BytesPerSecond left;    // Capacity left beside the settled flows.
    double load = 0;        // Sum of the weighted shares of the flows that are not settled.
    std::size_t open = 0;   // Number of those flows.
    std::size_t first = 0;  // First of the flows that cross it, in users_.
    std::size_t last = 0;   // One past the last.
    bool full = false;
  };
  struct Flow {
    Bytes left;
    Seconds begin;  // When its bytes begin to move.
    Seconds end;    // End at the current rate.
    BytesPerSecond rate;
    RouteId route = 0;
    double weight = 1;
    bool settled = false;  // While rates are computed.
  };
  struct Route {
    std::size_t first = 0;  // In crossings_.
    std::size_t count = 0;
  };

  void share_out();
  void open_resources();
  BytesPerSecond lowest_level();
  void settle_full(BytesPerSecond level);
  void settle(Flow& flow, BytesPerSecond level);
  bool end_flows();
  bool begin_flows();

  std::vector<Resource> resources_;
  std::vector<Crossing> crossings_;  // Of all routes, one after the other.
  std::vector<Route> routes_;
  std::vector<Flow> flows_;  // By id.
  std::vector<FlowId> free_;
  std::vector<FlowId> waiting_;  // Flows whose latency lasts, in the order of their start.
  std::vector<FlowId> moving_;
  std::vector<FlowId> ended_;
  // For share_out:
  std::vector<ResourceId> touched_;  // Resources that open flows cross.
  std::vector<FlowId> users_;        // Flows of each resource, one resource after the other.
  std::size_t open_ = 0;             // Flows that are not settled.

  Seconds now_;
  Seconds shared_at_;            // Time at which `left` was last updated.
  std::optional<Seconds> next_;  // Time of the next change, once it was computed.
  bool changed_ = false;         // Whether rates must be recomputed.
};

}  // namespace stint
