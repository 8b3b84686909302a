#include "checkpoint/receiver.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/receiver_fixture.h"
#include "checkpoint/shard_file.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

class ReceiverTest : public testing::Test {
 protected:
  ReceiverTerms terms() const { return {.folder = folder_, .secret = secret_}; }

  /// The answer of the receiver to a request for a shard.
  static std::string got(const ReceiverProcess& receiver, const ShardName& name) {
    auto client = receiver.client();
    if (!client.ok()) return client.error().message;
    const auto bytes = client->get(name);
    return bytes.ok() ? bytes->value_or("missing") : bytes.error().message;
  }

  static Status put(const ReceiverProcess& receiver, const ShardName& name,
                    const std::string& bytes) {
    auto client = receiver.client();
    return client.ok() ? client->put(name, bytes) : Status(client.error());
  }

  /// The answer to these frames from a client that knows the secret.
  static std::string answer_to(const ReceiverProcess& receiver,
                               const std::vector<std::string>& frames) {
    ProvenChannel channel = receiver.friend_of();
    for (const std::string& frame : frames) {
      if (!channel.write(frame)) return "not sent";
    }
    return channel.read_line(1000).value_or("closed");
  }

  bool has_part() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.path().string().ends_with(".part")) return true;
    }
    return false;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string folder_ = place_.path() + "/received";
  std::string secret_ = make_secret();
};

constexpr ShardName kShard{.step = 120, .number = 2, .count = 4};

TEST_F(ReceiverTest, GivesBackWhatItWasGiven) {
  const ReceiverProcess receiver(terms());
  EXPECT_EQ(got(receiver, kShard), "missing");
  std::string bytes(3U << 20U, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 3U);
  auto client = receiver.client();
  ASSERT_TRUE(client.ok()) << client.error().message;
  // Several requests on one connection.
  ASSERT_TRUE(client->put(kShard, bytes).ok());
  ASSERT_TRUE(client->put({.step = 120, .number = 3, .count = 4}, "").ok());
  EXPECT_EQ(**client->get(kShard), bytes);
  EXPECT_EQ(**client->get({.step = 120, .number = 3, .count = 4}), "");
  EXPECT_EQ(got(receiver, kShard), bytes);
  EXPECT_EQ(got(receiver, {.step = 120, .number = 2, .count = 5}), "missing");
}

TEST_F(ReceiverTest, ForgetsAStepWhenTold) {
  const ReceiverProcess receiver(terms());
  for (const std::int64_t step : {40, 80, 120}) {
    ASSERT_TRUE(put(receiver, {.step = step}, std::to_string(step)).ok());
  }
  auto client = receiver.client();
  EXPECT_TRUE(client->drop(40).ok());
  EXPECT_TRUE(client->drop(41).ok());
  EXPECT_EQ(got(receiver, {.step = 40}), "missing");
  EXPECT_EQ(got(receiver, {.step = 80}), "80");
  EXPECT_EQ(got(receiver, {.step = 120}), "120");
  EXPECT_FALSE(fs::exists(folder_ + "/step-40"));
}

TEST_F(ReceiverTest, FillsAFolderThatCanBeAcknowledged) {
  const ReceiverProcess receiver(terms());
  const std::string here = place_.path() + "/here";
  Checkpoint checkpoint{.step = 7, .bytes = 8};
  auto client = receiver.client();
  for (int i = 0; i < 2; ++i) {
    const std::string bytes = "abc" + std::to_string(i);
    const ShardName name{.step = 7, .number = i, .count = 2};
    ASSERT_TRUE(client->put(name, bytes).ok());
    EXPECT_TRUE(*client->fetch(name, here));
    checkpoint.shards.push_back({.number = i, .bytes = 4, .checksum = checksum_of(bytes)});
  }
  EXPECT_FALSE(*client->fetch({.step = 8}, here));
  ASSERT_TRUE(acknowledge(here, checkpoint).ok());
  EXPECT_EQ(latest(here)->checkpoint, checkpoint);
}

