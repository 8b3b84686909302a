// What workers say: a line is a message as the crew reads it, the digit before it is the VM. Steps
// and checkpoints that follow from it are of the workers' own reports.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "run/gang.h"

namespace {

constexpr int kWorkers = 2;
constexpr std::int64_t kSaving = 5;

void check_news(const stint::GangNews& news) {
  if (news.step) {
    CHECK(news.step->number >= 1);
    CHECK(news.step->time >= stint::Seconds{});
    CHECK(std::isfinite(news.step->time.in(stint::kSecond)));
  }
  if (news.saved) {
    CHECK(stint::problem(news.saved->checkpoint).empty());
    CHECK(news.saved->checkpoint.step == kSaving);
  }
  if (news.save_failed) CHECK(!news.save_failed->empty());
  if (news.complaint) CHECK(!news.complaint->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  stint::Gang gang(1, {0, 1}, {24, 24});
  gang.expect_save(kSaving);
  for (const std::string& line : stint::split(text, '\n')) {
    if (line.empty()) continue;
    const auto json = stint::parse_json(std::string_view(line).substr(1), "fuzz");
    const auto* message = json.ok() ? json->as<stint::Json::Object>() : nullptr;
    if (message == nullptr || message->size() != 1) continue;
    const int vm = line[0] % (kWorkers + 1);
    const std::int64_t before = gang.reached();
    check_news(gang.hear(vm, message->front().first, message->front().second));
    CHECK(gang.reached() >= before);
  }
  return 0;
}
