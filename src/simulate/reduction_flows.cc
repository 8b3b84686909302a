#include "simulate/reduction_flows.h"

#include <utility>

#include "base/check.h"

namespace stint {

template <class T>
std::size_t ReductionFlows::Pool<T>::add(T item) {
  if (free.empty()) {
    items.push_back(item);
    return items.size() - 1;
  }
  const std::size_t index = free.back();
  free.pop_back();
  items[index] = item;
  return index;
}

ReductionFlows::JobId ReductionFlows::add_job(std::vector<Chain> chains) {
  CHECK(!chains.empty());
  jobs_.push_back({.chains = std::move(chains)});
  return jobs_.size() - 1;
}

void ReductionFlows::start(JobId job, std::size_t bucket, Bytes bytes, double weight) {
  CHECK(job < jobs_.size());
  ++jobs_[job].flying;
  const std::size_t chains = jobs_[job].chains.size();
  const std::size_t flight = flights_.add(
      {.job = job, .bucket = bucket, .bytes = bytes, .weight = weight, .chains = chains});
  for (std::size_t chain = 0; chain < chains; ++chain) {
    start_stage(playing_.add({.flight = flight, .chain = chain}));
  }
}

std::span<const ReductionFlows::Arrival> ReductionFlows::advance(Seconds time) {
  arrivals_.clear();
  for (const FlowNetwork::FlowId flow : network_.advance(time)) end(flow);
  return arrivals_;
}

void ReductionFlows::start_stage(std::size_t index) {
  Playing& it = playing_.items[index];
  const Flight& flight = flights_.items[it.flight];
  const Stage& stage = jobs_[flight.job].chains[it.chain][it.stage];
  it.flows = stage.size();
  for (const Send& send : stage) {
    const auto flow =
        network_.start(send.size * flight.bytes, send.latency, send.route, flight.weight);
    if (flow >= owner_.size()) owner_.resize(flow + 1);
    owner_[flow] = index;
  }
}

void ReductionFlows::end(FlowNetwork::FlowId flow) {
  const std::size_t index = owner_[flow];
  Playing& it = playing_.items[index];
  if (--it.flows > 0) return;
  Flight& flight = flights_.items[it.flight];
  Job& job = jobs_[flight.job];
  if (++it.stage < job.chains[it.chain].size()) return start_stage(index);
  playing_.remove(index);
  if (--flight.chains > 0) return;
  --job.flying;
  arrivals_.push_back({.job = flight.job, .bucket = flight.bucket});
  flights_.remove(it.flight);
}

}  // namespace stint