TEST_F(ReceiverTest, ClosesOnStrangersBeforeTheyCanAsk) {
  const ReceiverProcess receiver(terms());
  ASSERT_TRUE(put(receiver, kShard, "abc").ok());
  ReceiverPlace wrong = receiver.place();
  wrong.secret = make_secret();
  const auto client = ReceiverClient::connect(wrong, kTestPatience);
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().message.find("the secret of the run is wrong"), std::string::npos);
  for (const std::string& said :
       {std::string("\n"), std::string(64, 'a') + "\nget 120 2 4\n", std::string(65, '\0'),
        std::string("get 120 2 4\n") + std::string(60, '\n'), std::string(1U << 16U, 'x')}) {
    Connection stranger = receiver.stranger();
    EXPECT_TRUE(stranger.read_line(100).has_value());
    stranger.write(said + std::string(200, 'x'));
    EXPECT_FALSE(stranger.read_line(100).has_value());
  }
  EXPECT_FALSE(fs::exists(folder_ + "/step-1"));
  EXPECT_EQ(got(receiver, kShard), "abc");
}

TEST_F(ReceiverTest, AProofIsOfNoUseAnotherTime) {
  const ReceiverProcess receiver(terms());
  Connection first = receiver.stranger();
  Connection second = receiver.stranger();
  const Nonces nonces{.receiver = *parse_greeting(*first.read_line(100)),
                      .client = std::string(2 * kNonceBytes, 'c')};
  ASSERT_NE(*parse_greeting(*second.read_line(100)), nonces.receiver);
  const std::string hello = to_line(
      ClientHello{.nonce = nonces.client, .proof = proof_of(secret_, Role::kClient, nonces)});
  second.write(hello);
  EXPECT_FALSE(second.read_line(100).has_value());
  first.write(hello);
  EXPECT_EQ(first.read_line(100), proof_of(secret_, Role::kReceiver, nonces));
}

// Many more than there are places, none of which ends by itself within the test.
TEST_F(ReceiverTest, IdleStrangersShutNobodyOut) {
  ReceiverTerms patient = terms();
  patient.proof = kTestPatience;
  const ReceiverProcess receiver(patient);
  auto early = receiver.client();
  ASSERT_TRUE(early.ok());
  ASSERT_TRUE(early->put({.step = 1}, "abc").ok());
  std::vector<Connection> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(receiver.stranger());
    if (i % 50 == 0) EXPECT_EQ(got(receiver, {.step = 1}), "abc") << i;
  }
  EXPECT_EQ(got(receiver, {.step = 1}), "abc");
  EXPECT_EQ(**early->get({.step = 1}), "abc");  // Who has proven the secret stays.
  EXPECT_TRUE(strangers.front().read_line(100).has_value());
  EXPECT_FALSE(strangers.front().read_line(100).has_value());  // The oldest was closed.
}

TEST_F(ReceiverTest, ClosesOnStrangersWhoDripBytes) {
  ReceiverTerms impatient = terms();
  impatient.proof = 50 * kMillisecond;
  const ReceiverProcess receiver(impatient);
  Connection stranger = receiver.stranger();
  EXPECT_TRUE(stranger.read_line(100).has_value());
  while (stranger.write("x")) ::usleep(1000);  // Until the receiver closes it.
  SUCCEED();
}

TEST_F(ReceiverTest, ListensOnItsAddressOnly) {
  ReceiverTerms elsewhere = terms();
  elsewhere.address = "127.0.0.2";
  const ReceiverProcess receiver(elsewhere);
  ReceiverPlace place = receiver.place();
  EXPECT_FALSE(ReceiverClient::connect(place, kTestPatience).ok());
  place.address = "127.0.0.2";
  EXPECT_TRUE(ReceiverClient::connect(place, kTestPatience).ok());
}

TEST_F(ReceiverTest, ClosesOnStrangersWhoAreSilent) {
  ReceiverTerms impatient = terms();
  impatient.proof = 50 * kMillisecond;
  const ReceiverProcess receiver(impatient);
  Connection stranger = receiver.stranger();
  EXPECT_TRUE(stranger.read_line(100).has_value());
  EXPECT_FALSE(stranger.read_line(100).has_value());
}

// Only requests without a time limit are made.
TEST_F(ReceiverTest, ClosesOnFriendsWhoAreSilent) {
  ReceiverTerms impatient = terms();
  impatient.silence = 50 * kMillisecond;
  const ReceiverProcess receiver(impatient);
  EXPECT_EQ(answer_to(receiver, {}), "closed");
  EXPECT_EQ(answer_to(receiver, {"put 1 0 1 5 0\n"}), "closed");
  EXPECT_FALSE(fs::exists(folder_ + "/step-1/shard-0-of-1"));
}

