#include "cloud/vm_init.h"

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/run_command.h"

namespace stint {

SharedNews* shared_news(std::size_t count) {
  void* memory = ::mmap(nullptr, count * sizeof(SharedNews), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  // Fresh memory is zero, which means no notice.
  return static_cast<SharedNews*>(memory);
}

void tell(SharedNews& news, Seconds told_at, Seconds takes_at) {
  news.takes_at_s = static_cast<std::int64_t>(takes_at.in(kSecond));
  news.told_at_s = static_cast<std::int64_t>(told_at.in(kSecond));
}

MetadataNews read_news(const SharedNews& news) {
  const std::int64_t told_at = news.told_at_s;
  if (told_at == 0) return {};
  const std::int64_t takes_at = news.takes_at_s;
  return {.told_at = static_cast<double>(told_at) * kSecond,
          .takes_at = static_cast<double>(takes_at) * kSecond};
}

void mount_own_proc() {
  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
}

Status steady_tcp() {
  const std::pair<const char*, const char*> settings[] = {
      {"/proc/sys/net/ipv4/tcp_congestion_control", "reno"},
      {"/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0"}};
  for (const auto& [path, value] : settings) {
    const Descriptor file{::open(path, O_WRONLY | O_CLOEXEC)};
    const std::string_view text = value;
    const bool written = file.get() >= 0 && ::write(file.get(), text.data(), text.size()) ==
                                                static_cast<ssize_t>(text.size());
    if (!written) return failed(fmt::format("cannot write {} to {}", value, path));
  }
  return {};
}

void run_vm(const VmInit& init) {
  char byte = 0;
  if (::read(init.go, &byte, 1) != 1) ::_exit(1);
  mount_own_proc();
  Status status = run_commands(vm_commands(init.nic));
  if (status.ok()) status = steady_tcp();
  const auto listener =
      status.ok() ? Listener::on(kLoopback, kMetadataPort) : Result<Listener>(status.error());
  if (!listener.ok()) status = listener.error();
  write_all(init.report, status.ok() ? "ok\n" : status.error().message + "\n");
  if (!status.ok()) ::_exit(1);
  close_all_but({listener->descriptor()});
  // Orphans of the VM become our children; ignoring their ends lets the kernel reap them.
  ::signal(SIGCHLD, SIG_IGN);
  MetadataService service(init.facts, Random(init.seed));
  serve_http(*listener, [&](const HttpRequest& request) {
    return service.answer(request, read_news(*init.news), boot_time());
  });
  ::_exit(1);
}

}  // namespace stint
