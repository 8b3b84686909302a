#include "simulate/flow_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Equal flows may differ by rounding; changes this close, relatively, are one event. Otherwise a
// thousand flows that end together would be a thousand events.
constexpr double kTogether = 1e-12;

bool by_now(Seconds time, Seconds now) { return time - now <= kTogether * now; }

}  // namespace

FlowNetwork::ResourceId FlowNetwork::add_resource(BytesPerSecond capacity) {
  CHECK(capacity > BytesPerSecond{});
  resources_.push_back({.capacity = capacity});
  return resources_.size() - 1;
}

FlowNetwork::RouteId FlowNetwork::add_route(std::span<const Crossing> crossings) {
  for (const Crossing& crossing : crossings) {
    CHECK(crossing.resource < resources_.size());
    CHECK(crossing.share > 0);
  }
  routes_.push_back({.first = crossings_.size(), .count = crossings.size()});
  crossings_.insert(crossings_.end(), crossings.begin(), crossings.end());
  return routes_.size() - 1;
}

std::span<const FlowNetwork::Crossing> FlowNetwork::route(RouteId route) const {
  const Route& it = routes_[route];
  return std::span(crossings_).subspan(it.first, it.count);
}

FlowNetwork::FlowId FlowNetwork::start(Bytes bytes, Seconds latency, RouteId route, double weight) {
  CHECK(bytes >= Bytes{});
  CHECK(latency >= Seconds{});
  CHECK(route < routes_.size());
  CHECK(weight > 0);
  if (free_.empty()) {
    free_.push_back(flows_.size());
    flows_.emplace_back();
  }
  const FlowId id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  flow.left = bytes;
  flow.begin = now_ + latency;
  flow.rate = {};
  flow.route = route;
  flow.weight = weight;
  waiting_.push_back(id);
  if (next_) next_ = std::min(*next_, flow.begin);
  return id;
}

Seconds FlowNetwork::next_change() {
  share_out();
  if (!next_) {
    next_ = kInfinite * kSecond;
    for (const FlowId id : waiting_) next_ = std::min(*next_, flows_[id].begin);
    for (const FlowId id : moving_) next_ = std::min(*next_, flows_[id].end);
  }
  return std::max(*next_, now_);
}

std::span<const FlowNetwork::FlowId> FlowNetwork::advance(Seconds time) {
  CHECK(time >= now_);
  CHECK(time <= next_change());
  CHECK(std::isfinite(time.in(kSecond)));
  now_ = time;
  // Ids are released only now, so that none of the last answer is reused while it is read.
  free_.insert(free_.end(), ended_.rbegin(), ended_.rend());
  ended_.clear();
  const bool ended = end_flows();
  const bool begun = begin_flows();
  changed_ = changed_ || ended || begun;
  if (changed_) next_.reset();
  return ended_;
}

BytesPerSecond FlowNetwork::rate(FlowId flow) {
  CHECK(flow < flows_.size());
  share_out();
  return flows_[flow].rate;
}

bool FlowNetwork::end_flows() {
  std::erase_if(moving_, [&](FlowId id) {
    if (!by_now(flows_[id].end, now_)) return false;
    ended_.push_back(id);
    return true;
  });
  return !ended_.empty();
}

bool FlowNetwork::begin_flows() {
  const std::size_t before = moving_.size();
  std::erase_if(waiting_, [&](FlowId id) {
    if (!by_now(flows_[id].begin, now_)) return false;
    moving_.push_back(id);
    return true;
  });
  return moving_.size() > before;
}

/// Updates every moving flow and assigns its max–min fair rate.
void FlowNetwork::share_out() {
  if (!changed_) return;
  changed_ = false;
  for (const FlowId id : moving_) {
    Flow& flow = flows_[id];
    flow.left = std::max(Bytes{}, flow.left - flow.rate * (now_ - shared_at_));
  }
  shared_at_ = now_;
  open_resources();
  open_ = moving_.size();
  BytesPerSecond level;
  while (open_ > 0) {
    level = std::max(level, lowest_level());  // The level falls only by rounding.
    const std::size_t before = open_;
    if (std::isfinite(level.in(kByte / kSecond))) {
      settle_full(level);
    } else {
      for (const FlowId id : moving_) settle(flows_[id], level);
    }
    CHECK(open_ < before);
  }
}

/// Adds up the demand of the moving flows on each resource, and lists them by resource.
void FlowNetwork::open_resources() {
  touched_.clear();
  for (const FlowId id : moving_) {
    flows_[id].settled = false;
    for (const Crossing& crossing : route(flows_[id].route)) {
      Resource& resource = resources_[crossing.resource];
      if (resource.open == 0) {
        resource.left = resource.capacity;
        resource.load = 0;
        touched_.push_back(crossing.resource);
      }
      resource.load += flows_[id].weight * crossing.share;
      ++resource.open;
    }
  }
  std::size_t next = 0;
  for (const ResourceId id : touched_) {
    resources_[id].first = resources_[id].last = next;
    next += resources_[id].open;
  }
  users_.resize(next);
  for (const FlowId id : moving_) {
    for (const Crossing& crossing : route(flows_[id].route)) {
      users_[resources_[crossing.resource].last++] = id;
    }
  }
}

/// The common rate at which the open flows fill the first resources; marks those.
BytesPerSecond FlowNetwork::lowest_level() {
  std::erase_if(touched_, [&](ResourceId id) { return resources_[id].open == 0; });
  BytesPerSecond level = kInfinite * (kByte / kSecond);
  for (const ResourceId id : touched_) {
    level = std::min(level, resources_[id].left / resources_[id].load);
  }
  for (const ResourceId id : touched_) {
    Resource& resource = resources_[id];
    resource.full = resource.left / resource.load <= (1 + kTogether) * level;
  }
  return level;
}

/// Assigns the rate to all flows that cross a full resource.
void FlowNetwork::settle_full(BytesPerSecond level) {
  for (const ResourceId id : touched_) {
    const Resource& resource = resources_[id];
    if (!resource.full) continue;
    for (std::size_t i = resource.first; i < resource.last; ++i) settle(flows_[users_[i]], level);
  }
}

/// Assigns the flow its rate, which may be infinite, unless it has one.
void FlowNetwork::settle(Flow& flow, BytesPerSecond level) {
  if (flow.settled) return;
  flow.settled = true;
  --open_;
  flow.rate = flow.weight * level;
  const bool bound = std::isfinite(level.in(kByte / kSecond));
  flow.end = bound ? now_ + flow.left / flow.rate : now_;
  for (const Crossing& crossing : route(flow.route)) {
    Resource& resource = resources_[crossing.resource];
    --resource.open;
    if (!bound) continue;
    resource.left = std::max(BytesPerSecond{}, resource.left - crossing.share * flow.rate);
    resource.load -= flow.weight * crossing.share;
  }
}

}  // namespace stint
