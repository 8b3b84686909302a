// What a runner says to an agent: what is read is written and read again as the same, and nobody
// without the secret opens the door.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "provider/agent/agent_door.h"
#include "provider/agent/agent_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  stint::AgentDoor door("agent", "1", std::string(64, 'a'));
  stint::AgentHello hello;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find('\n', begin);
    const std::string_view line = text.substr(begin, end - begin);
    const auto order = stint::read_order(line);
    if (!order.ok()) {
      CHECK(!order.error().message.empty());
      (void)stint::other_protocol(line);
      continue;
    }
    std::string written = stint::to_line(*order);
    CHECK(written.find('\n') == written.size() - 1);
    written.pop_back();
    const auto again = stint::read_order(written);
    CHECK(again.ok());
    CHECK(stint::to_line(*again) == written + "\n");
    if (order->hello) hello = *order->hello;
    if (order->hello) CHECK(door.greet(hello, "N").welcome || door.greet(hello, "N").refused);
    if (order->proof) CHECK(!door.prove(hello, "N", *order->proof));
  }
  return 0;
}
