#include "provider/agent/agent_outbox.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace stint {
namespace {

TEST(AgentOutbox, KeepsWhatIsNotAcknowledged) {
  AgentOutbox box;
  EXPECT_EQ(box.next(), 1);
  EXPECT_EQ(box.to_send(), nullptr);
  for (const char* line : {"one", "two", "three"}) box.add(line);
  EXPECT_EQ(box.next(), 4);
  EXPECT_EQ(box.bytes(), 11U);  // 3 + 3 + 5.
  EXPECT_EQ(*box.to_send(), "one");
  box.mark_sent();
  box.mark_sent();
  EXPECT_TRUE(box.acknowledge(1));
  EXPECT_EQ(*box.to_send(), "three");
  box.rewind();
  EXPECT_EQ(*box.to_send(), "two");
  EXPECT_TRUE(box.acknowledge(3));
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.bytes(), 0U);
  EXPECT_EQ(box.to_send(), nullptr);
  EXPECT_EQ(box.next(), 4);
  box.clear();
  EXPECT_EQ(box.next(), 1);
}

TEST(AgentOutbox, RefusesToHaveSentWhatItNeverSent) {
  AgentOutbox box;
  EXPECT_TRUE(box.acknowledge(0));
  EXPECT_FALSE(box.acknowledge(1));
  box.add("one");
  EXPECT_TRUE(box.acknowledge(1));
  EXPECT_TRUE(box.acknowledge(1));  // Said twice.
  EXPECT_FALSE(box.acknowledge(2));
}

TEST(AgentInbox, TellsNewSeenAndMissingApart) {
  using Verdict = AgentInbox::Verdict;
  AgentInbox box;
  EXPECT_EQ(box.take(1), Verdict::kNew);
  EXPECT_EQ(box.take(1), Verdict::kSeen);
  EXPECT_EQ(box.take(3), Verdict::kGap);
  EXPECT_EQ(box.take(2), Verdict::kNew);
  EXPECT_EQ(box.heard(), 2);
  box.reset();
  EXPECT_EQ(box.take(1), Verdict::kNew);
}

// Streams that are cut at any message, with acknowledgements that are lost: each message arrives
// once and in order.
TEST(AgentOutbox, NothingIsLostOrDoubledOverCutStreams) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    AgentOutbox out;
    AgentInbox in;
    std::vector<std::int64_t> arrived;
    const int all = 1 + random.below(40);
    for (int made = 0; made < all || !out.empty();) {
      if (made < all && random.below(2) == 0) {
        out.add(std::to_string(out.next()));
        ++made;
      }
      if (const std::string* line = out.to_send()) {
        out.mark_sent();
        if (random.below(4) == 0) {  // The cut loses it.
          out.rewind();
          continue;
        }
        const std::int64_t number = std::stoll(*line);
        const auto verdict = in.take(number);
        ASSERT_NE(verdict, AgentInbox::Verdict::kGap);
        if (verdict == AgentInbox::Verdict::kNew) arrived.push_back(number);
      }
      if (random.below(3) == 0) ASSERT_TRUE(out.acknowledge(in.heard()));
    }
    ASSERT_EQ(arrived.size(), static_cast<std::size_t>(all));
    for (int i = 0; i < all; ++i) EXPECT_EQ(arrived[static_cast<std::size_t>(i)], i + 1);
  }
}

}  // namespace
}  // namespace stint