TEST_F(ReceiverTest, RefusesWhatIsWrongAndKeepsWhatItHas) {
  const ReceiverProcess receiver(terms());
  ASSERT_TRUE(put(receiver, kShard, "abc").ok());
  ProvenChannel channel = receiver.friend_of();
  for (const char* frame :
       {"put 120 2 4 3 1\n", "xyz", "put 121 0 1 9 3421780262\n", "123456789"}) {
    ASSERT_TRUE(channel.write(frame));
  }
  EXPECT_EQ(channel.read_line(200), "refused the checksum of shard 2 of 4 of step 120 is wrong");
  EXPECT_EQ(channel.read_line(200), "kept");  // The next request is understood.
  EXPECT_EQ(got(receiver, kShard), "abc");
  for (const char* line : {"put -1 0 1 3 1\n", "put 1 -1 1 3 1\n", "put 1 5 2 3 1\n",
                           "put ../../etc 0 1 3 1\n", "put 99999999999999999999 0 1 3 1\n",
                           "put 1 0 1 3 99999999999\n", "get ..\n", "drop -5\n", "\n", "hello\n"}) {
    EXPECT_NE(answer_to(receiver, {line}).find("is not a request"), std::string::npos) << line;
  }
  for (const char* length : {"-1", "68719476737", "9223372036854775808", "1e3", ""}) {
    EXPECT_EQ(answer_to(receiver, {std::string("put 1 0 1 ") + length + " 0\n", "abc"}),
              "refused a shard must have 0 bytes to 64 GiB")
        << length;
  }
  EXPECT_EQ(answer_to(receiver, {std::string(1000, 'g')}), "closed");
  EXPECT_EQ(PrivateFolder::find(folder_)->names(),
            (std::vector<std::string>{"step-120", "step-121"}));
}

TEST_F(ReceiverTest, ALengthThatLiesKeepsNothing) {
  const ReceiverProcess receiver(terms());
  // Shorter than announced: no frame of that length follows. Longer: the rest is not a request.
  EXPECT_EQ(answer_to(receiver, {"put 1 0 1 300000000 5\n", "abc"}), "closed");
  EXPECT_EQ(answer_to(receiver, {"put 1 0 1 2 5\n", "abc"}), "closed");
  ProvenChannel other = receiver.friend_of();
  for (const char* frame : {"put 2 0 1 9 3421780262\n", "123456789", "and more\n"}) {
    ASSERT_TRUE(other.write(frame));
  }
  EXPECT_EQ(other.read_line(100), "kept");
  EXPECT_EQ(other.read_line(100), "refused 'and more' is not a request");
  EXPECT_EQ(got(receiver, {.step = 1}), "missing");
  EXPECT_EQ(got(receiver, {.step = 2}), "123456789");
}

TEST_F(ReceiverTest, HasNoMoreMemoryThanItMay) {
  ReceiverTerms small = terms();
  small.memory = 1 * kMiB;
  const ReceiverProcess receiver(small);
  const Status refused = put(receiver, kShard, std::string(2U << 20U, 'x'));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("a shard of 2.0 MiB does not fit: 0.0 MiB of 1.0 MiB"),
            std::string::npos)
      << refused.error().message;
  // Older shards are evicted from memory, and are sent from the disk.
  const std::string bytes(700U << 10U, 'x');
  ASSERT_TRUE(put(receiver, {.step = 1}, bytes).ok());
  ASSERT_TRUE(put(receiver, {.step = 2}, bytes).ok());
  EXPECT_EQ(got(receiver, {.step = 1}), bytes);
  EXPECT_EQ(got(receiver, {.step = 2}), bytes);
}

