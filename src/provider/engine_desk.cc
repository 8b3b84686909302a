#include "provider/engine_desk.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stint {

Seconds EnginePace::pause_after(int failures) const {
  return std::min(pause_max, pause_min * std::exp2(std::clamp(failures - 1, 0, 20)));
}

void EngineDesk::request(const MachineOrder& order) {
  if (!releases_.contains(order.name)) orders_.try_emplace(order.name, Order{.order = order});
}

void EngineDesk::release(const std::string& name) {
  orders_.erase(name);
  releases_.try_emplace(name);
}

std::optional<EngineCall> EngineDesk::next(EngineLane lane, Seconds now) {
  const auto due_at = due(lane);
  if (!due_at || *due_at > now) return std::nullopt;
  if (lane == EngineLane::kLooks) {
    looking_ = true;
    look_began_ = now;
    return EngineCall{.ask = EngineAsk::kLook};
  }
  for (const auto& [name, release] : releases_) {
    if (release.accepted_at || release.due > now) continue;
    ordering_ = EngineCall{.ask = EngineAsk::kRelease, .order = {.name = name}};
    return ordering_;
  }
  for (const auto& [name, order] : orders_) {
    if (order.due > now) continue;
    ordering_ = EngineCall{.ask = EngineAsk::kRequest, .order = order.order};
    return ordering_;
  }
  return std::nullopt;
}

std::optional<Seconds> EngineDesk::due(EngineLane lane) const {
  if (lane == EngineLane::kLooks) return looking_ ? std::nullopt : std::optional(look_due_);
  if (ordering_) return std::nullopt;
  std::optional<Seconds> first;
  const auto add = [&](Seconds due) { first = first ? std::min(*first, due) : due; };
  for (const auto& entry : orders_) add(entry.second.due);
  for (const auto& entry : releases_) {
    if (!entry.second.accepted_at) add(entry.second.due);
  }
  return first;
}

void EngineDesk::answered(EngineLane lane, EngineAnswer answer, Seconds now) {
  if (lane == EngineLane::kLooks) return on_look(std::move(answer), now);
  if (!ordering_) return;
  if (ordering_->ask == EngineAsk::kRelease) {
    on_release(answer, now);
  } else {
    on_request(std::move(answer), now);
  }
  ordering_.reset();
}

void EngineDesk::on_release(const EngineAnswer& answer, Seconds now) {
  Release& release = releases_[ordering_->order.name];
  if (answer.error) {
    release.reason = *answer.error;
    release.due = now + pace_.pause_after(++release.failures);
  } else {
    release.accepted_at = now;
    look_due_ = std::min(look_due_, now);
  }
}

void EngineDesk::on_request(EngineAnswer answer, Seconds now) {
  const auto found = orders_.find(ordering_->order.name);
  if (found == orders_.end()) return;  // It was withdrawn meanwhile.
  if (answer.error) {
    found->second.due = now + pace_.pause_after(++found->second.failures);
    return;
  }
  if (answer.refusal) news_.refused.push_back(std::move(*answer.refusal));
  look_due_ = std::min(look_due_, now);
  orders_.erase(found);
}

void EngineDesk::on_look(EngineAnswer answer, Seconds now) {
  looking_ = false;
  if (answer.error || !answer.list) {
    const int failures = news_.trouble ? news_.trouble->failures + 1 : 1;
    news_.trouble = EngineTrouble{failed(answer.error.value_or("no answer")), failures};
    look_due_ = now + pace_.pause_after(failures);
    return;
  }
  news_.trouble.reset();
  look_due_ = look_began_ + pace_.look;
  std::erase_if(releases_, [&](const auto& entry) {
    if (!entry.second.accepted_at || *entry.second.accepted_at > look_began_) return false;
    return std::none_of(answer.list->machines.begin(), answer.list->machines.end(),
                        [&](const MachineState& it) {
                          return it.name == entry.first && it.phase != MachinePhase::kGone;
                        });
  });
  const bool pressing = std::any_of(releases_.begin(), releases_.end(), [&](const auto& entry) {
    return entry.second.accepted_at && *entry.second.accepted_at > look_began_;
  });
  if (pressing) look_due_ = now;
  news_.list = std::move(answer.list);
  news_.listed_at = look_began_;
}

ProviderNews EngineDesk::take_news() {
  news_.owed.clear();
  for (const auto& [name, release] : releases_) {
    news_.owed.push_back({.name = name, .failures = release.failures, .reason = release.reason});
  }
  ProviderNews news = news_;
  news_.list.reset();
  news_.refused.clear();
  return news;
}

}  // namespace stint
