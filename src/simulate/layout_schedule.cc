#include "simulate/layout_schedule.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

constexpr int kSteps = 4;  // Played; the last one no longer depends on the start.

enum class Axis { kActivation, kGradient };

/// What a worker does next.
struct Operation {
  enum class Kind { kCompute, kBegin, kWait, kSend, kReceive, kStep };
  Kind kind = Kind::kCompute;
  Seconds time = {};  // Of the computation, collective or transfer.
  int id = 0;         // Of a collective.
  Axis axis = Axis::kActivation;
  int number = 0;  // Of the micro-batch that is sent or received, counted over all steps.
};

/// The operations of one stage, in order.
class Program {
 public:
  Program(const LayoutScript& script, const Link& link, int stage)
      : script_(script), layout_(script.layout), link_(link), stage_(stage) {
    if (first()) units_.push_back({script.embedding, false});
    for (int i = 0; i < script.layers; ++i) units_.push_back({script.layer, true});
    if (last()) units_.push_back({script.head, false});
  }

  std::vector<Operation> make() {
    for (int step = 0; step < kSteps; ++step) add_step(step);
    return std::move(operations_);
  }

 private:
  /// Parameters that are gathered and reduced together.
  struct Unit {
    Bytes bytes;
    bool layer = true;  // Or an end of the model, which computes nothing.
    int gathering = 0;  // The collective under way, if any,
    int reducing = 0;
  };

  bool first() const { return stage_ == 0; }
  bool last() const { return stage_ == layout_.pipeline - 1; }

  Seconds all_reduce(Bytes bytes, int workers) const {
    return ring_allreduce_time(bytes, workers, link_);
  }

  void compute(Seconds time) { operations_.push_back({Operation::Kind::kCompute, time}); }

  int begin(Seconds time) {
    operations_.push_back({Operation::Kind::kBegin, time, ++ids_});
    return ids_;
  }

  void wait(int id) {
    if (id != 0) operations_.push_back({Operation::Kind::kWait, {}, id});
  }

  void gather(std::size_t index) {
    const bool gathers = layout_.zero == 3 && layout_.data > 1 && index < units_.size();
    if (!gathers || units_[index].gathering != 0) return;
    units_[index].gathering = begin(all_reduce(units_[index].bytes, layout_.data) / 2);
  }

  void have(std::size_t index) {
    gather(index);
    wait(std::exchange(units_[index].gathering, 0));
  }

  void reduce_tensor(double share) {
    if (layout_.tensor > 1) wait(begin(share * all_reduce(script_.activations, layout_.tensor)));
  }

  /// One pass over a layer: attention and feed-forward part, each with its collectives. With
  /// sequence parallelism each part gathers the sequence and scatters its sums.
  void pass(Seconds time) {
    for (int half = 0; half < 2; ++half) {
      if (layout_.sequence) reduce_tensor(0.5);
      compute(time / 2);
      reduce_tensor(1);
    }
  }

  void transfer(Operation::Kind kind, Axis axis, int number) {
    const Bytes bytes = script_.activations / (layout_.sequence ? layout_.tensor : 1);
    operations_.push_back({kind, bytes * link_.inverse_bandwidth + link_.latency, 0, axis, number});
  }

  void forward(int number) {
    if (!first()) transfer(Operation::Kind::kReceive, Axis::kActivation, number);
    for (std::size_t i = 0; i < units_.size(); ++i) {
      have(i);
      gather(i + 1);
      if (units_[i].layer) {
        pass(script_.forward);
      } else if (layout_.sequence && i > 0) {
        reduce_tensor(0.5);  // The head needs the whole sequence.
      }
    }
    if (!last()) transfer(Operation::Kind::kSend, Axis::kActivation, number);
  }

  void backward(int number, bool final) {
    if (!last()) transfer(Operation::Kind::kReceive, Axis::kGradient, number);
    for (std::size_t i = units_.size(); i-- > 0;) {
      Unit& unit = units_[i];
      have(i);
      if (i > 0) gather(i - 1);
      wait(std::exchange(unit.reducing, 0));
      if (unit.layer) {
        if (layout_.recompute == Recompute::kFull) pass(script_.forward);
        pass(script_.backward);
      } else if (layout_.sequence && i == 0) {
        reduce_tensor(0.5);  // The embedding of all tokens is updated.
      }
      const bool reduces = layout_.data > 1 && (final || layout_.zero >= 2);
      if (reduces) unit.reducing = begin(all_reduce(unit.bytes, layout_.data));
    }
    if (!first()) transfer(Operation::Kind::kSend, Axis::kGradient, number);
  }