TEST_F(ReceiverTest, GivesWhileAnotherIsSlow) {
  const ReceiverProcess receiver(terms());
  ASSERT_TRUE(put(receiver, {.step = 1}, "abc").ok());
  std::vector<ProvenChannel> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(receiver.friend_of());
    ASSERT_TRUE(slow.back().write(fmt::format("put 2 {} 4 9 3421780262\n", i)));
    EXPECT_EQ(got(receiver, {.step = 1}), "abc");
    EXPECT_TRUE(put(receiver, {.step = 3, .number = i, .count = 4}, "x").ok());
  }
  for (ProvenChannel& channel : slow) {
    ASSERT_TRUE(channel.write("123456789"));
    EXPECT_EQ(channel.read_line(100), "kept");
  }
  EXPECT_EQ(got(receiver, {.step = 2, .number = 3, .count = 4}), "123456789");
}

TEST_F(ReceiverTest, KeepsNothingOfWhatWasCut) {
  ReceiverProcess receiver(terms());
  ASSERT_TRUE(put(receiver, kShard, "before").ok());
  {
    ProvenChannel channel = receiver.friend_of();
    ASSERT_TRUE(channel.write("put 120 2 4 2000000 3421780262\n"));
    ASSERT_TRUE(channel.write(std::string(kFrameMax, 'x')));  // The first of two.
  }
  EXPECT_EQ(got(receiver, kShard), "before");
  receiver.kill();
  const ReceiverProcess again(terms());
  EXPECT_EQ(got(again, kShard), "before");
  EXPECT_FALSE(has_part());
}

TEST_F(ReceiverTest, ServesFromTheDiskAfterAKill) {
  const std::string bytes(3U << 20U, 'y');
  {
    ReceiverProcess receiver(terms());
    ASSERT_TRUE(put(receiver, kShard, bytes).ok());
    receiver.kill();
  }
  const ReceiverProcess again(terms());
  EXPECT_EQ(got(again, kShard), bytes);
  // Damaged files are not sent.
  std::string file = *read_file(folder_ + "/step-120/shard-2-of-4");
  file[1000] = static_cast<char>(file[1000] ^ 1);
  ASSERT_TRUE(write_file(folder_ + "/step-120/shard-2-of-4", file).ok());
  EXPECT_EQ(got(again, kShard), "missing");
}

// Shards confirmed before the kill exist after it; others may be missing, or exist whole.
TEST_F(ReceiverTest, SurvivesAKillAtEveryPoint) {
  const std::vector<std::pair<const char*, const char*>> points = {
      {"put-received", "missing"}, {"put-written", "missing"}, {"put-renamed", "shard"}};
  for (const auto& point : points) {
    fs::remove_all(folder_);
    {
      const ReceiverProcess receiver(terms());
      ASSERT_TRUE(put(receiver, {.step = 80}, "before").ok());
    }
    ReceiverProcess crashing(terms(), point.first);
    EXPECT_FALSE(put(crashing, kShard, "shard").ok());
    EXPECT_EQ(crashing.wait(), 128 + SIGKILL) << point.first;
    const ReceiverProcess again(terms());
    EXPECT_EQ(got(again, {.step = 80}), "before") << point.first;
    EXPECT_EQ(got(again, kShard), point.second) << point.first;
    EXPECT_FALSE(has_part()) << point.first;
    ASSERT_TRUE(put(again, kShard, "shard").ok());
    EXPECT_EQ(got(again, kShard), "shard") << point.first;
  }
}

TEST_F(ReceiverTest, SaysWhyItCannotBegin) {
  EXPECT_EQ(Receiver::open({.folder = folder_, .secret = "abc"}).error().message,
            "the secret of the run must be 64 hexadecimal digits");
  EXPECT_EQ(Receiver::open({.folder = folder_, .secret = secret_, .port = 65536}).error().kind,
            ErrorKind::kUsage);
  for (const char* address : {"0.0.0.0", "localhost", "", "10.0.0.1:80"}) {
    const auto all = Receiver::open({.folder = folder_, .secret = secret_, .address = address});
    ASSERT_FALSE(all.ok()) << address;
    EXPECT_EQ(all.error().kind, ErrorKind::kUsage);
    EXPECT_NE(all.error().message.find("one address of this machine"), std::string::npos);
  }
  const auto first = Receiver::open(terms());
  ASSERT_TRUE(first.ok());
  const auto second = Receiver::open({.folder = folder_, .secret = secret_, .port = first->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(first->port()) +
                ": Address already in use; choose an address of this machine and a free port, or "
                "port 0 for any");
}

}  // namespace
}  // namespace stint
