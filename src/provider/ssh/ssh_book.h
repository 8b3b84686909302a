#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "base/units.h"
#include "catalog/market.h"
#include "provider/machine.h"
#include "provider/ssh/ssh_host.h"

namespace stint {

/// A host that was given for an order. Times are since 1970.
struct SshLease {
  MachineOrder order = {};
  std::string host = {};
  std::optional<Seconds> up_at = {};
  std::optional<Seconds> gone_at = {};
  bool released = false;
  std::string reason = {};  // Of waiting, or of the loss.
};

/// A host that is not asked for the present.
struct SshBroken {
  std::string host = {};
  std::string reason = {};
  std::optional<Seconds> until = {};  // Absent: somebody has to repair it.
};

/// Who has which host: a file, since several processes of a run ask, and later ones go on.
struct SshBook {
  std::vector<SshLease> leases = {};
  std::vector<SshBroken> broken = {};

  /// The machine of this name that is not gone; null without one.
  SshLease* find(const std::string& name);

  /// The first host that suits the order and that nobody has.
  std::optional<std::size_t> free_host(const std::vector<SshHost>& hosts, const MachineOrder& order,
                                       Seconds now) const;

  /// Why there is none.
  MachineRefusal refusal(const std::vector<SshHost>& hosts, const MachineOrder& order,
                         Seconds now) const;

  void mark_broken(SshBroken host);
};

template <class Walk>
void describe(Walk& walk, Like<Walk, SshLease>& it) {
  walk.field("order", it.order, "What was asked for.");
  walk.field("host", it.host, "Name of the host.");
  walk.number("up_at_s", it.up_at, kSecond, "When it was up.", Range::kNotNegative);
  walk.number("gone_at_s", it.gone_at, kSecond, "When it was released or lost.",
              Range::kNotNegative);
  walk.field("released", it.released, "Whether it was released.");
  walk.field("reason", it.reason, "Why it waits or was lost.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SshBroken>& it) {
  walk.field("host", it.host, "Name of the host.");
  walk.field("reason", it.reason, "What is wrong with it.");
  walk.number("until_s", it.until, kSecond, "When to ask it again.", Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SshBook>& it) {
  walk.field("leases", it.leases, "Hosts that were given.");
  walk.field("broken", it.broken, "Hosts that are not asked.");
}

/// Reads the book of a folder; one that is missing is empty.
Result<SshBook> read_book(const std::string& folder);

/// Changes the book of a folder, which other processes do as well.
Status change_book(const std::string& folder, const std::function<void(SshBook&)>& change);

}  // namespace stint
