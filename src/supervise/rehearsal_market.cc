#include "supervise/rehearsal_market.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

/// Random streams; each machine has one, from kMachinesStream on.
enum MarketStream : std::uint64_t { kSpellsStream = 1, kMachinesStream = 3 };

/// Random streams of a machine, beside its life.
enum MachineStream : std::uint64_t { kBesideStream, kVacancyStream, kNoticeStream };

}  // namespace

RehearsalMarket::RehearsalMarket(const RehearsalWorld& world, Seconds began, std::size_t slots,
                                 const Random& random)
    : world_(world),
      began_(began),
      random_(random),
      spells_(random.fork(kSpellsStream)),
      empty_until_(slots) {
  CHECK(world.pool_of_slot.empty() || world.pool_of_slot.size() == slots);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const RehearsedPool* own = pool(static_cast<int>(slot));
    int size = 0;
    for (std::size_t other = 0; own != nullptr && other < slots; ++other) {
      size += pool(static_cast<int>(other)) == own ? 1 : 0;
    }
    const PerSecond one = 1 / kSecond;
    alone_.push_back(size == 0 ? 1 : events_rate(own->group, size, one) / one / size);
  }
  lap_began_ = -began;
  const std::vector<CapacityChange>& changes = world.capacity;
  while (changed_ < changes.size() && lap_began_ + changes[changed_].at <= Seconds{}) {
    capacity_ = changes[changed_++].machines;
  }
  find_next_change({});
}

const RehearsedPool* RehearsalMarket::pool(int slot) const {
  if (world_.pools.empty()) return nullptr;
  if (world_.pool_of_slot.empty()) return world_.pools.data();
  const auto number = world_.pool_of_slot[static_cast<std::size_t>(slot)];
  return number ? &world_.pools[static_cast<std::size_t>(*number)] : nullptr;
}

Random RehearsalMarket::random_of(int vm) const {
  return random_.fork(kMachinesStream + static_cast<std::uint64_t>(vm));
}

RehearsalMarket::Fate RehearsalMarket::fate(int vm, int slot, Seconds now) const {
  const RehearsedPool* own = pool(slot);
  if (own == nullptr) return {kNever, kNever};
  Random life = random_of(vm);
  // Of the machines that are lost together, one is the first.
  const double amount = life.exponential() / alone_[static_cast<std::size_t>(slot)];
  Fate fate{.noticed = kNever, .taken = now + own->hazard.age_at(amount)};
  const Seconds ahead = notice(vm);
  if (ahead > Seconds{}) fate.noticed = std::max(now, fate.taken - ahead);
  return fate;
}

Seconds RehearsalMarket::notice(int vm) const {
  const bool warned = random_of(vm).fork(kNoticeStream).uniform() >= world_.without_notice;
  return warned ? world_.notice : Seconds{};
}

std::vector<int> RehearsalMarket::lost_beside(int vm, int slot, std::vector<int> others) const {
  const RehearsedPool* own = pool(slot);
  if (own == nullptr || own->group.shared <= 0 || others.empty()) return {};
  Random random = random_of(vm).fork(kBesideStream);
  const int size = sample_event_size(own->group, static_cast<int>(others.size()) + 1, random) - 1;
  for (int i = 0; i < size; ++i) {
    const int left = static_cast<int>(others.size()) - i;
    const int other = i + random.below(left);
    std::swap(others[static_cast<std::size_t>(i)], others[static_cast<std::size_t>(other)]);
  }
  others.resize(static_cast<std::size_t>(size));
  return others;
}

void RehearsalMarket::vacate(int vm, int slot, Seconds now) {
  const RehearsedPool* own = pool(slot);
  if (own == nullptr || own->missing <= 0) return;
  Random random = random_of(vm).fork(kVacancyStream);
  if (random.uniform() >= own->missing) return;
  empty_until_[static_cast<std::size_t>(slot)] = now + random.exponential() * own->missing_for;
}

bool RehearsalMarket::has(int slot, int held, Seconds now) const {
  return held < capacity_ && now >= empty_until_[static_cast<std::size_t>(slot)];
}

// Capacity.

bool RehearsalMarket::capacity_known() const {
  return !world_.capacity.empty() || world_.plenty.has_value();
}

void RehearsalMarket::find_next_change(Seconds now) {
  const std::vector<CapacityChange>& changes = world_.capacity;
  if (changes.empty() && world_.plenty) {
    const Seconds mean = capacity_ > 0 ? *world_.plenty : world_.dearth;
    next_change_ = now + spells_.exponential() * mean;
    return;
  }
  if (changed_ == changes.size() && world_.lap && !changes.empty()) {
    CHECK(*world_.lap > changes.back().at - changes.front().at);
    lap_began_ += *world_.lap;
    changed_ = 0;
  }
  next_change_ = changed_ < changes.size() ? lap_began_ + changes[changed_].at : kNever;
}

void RehearsalMarket::change_capacity(Seconds now) {
  capacity_ = !world_.capacity.empty() ? world_.capacity[changed_++].machines
              : capacity_ > 0          ? 0
                                       : std::numeric_limits<int>::max();
  find_next_change(now);
}

// Prices.

Seconds RehearsalMarket::next_price() const {
  return priced_ < world_.prices.size() ? world_.prices[priced_].at - began_ : kNever;
}

const PriceChange& RehearsalMarket::change_price() { return world_.prices[priced_++]; }

}  // namespace stint
