#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.h"
#include "simulate/collective_flows.h"
#include "simulate/flow_network.h"

namespace stint {

/// All-reduces of the buckets of one or several jobs as flows over one network, event by event. The
/// caller decides when a bucket is sent. The results are deterministic.
class ReductionFlows {
 public:
  using JobId = std::size_t;

  /// A bucket that has arrived at all workers.
  struct Arrival {
    JobId job = 0;
    std::size_t bucket = 0;
  };

  /// For adding links and routes.
  FlowNetwork& network() { return network_; }

  /// Adds a job whose buckets take these `chains`, at least one.
  JobId add_job(std::vector<Chain> chains);

  /// Sends a bucket; `bucket` identifies its arrival, and its flows have this weight among others.
  void start(JobId job, std::size_t bucket, Bytes bytes, double weight = 1);

  /// Number of the job's buckets in transfer.
  int flying(JobId job) const { return jobs_[job].flying; }

  Seconds now() const { return network_.now(); }
  Seconds next_change() { return network_.next_change(); }

  /// Advances to `time` and returns the buckets that arrived there; valid until the next call.
  /// Requires now() ≤ time ≤ next_change().
  std::span<const Arrival> advance(Seconds time);

 private:
  struct Job {
    std::vector<Chain> chains;  // Chains of each bucket.
    int flying = 0;
  };
  /// A bucket in transfer.
  struct Flight {
    JobId job = 0;
    std::size_t bucket = 0;
    Bytes bytes;
    double weight = 1;
    std::size_t chains = 0;  // Number that have not ended.
  };
  /// One chain of a bucket.
  struct Playing {
    std::size_t flight = 0;
    std::size_t chain = 0;
    std::size_t stage = 0;
    std::size_t flows = 0;  // Flows of the stage that have not ended.
  };
  /// Objects by number; numbers are reused.
  template <class T>
  struct Pool {
    std::vector<T> items;
    std::vector<std::size_t> free;

    std::size_t add(T item);
    void remove(std::size_t index) { free.push_back(index); }
  };

  void start_stage(std::size_t index);
  void end(FlowNetwork::FlowId flow);

  FlowNetwork network_;
  std::vector<Job> jobs_;
  Pool<Flight> flights_;
  Pool<Playing> playing_;
  std::vector<std::size_t> owner_;  // Index in playing_ of each flow.
  std::vector<Arrival> arrivals_;
};

}  // namespace stint
