#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.h"
#include "simulate/collective_flows.h"
#include "simulate/flow_network.h"

namespace stint {

/// Reductions of the buckets of one or several jobs as flows over one network, event by event.
/// When a bucket may leave is up to whoever drives it. Same calls, same answers.
class ReductionFlows {
 public:
  using JobId = std::size_t;

  /// A bucket that has reached everybody.
  struct Arrival {
    JobId job = 0;
    std::size_t bucket = 0;
  };

  /// To add links and routes to.
  FlowNetwork& network() { return network_; }

  /// Adds a job whose buckets take these `chains`, of which there is at least one.
  JobId add_job(std::vector<Chain> chains);

  /// Sends a bucket on its way; `bucket` is what its arrival will be called by, and its flows have
  /// this weight among others.
  void start(JobId job, std::size_t bucket, Bytes bytes, double weight = 1);

  /// Buckets of the job that are on their way.
  int flying(JobId job) const { return jobs_[job].flying; }

  Seconds now() const { return network_.now(); }
  Seconds next_change() { return network_.next_change(); }

  /// Moves on to `time` and returns the buckets that arrived there; valid until the next call.
  /// Requires now() ≤ time ≤ next_change().
  std::span<const Arrival> advance(Seconds time);

 private:
  struct Job {
    std::vector<Chain> chains;  // Of any bucket.
    int flying = 0;
  };
  /// A bucket on its way.
  struct Flight {
    JobId job = 0;
    std::size_t bucket = 0;
    Bytes bytes;
    double weight = 1;
    std::size_t chains = 0;  // That have not ended.
  };
  /// One chain of it.
  struct Playing {
    std::size_t flight = 0;
    std::size_t chain = 0;
    std::size_t stage = 0;
    std::size_t flows = 0;  // Of the stage, that have not ended.
  };
  /// Things by number; numbers are used again.
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
  std::vector<std::size_t> owner_;  // Of each flow, in playing_.
  std::vector<Arrival> arrivals_;
};

}  // namespace stint
