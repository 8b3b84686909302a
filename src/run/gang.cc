#include "run/gang.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "base/text.h"
#include "supervise/run_terms.h"

namespace stint {
namespace {

constexpr std::int64_t kIntegerEnd = std::int64_t{1} << 53;

}  // namespace

std::optional<double> number_in(const Json& facts, const char* name) {
  const Json* member = facts.find(name);
  if (member == nullptr) return std::nullopt;
  if (const double* real = member->as<double>()) return *real;
  const std::int64_t* whole = member->as<std::int64_t>();
  if (whole == nullptr) return std::nullopt;
  return static_cast<double>(*whole);
}

std::optional<std::int64_t> integer_in(const Json& facts, const char* name) {
  const Json* member = facts.find(name);
  const std::int64_t* whole = member == nullptr ? nullptr : member->as<std::int64_t>();
  if (whole == nullptr || *whole <= -kIntegerEnd || *whole >= kIntegerEnd) return std::nullopt;
  return *whole;
}

namespace {

Seconds time_in(const Json& facts, const char* name) {
  return std::max(0.0, number_in(facts, name).value_or(0)) * kSecond;
}

}  // namespace

Gang::Gang(int attempt, std::vector<Seat> seats, std::vector<int> shares)
    : attempt_(attempt), seats_(std::move(seats)), shares_(std::move(shares)) {}

bool Gang::has(Seat seat) const { return std::count(seats_.begin(), seats_.end(), seat) > 0; }

void Gang::expect_save(std::int64_t step) {
  saving_ = step;
  shards_.clear();
  save_ = {};
}

GangNews Gang::hear(Seat seat, const std::string& kind, const Json& facts) {
  if (!has(seat) || integer_in(facts, "attempt") != attempt_) return {};
  if (kind == "training") return on_training(seat, facts);
  if (kind == "step") return on_step(seat, facts);
  if (kind == "saved") return on_saved(facts);
  if (kind == "counted") return on_counted(seat, facts);
  if (kind == "save_failed" && saving_) {
    saving_.reset();
    const Json* reason = facts.find("reason");
    const std::string* text = reason == nullptr ? nullptr : reason->as<std::string>();
    return {.save_failed = text == nullptr ? "no reason given" : printable(*text)};
  }
  return {};
}

GangNews Gang::on_training(Seat seat, const Json& facts) {
  const auto step = integer_in(facts, "step");
  if (training() || !step || !begun_.insert(seat).second) return {};
  reached_ = std::max(reached_, *step);
  if (!training()) return {};
  return {.training_after = reached_, .progress = number_in(facts, "progress")};
}

std::optional<std::string> Gang::check_samples(Seat seat, const Json& facts) {
  const auto seen = integer_in(facts, "samples");
  const auto rank = std::find(seats_.begin(), seats_.end(), seat) - seats_.begin();
  const int share = shares_[static_cast<std::size_t>(rank)];
  if (!seen || *seen == share || !told_.insert(seat).second) return std::nullopt;
  return fmt::format(
      "The script on {} trained on {} samples per step instead of {}: it does not take its batch "
      "from step.micro_batches(), so speed and result differ from the plan.",
      vm_name(seat.vm), *seen, share);
}

GangNews Gang::on_step(Seat seat, const Json& facts) {
  const auto number = integer_in(facts, "number");
  if (!number || *number < 1) return {};
  reached_ = std::max(reached_, *number);
  GangNews news{.complaint = check_samples(seat, facts)};
  Reports& reports = reports_[*number];
  if (!reports.from.insert(seat).second) return news;
  reports.time = std::max(reports.time, time_in(facts, "time_s"));
  const auto loss = number_in(facts, "loss");
  reports.loss = reports.loss && loss ? std::optional(*reports.loss + *loss) : std::nullopt;
  reports.step.progress = number_in(facts, "progress");
  const auto square = number_in(facts, "local_square");
  const auto samples = number_in(facts, "local_batch");
  if (square && samples) reports.step.squares.push_back({.samples = *samples, .square = *square});
  if (const auto mean = number_in(facts, "mean_square")) reports.step.mean_square = mean;
  if (reports.from.size() < seats_.size()) return news;
  news.step = std::move(reports.step);
  news.step->number = *number;
  news.step->time = reports.time;
  news.step->loss = reports.loss;
  reports_.erase(reports_.begin(), reports_.upper_bound(*number));
  return news;
}

/// Workers of a plain script report their number of steps from time to time; the slowest counts.
GangNews Gang::on_counted(Seat seat, const Json& facts) {
  const auto steps = integer_in(facts, "steps");
  const auto base = integer_in(facts, "base");
  if (!steps || *steps < 1 || !base || *base < 0 || *steps < counted_[seat]) return {};
  counted_[seat] = *steps;
  GangNews news;
  if (begun_.insert(seat).second) {
    base_ = std::max(base_, *base);
    if (training()) news.training_after = base_;
  }
  if (!training()) return news;
  std::int64_t slowest = *steps;
  for (const auto& entry : counted_) slowest = std::min(slowest, entry.second);
  if (base_ + slowest <= reached_) return news;
  reached_ = base_ + slowest;
  news.step = GangStep{.number = reached_, .time = time_in(facts, "time_s")};
  return news;
}

GangNews Gang::on_saved(const Json& facts) {
  const auto step = integer_in(facts, "step");
  const auto number = integer_in(facts, "shard");
  const auto bytes = integer_in(facts, "bytes");
  const auto checksum = integer_in(facts, "checksum");
  if (!saving_ || step != saving_ || !number || !bytes || !checksum) return {};
  if (*number < 0 || *number >= static_cast<std::int64_t>(seats_.size())) return {};
  if (*bytes < 0 || *checksum < 0 || *checksum > std::numeric_limits<std::uint32_t>::max())
    return {};
  // Workers in lockstep have the same state; shards of different states do not form a checkpoint.
  const std::pair state(integer_in(facts, "whole"), integer_in(facts, "layout"));
  if (shards_.empty()) state_ = state;
  if (state != state_) {
    saving_.reset();
    return {.save_failed = "the workers have states of different structure"};
  }
  shards_[static_cast<int>(*number)] = {.number = static_cast<int>(*number),
                                        .bytes = *bytes,
                                        .checksum = static_cast<std::uint32_t>(*checksum)};
  save_.stall = std::max(save_.stall, time_in(facts, "stall_s"));
  save_.transfer = std::max(save_.transfer, time_in(facts, "transfer_s"));
  if (shards_.size() < seats_.size()) return {};
  save_.checkpoint.step = *step;
  for (const auto& shard : shards_) {
    save_.checkpoint.bytes += shard.second.bytes;
    save_.checkpoint.shards.push_back(shard.second);
  }
  saving_.reset();
  return {.saved = std::move(save_)};
}

}  // namespace stint
