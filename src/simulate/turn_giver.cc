#include "simulate/turn_giver.h"

#include <algorithm>

#include "base/check.h"

namespace stint {

TurnGiver::TurnGiver(TurnOrder order, std::span<const int> turns)
    : order_(order), gone_(turns.size(), false) {
  for (std::size_t job = 0; job < turns.size(); ++job) {
    CHECK(turns[job] >= 1);
    rhythm_.insert(rhythm_.end(), static_cast<std::size_t>(turns[job]), job);
  }
}

bool TurnGiver::waits(std::size_t job) const {
  return std::find(waiting_.begin(), waiting_.end(), job) != waiting_.end();
}

void TurnGiver::want(std::size_t job) {
  CHECK(job < gone_.size());
  CHECK(!gone_[job]);
  CHECK(!waits(job));
  waiting_.push_back(job);
}

void TurnGiver::leave(std::size_t job) {
  CHECK(!waits(job));
  gone_[job] = true;
}

std::optional<std::size_t> TurnGiver::take(std::size_t job) {
  std::erase(waiting_, job);
  return job;
}

std::optional<std::size_t> TurnGiver::next() {
  if (waiting_.empty()) return std::nullopt;
  switch (order_) {
    case TurnOrder::kRhythm:
      return next_in_rhythm();
    case TurnOrder::kFirstCome:
      return take(waiting_.front());
    case TurnOrder::kSlices:
      return next_in_circle();
  }
  CHECK(false);
}

std::optional<std::size_t> TurnGiver::next_in_rhythm() {
  // A job waits, so that not all have left.
  while (gone_[rhythm_[place_]]) place_ = (place_ + 1) % rhythm_.size();
  const std::size_t job = rhythm_[place_];
  if (!waits(job)) return std::nullopt;
  place_ = (place_ + 1) % rhythm_.size();
  return take(job);
}

std::optional<std::size_t> TurnGiver::next_in_circle() {
  while (!waits(place_)) place_ = (place_ + 1) % gone_.size();
  const std::size_t job = place_;
  place_ = (place_ + 1) % gone_.size();
  return take(job);
}

}  // namespace stint