  void add_step(int step) {
    const int count = script_.micro_batches;
    const int base = step * count;
    const int ahead = std::min(count, layout_.pipeline - stage_ - 1);
    for (int i = 0; i < ahead; ++i) forward(base + i);
    for (int i = ahead; i < count; ++i) {
      forward(base + i);
      backward(base + i - ahead, i - ahead == count - 1);
    }
    for (int i = count - ahead; i < count; ++i) backward(base + i, i == count - 1);
    finish();
  }

  void finish() {
    for (Unit& unit : units_) wait(std::exchange(unit.reducing, 0));
    compute(script_.update);
    if ((layout_.zero == 1 || layout_.zero == 2) && layout_.data > 1) {
      std::vector<int> pending;
      for (const Unit& unit : units_) {
        pending.push_back(begin(all_reduce(unit.bytes, layout_.data) / 2));
      }
      for (const int id : pending) wait(id);
    }
    operations_.push_back({Operation::Kind::kStep});
  }

  const LayoutScript& script_;
  const ParallelLayout& layout_;
  const Link& link_;
  int stage_;
  int ids_ = 0;
  std::vector<Unit> units_;
  std::vector<Operation> operations_;
};

/// A worker that runs its program.
struct Worker {
  std::vector<Operation> program;
  std::size_t next = 0;
  Seconds clock;
  Seconds nic;                  // Free from then on.
  std::map<int, Seconds> ends;  // Of collectives that were begun.
  std::vector<Seconds> steps;   // When each step ended.
};

/// When the transfers between stages were sent: (receiver, axis, number) → arrival.
using Arrivals = std::map<std::tuple<int, Axis, int>, Seconds>;

/// Runs one worker until it ends or waits for a transfer that nobody has sent yet. True when it
/// did something.
bool advance(Worker& it, int stage, Arrivals& arrivals) {
  bool moved = false;
  while (it.next < it.program.size()) {
    const Operation& now = it.program[it.next];
    switch (now.kind) {
      case Operation::Kind::kCompute:
        it.clock += now.time;
        break;
      case Operation::Kind::kBegin:
        it.nic = std::max(it.nic, it.clock) + now.time;
        it.ends[now.id] = it.nic;
        break;
      case Operation::Kind::kWait:
        it.clock = std::max(it.clock, it.ends[now.id]);
        it.ends.erase(now.id);
        break;
      case Operation::Kind::kSend: {
        it.nic = std::max(it.nic, it.clock) + now.time;
        const int to = now.axis == Axis::kActivation ? stage + 1 : stage - 1;
        arrivals[{to, now.axis, now.number}] = it.nic;
        break;
      }
      case Operation::Kind::kReceive: {
        const auto found = arrivals.find({stage, now.axis, now.number});
        if (found == arrivals.end()) return moved;
        it.clock = std::max(it.clock, found->second);
        arrivals.erase(found);
        break;
      }
      case Operation::Kind::kStep:
        it.steps.push_back(it.clock);
        break;
    }
    ++it.next;
    moved = true;
  }
  return moved;
}

}  // namespace

Seconds play_layout(const LayoutScript& script, const Link& link) {
  CHECK(script.layout.virtual_stages == 1);
  CHECK(script.layers >= 1);
  CHECK(script.micro_batches >= 1);
  std::vector<Worker> stages;
  for (int stage = 0; stage < script.layout.pipeline; ++stage) {
    stages.push_back({.program = Program(script, link, stage).make()});
  }
  Arrivals arrivals;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      moved = advance(stages[i], static_cast<int>(i), arrivals) || moved;
    }
  }
  Seconds longest;
  for (const Worker& it : stages) {
    CHECK(it.steps.size() == kSteps);
    longest = std::max(longest, it.steps[kSteps - 1] - it.steps[kSteps - 2]);
  }
  return longest;
}

}  // namespace stint
