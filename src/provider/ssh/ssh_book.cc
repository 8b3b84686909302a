#include "provider/ssh/ssh_book.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kSchema = "stint.ssh-book/1";
constexpr const char* kFile = "/ssh.json";
constexpr const char* kLock = "/ssh.lock";

bool is_broken(const SshBook& book, const SshHost& host, Seconds now) {
  return std::any_of(book.broken.begin(), book.broken.end(), [&](const SshBroken& it) {
    return it.host == host.name && (!it.until || now < *it.until);
  });
}

}  // namespace

SshLease* SshBook::find(const std::string& name) {
  const auto found = std::find_if(leases.begin(), leases.end(), [&](const SshLease& it) {
    return it.order.name == name && !it.gone_at;
  });
  return found == leases.end() ? nullptr : &*found;
}

std::optional<std::size_t> SshBook::free_host(const std::vector<SshHost>& hosts,
                                              const MachineOrder& order, Seconds now) const {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const SshHost& host = hosts[i];
    const bool taken = std::any_of(leases.begin(), leases.end(), [&](const SshLease& it) {
      return it.host == host.name && !it.gone_at;
    });
    const bool suits = (host.type.empty() || order.type.empty() || host.type == order.type) &&
                       host.market == order.market;
    if (suits && !taken && !is_broken(*this, host, now)) return i;
  }
  return std::nullopt;
}

MachineRefusal SshBook::refusal(const std::vector<SshHost>& hosts, const MachineOrder& order,
                                Seconds now) const {
  MachineRefusal refusal{.name = order.name};
  refusal.reason = fmt::format("no {} host {}is free", name_of(order.market),
                               order.type.empty() ? "" : "of type " + order.type + " ");
  std::size_t for_good = 0;
  for (const SshHost& host : hosts) {
    if (!is_broken(*this, host, now)) continue;
    const auto why = std::find_if(broken.begin(), broken.end(),
                                  [&](const SshBroken& it) { return it.host == host.name; });
    refusal.reason += "; " + why->reason;
    for_good += why->until ? 0 : 1;
  }
  refusal.again = for_good < hosts.size();
  return refusal;
}

void SshBook::mark_broken(SshBroken host) {
  std::erase_if(broken, [&](const SshBroken& it) { return it.host == host.host; });
  broken.push_back(std::move(host));
}

Result<SshBook> read_book(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder + kFile, ignored)) return SshBook{};
  const auto text = read_file(folder + kFile);
  if (!text.ok()) return text.error();
  auto book = read_document<SshBook>(*text, kSchema, folder + kFile);
  if (!book.ok()) return book.error();
  return std::move(book->noun);
}

Status change_book(const std::string& folder, const std::function<void(SshBook&)>& change) {
  const std::string path = folder + kLock;
  const Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX) != 0) {
    return failed(fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  }
  auto book = read_book(folder);
  if (!book.ok()) return book.error();
  change(*book);
  return write_file(folder + kFile, write_document(*book, kSchema));
}

}  // namespace stint
