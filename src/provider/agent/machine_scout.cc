#include "provider/agent/machine_scout.h"

#include <algorithm>
#include <csignal>
#include <poll.h>

#include "base/clock.h"
#include "base/descriptor.h"

namespace stint {
namespace {

constexpr Seconds kQuestionTime = 2 * kSecond;
constexpr Seconds kEarlier = 10 * kSecond;

// EC2 gives notices of 120 s, Google of 30 s; EC2 recommends to look every 5 s.
constexpr Seconds kLook = 2 * kSecond;

bool report_news(int report, AgentNews news) {
  news.number = 1;
  return write_all(report, to_line(news));
}

int scout(const AgentTerms& terms, int report) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  close_all_but({report});
  MachineFacts facts = gather_facts(terms.interpreter);
  if (!terms.metadata) return report_news(report, {.facts = facts}) ? 0 : 1;
  MetadataWatch watch(metadata_at(*terms.metadata, kQuestionTime));
  bool known = watch.identify(facts);
  if (!report_news(report, {.facts = facts})) return 1;
  NoticeFilter filter;
  while (true) {
    if (!known) known = watch.identify(facts);
    const Seconds now = SystemClock().now();
    const auto notice = known ? watch.notice(now) : std::nullopt;
    if (notice && filter.is_news(*notice, now) && !report_news(report, {.notice = notice})) {
      return 1;
    }
    ::poll(nullptr, 0, poll_milliseconds(kLook));
  }
}

}  // namespace

Result<Child> start_scout(const AgentTerms& terms) {
  return fork_child([&](int report) { return scout(terms, report); },
                    {.group = ProcessGroup::kOwn, .death_signal = SIGKILL});
}

bool NoticeFilter::is_news(const MachineNotice& notice, Seconds now) {
  const auto takes_at = notice.left ? std::optional(now + *notice.left) : std::nullopt;
  const bool earlier = takes_at && (!takes_at_ || *takes_at + kEarlier < *takes_at_);
  if (told_ && !earlier) return false;
  told_ = true;
  takes_at_ = takes_at;
  return true;
}

}  // namespace stint
