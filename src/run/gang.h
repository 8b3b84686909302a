#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/units.h"
#include "checkpoint/checkpoint_files.h"
#include "run/seat.h"

namespace stint {

/// A number of a worker's message; absent where there is none. Whole numbers from 2^53 on, which no
/// count reaches, are none, so that sums of some do not overflow.
std::optional<double> number_in(const Json& facts, const char* name);
std::optional<std::int64_t> integer_in(const Json& facts, const char* name);

/// The squared norm of a mean gradient.
struct GradientSquare {
  double samples = 1;  // Number of samples of the mean.
  double square = 0;
};

/// A step that all workers of a gang have done.
struct GangStep {
  std::int64_t number = 0;
  Seconds time;                     // Time of the slowest worker.
  std::optional<double> loss = {};  // Loss of the global batch; absent: one worker reported none.
  std::optional<double> progress = {};  // In steps at the run's own batch, where workers count it.
  std::vector<GradientSquare> squares = {};  // Of single workers, where they were measured,
  std::optional<double> mean_square = {};    // and of the gradient of all workers.
};

/// A checkpoint whose shards are all stored, ready to be acknowledged.
struct GangSave {
  Checkpoint checkpoint;
  Seconds stall;     // Longest stall of a worker.
  Seconds transfer;  // Transfer time of the last shard.
};

/// The combined result of all workers.
struct GangNews {
  std::optional<std::int64_t> training_after = {};  // All have begun, after this step,
  std::optional<double> progress = {};              // and this progress, where workers count it.
  std::optional<GangStep> step = {};
  std::optional<GangSave> saved = {};
  std::optional<std::string> save_failed = {};
  std::optional<std::string> complaint = {};  // A whole sentence.
};

/// The workers that train together: combines their messages. See stint/control.py for the messages.
class Gang {
 public:
  Gang() = default;

  /// The seats by rank, and the samples of a step of each worker.
  Gang(int attempt, std::vector<Seat> seats, std::vector<int> shares);

  /// A checkpoint of this step was ordered.
  void expect_save(std::int64_t step);

  GangNews hear(Seat seat, const std::string& kind, const Json& facts);

  int attempt() const { return attempt_; }
  const std::vector<Seat>& seats() const { return seats_; }
  bool has(Seat seat) const;
  bool training() const { return !seats_.empty() && begun_.size() == seats_.size(); }
  std::int64_t reached() const { return reached_; }  // The latest step that any worker reported.

 private:
  struct Reports {
    std::set<Seat> from = {};
    Seconds time = {};
    std::optional<double> loss = 0;
    GangStep step = {};  // The other fields of the step.
  };

  GangNews on_training(Seat seat, const Json& facts);
  GangNews on_step(Seat seat, const Json& facts);
  GangNews on_saved(const Json& facts);
  GangNews on_counted(Seat seat, const Json& facts);
  std::optional<std::string> check_samples(Seat seat, const Json& facts);

  int attempt_ = 0;
  std::vector<Seat> seats_;
  std::vector<int> shares_;
  std::set<Seat> begun_;
  std::map<std::int64_t, Reports> reports_;
  std::int64_t reached_ = 0;
  std::optional<std::int64_t> saving_;
  std::map<int, CheckpointShard> shards_;
  std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> state_;  // Size and layout.
  GangSave save_;
  std::map<Seat, std::int64_t> counted_;  // Steps that the workers of a plain script made,
  std::int64_t base_ = 0;                 // after those of the checkpoint that any of them loaded.
  std::set<Seat> told_;                   // Workers whose wrong samples were reported.
};

}  // namespace stint
