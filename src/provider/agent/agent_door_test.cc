#include "provider/agent/agent_door.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

const std::string kSecretA(64, 'a');
const std::string kSecretB(64, 'b');

AgentHello hello(const std::string& session, std::int64_t attempt) {
  return {.run = "r",
          .machine = "vm1",
          .attempt = attempt,
          .session = session,
          .nonce = "n",
          .secret = kSecretA};
}

std::string proof(const AgentHello& hello, const std::string& secret = kSecretA) {
  return agent_proof(secret, AgentSide::kRunner, hello, "N");
}

/// Why the door does not open.
std::optional<AgentRefusal> refusal(const AgentDoor& door, const AgentHello& hello) {
  const AgentNews news = door.greet(hello, "N");
  return news.refused ? std::optional(news.refused->cause) : std::nullopt;
}

TEST(AgentDoor, BothSidesProveTheSecret) {
  AgentDoor door("agent", "0.1", std::nullopt);
  const AgentNews news = door.greet(hello("s", 1), "N");
  ASSERT_TRUE(news.welcome);
  EXPECT_EQ(news.welcome->proof, agent_proof(kSecretA, AgentSide::kAgent, hello("s", 1), "N"));
  EXPECT_FALSE(door.prove(hello("s", 1), "N", news.welcome->proof));  // Sent back.
  EXPECT_FALSE(door.prove(hello("s", 1), "N", ""));
  EXPECT_FALSE(door.prove(hello("s", 1), "M", proof(hello("s", 1))));  // Of another stream.
  const auto entry = door.prove(hello("s", 1), "N", proof(hello("s", 1)));
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->renewed);
  EXPECT_TRUE(door.prove(hello("s", 1), "N", proof(hello("s", 1)))->renewed);
}

TEST(AgentDoor, TheFirstSecretStays) {
  AgentDoor door("agent", "0.1", std::nullopt);
  AgentHello without = hello("s", 1);
  without.secret.reset();
  EXPECT_EQ(refusal(door, without), AgentRefusal::kSecret);
  AgentHello malformed = hello("s", 1);
  malformed.secret = "short";
  EXPECT_EQ(refusal(door, malformed), AgentRefusal::kSecret);
  // A caller who goes away before the proof sets nothing.
  AgentHello other = hello("t", 5);
  other.secret = kSecretB;
  EXPECT_EQ(refusal(door, other), std::nullopt);
  ASSERT_TRUE(door.prove(hello("s", 1), "N", proof(hello("s", 1))));
  EXPECT_FALSE(door.prove(other, "N", proof(other, kSecretB)));
  EXPECT_EQ(refusal(door, without), std::nullopt);  // It is known now.
}

TEST(AgentDoor, AHigherAttemptFencesTheOthers) {
  AgentDoor door("agent", "0.1", kSecretA);
  const AgentHello first = hello("s", 1);
  const AgentHello second = hello("t", 2);
  ASSERT_TRUE(door.prove(first, "N", proof(first)));
  EXPECT_EQ(refusal(door, hello("u", 1)), AgentRefusal::kAttempt);  // No more than the present one.
  EXPECT_FALSE(door.prove(hello("u", 1), "N", proof(hello("u", 1))));
  EXPECT_FALSE(door.is_outdated(1));
  const auto entry = door.prove(second, "N", proof(second));
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->renewed);
  EXPECT_TRUE(door.is_outdated(1));
  EXPECT_FALSE(door.is_outdated(2));
  EXPECT_EQ(refusal(door, first), AgentRefusal::kAttempt);
  // A welcome that was given before does not help.
  EXPECT_FALSE(door.prove(first, "N", proof(first)));
}

TEST(AgentDoor, BelongsToOneMachineOfOneRun) {
  AgentDoor door("agent", "0.1", kSecretA);
  ASSERT_TRUE(door.prove(hello("s", 1), "N", proof(hello("s", 1))));
  AgentHello other = hello("t", 2);
  other.machine = "vm2";
  EXPECT_EQ(refusal(door, other), AgentRefusal::kMachine);
  other = hello("t", 2);
  other.run = "q";
  EXPECT_EQ(refusal(door, other), AgentRefusal::kMachine);
  other = hello("t", 2);
  other.protocol = "stint.agent/2";
  EXPECT_EQ(refusal(door, other), AgentRefusal::kProtocol);
}

}  // namespace
}  // namespace stint
