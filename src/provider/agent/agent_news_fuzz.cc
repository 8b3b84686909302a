// What an agent, a worker or a metadata service says: what is read is written and read again as the
// same, and a worker's message that is taken fits into news.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "provider/agent/agent_protocol.h"
#include "provider/agent/metadata_watch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto check = [](const stint::AgentNews& news) {
    std::string line = stint::to_line(news);
    line.pop_back();
    const auto again = stint::read_news(line);
    CHECK(again.ok());
    CHECK(stint::to_line(*again) == line + "\n");
  };
  const auto news = stint::read_news(text);
  if (news.ok()) check(*news);
  const auto message = stint::read_worker_message(text);
  if (message) check({.number = 1, .said = stint::ProcessSaid{.message = *message}});
  const stint::Seconds now = 1.6e9 * stint::kSecond;
  for (const auto& notice : {stint::ec2_notice(text, now), stint::azure_notice(text, now)}) {
    if (notice && notice->left) CHECK(*notice->left >= stint::Seconds{});
    if (notice) check({.number = 1, .notice = notice});
  }
  (void)stint::parse_metadata_answer(text);
  (void)stint::parse_gpus(text);
  return 0;
}
