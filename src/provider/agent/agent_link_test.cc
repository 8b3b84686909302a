#include "provider/agent/agent_link.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "provider/agent/agent_fixture.h"

namespace stint {
namespace {

/// A link, and the agents that the test plays on its streams.
class AgentLinkTest : public testing::Test {
 protected:
  void SetUp() override { make_link({}); }

  void make_link(const AgentCall& changes) {
    AgentCall call = changes;
    call.version = "test";
    call.run = "r";
    call.machine = "vm1";
    call.attempt = 2;
    call.secret = kTestSecret;
    call.trusted = true;
    link_.emplace(call, [this] { return reach(); });
  }

  Result<AgentStream> reach() {
    ++calls_;
    if (unreachable_) return unavailable("no route to host");
    return AgentStream::open({.words = {"carrier"}}, [&](const Command& command) {
      orders_ = Descriptor(::dup(command.in));
      news_ = Descriptor(::dup(command.out));
      return start_process({.words = {"sleep", "1000"}, .kept = std::vector<int>{}});
    });
  }

  LinkNews turn(Seconds after = {}) {
    now_ += after;
    return link_->turn(now_);
  }

  void tell(AgentNews news) { write_all(news_.get(), to_line(news)); }

  /// The orders that the link has written.
  std::vector<AgentOrder> heard() {
    ::fcntl(orders_.get(), F_SETFL, O_NONBLOCK);
    char bytes[65536];
    for (ssize_t got = 1; got > 0;) {
      got = ::read(orders_.get(), bytes, sizeof bytes);
      if (got > 0) unread_.append(bytes, static_cast<std::size_t>(got));
    }
    std::vector<AgentOrder> orders;
    for (std::size_t end = 0; (end = unread_.find('\n')) != std::string::npos;) {
      const auto order = read_order(std::string_view(unread_).substr(0, end));
      EXPECT_TRUE(order.ok());
      if (order.ok()) orders.push_back(*order);
      unread_.erase(0, end + 1);
    }
    return orders;
  }

  /// Plays the agent's part until the link has joined.
  LinkNews join(const std::string& agent = "a", std::int64_t orders = 0, std::int64_t news = 0) {
    turn();
    const auto said = heard();
    EXPECT_FALSE(said.empty());
    if (said.empty() || !said[0].hello) return {};
    hello_ = *said[0].hello;
    tell({.welcome =
              AgentWelcome{.version = "test",
                           .agent = agent,
                           .nonce = "N",
                           .proof = agent_proof(kTestSecret, AgentSide::kAgent, hello_, "N")}});
    turn();
    const auto proof = heard();
    EXPECT_EQ(proof.size(), 1U);
    if (proof.size() != 1 || !proof[0].proof) return {};
    EXPECT_EQ(*proof[0].proof, agent_proof(kTestSecret, AgentSide::kRunner, hello_, "N"));
    tell({.joined = AgentJoined{.heard = orders, .acknowledged = news}});
    return turn();
  }

  /// The numbers of the orders that are acknowledged.
  static std::vector<std::int64_t> numbers(const std::vector<AgentOrder>& orders) {
    std::vector<std::int64_t> all;
    for (const AgentOrder& it : orders) {
      if (it.number > 0) all.push_back(it.number);
    }
    return all;
  }

  StopSignals signals_;
  std::optional<AgentLink> link_;
  Descriptor orders_;
  Descriptor news_;
  std::string unread_;
  AgentHello hello_;
  bool unreachable_ = false;
  int calls_ = 0;
  Seconds now_ = 100 * kSecond;
};

using Numbers = std::vector<std::int64_t>;

TEST_F(AgentLinkTest, JoinsAndSaysWhatWasWaiting) {
  EXPECT_EQ(link_->state(), LinkState::kAway);
  ASSERT_TRUE(link_->send({.start = test_shell("true")}).ok());
  const LinkNews news = join();
  ASSERT_TRUE(news.joined);
  EXPECT_EQ(link_->state(), LinkState::kJoined);
  EXPECT_EQ(hello_.secret, kTestSecret);
  const auto orders = heard();
  EXPECT_EQ(numbers(orders), (Numbers{1, 2}));
  EXPECT_TRUE(orders[0].renew);
  EXPECT_TRUE(orders[1].terms);
  EXPECT_TRUE(orders[2].start);
  EXPECT_FALSE(link_->idle());
  tell({.heard = 2});
  turn();
  EXPECT_TRUE(link_->idle());
}

TEST_F(AgentLinkTest, AfterACutItSaysTheRestAndHearsEachNewsOnce) {
  join();
  heard();
  ASSERT_TRUE(link_->send({.end = 1}).ok());
  ASSERT_TRUE(link_->send({.end = 2}).ok());
  tell({.number = 1, .problem = "one"});
  tell({.number = 2, .problem = "two"});
  auto news = turn();
  ASSERT_EQ(news.news.size(), 2U);
  EXPECT_EQ(numbers(heard()), (Numbers{2, 3}));
  news_.close();
  turn();
  turn(2 * kSecond);  // The carrier had its time to end.
  EXPECT_EQ(link_->state(), LinkState::kAway);
  turn(1 * kSecond);
  EXPECT_EQ(calls_, 2);
  EXPECT_EQ(link_->state(), LinkState::kCalling);
  // The agent has orders up to 2; its news 2 comes again, because the acknowledgement was lost.
  unread_.clear();
  const auto said = heard();
  ASSERT_TRUE(said.size() == 1 && said[0].hello);
  EXPECT_EQ(said[0].hello->agent, "a");
  EXPECT_EQ(said[0].hello->heard, 2);
  EXPECT_EQ(said[0].hello->session, hello_.session);
  EXPECT_NE(said[0].hello->nonce, hello_.nonce);
  hello_ = *said[0].hello;
  tell(
      {.welcome = AgentWelcome{.agent = "a",
                               .nonce = "M",
                               .proof = agent_proof(kTestSecret, AgentSide::kAgent, hello_, "M")}});
  tell({.joined = AgentJoined{.heard = 2, .acknowledged = 1}});
  tell({.number = 2, .problem = "two"});
  tell({.number = 3, .problem = "three"});
  news = turn();
  ASSERT_TRUE(news.joined);
  EXPECT_FALSE(news.replaced);
  ASSERT_EQ(news.news.size(), 1U);
  EXPECT_EQ(*news.news[0].problem, "three");
  EXPECT_EQ(numbers(heard()), Numbers{3});
}

TEST_F(AgentLinkTest, AnAgentThatWasReplacedGetsNoOrdersOfTheOther) {
  join("a");
  heard();
  ASSERT_TRUE(link_->send({.end = 1}).ok());
  tell({.number = 1, .problem = "one"});
  turn();
  news_.close();
  turn();
  turn(2 * kSecond);
  unread_.clear();
  turn(1 * kSecond);
  const LinkNews news = join("b");
  EXPECT_TRUE(news.replaced);
  ASSERT_TRUE(news.joined);
  const auto orders = heard();
  EXPECT_EQ(numbers(orders), Numbers{1});
  EXPECT_TRUE(orders.back().terms);
  tell({.number = 1, .problem = "of b"});
  EXPECT_EQ(turn().news.size(), 1U);
}

TEST_F(AgentLinkTest, ANewLinkGoesOnWhereTheAgentIs) {
  join("a", 0, 41);
  tell({.number = 42, .problem = "x"});
  EXPECT_EQ(turn().news.size(), 1U);
  EXPECT_EQ(link_->state(), LinkState::kJoined);
}

TEST_F(AgentLinkTest, CallsAgainWithPausesThatGrow) {
  unreachable_ = true;
  turn();
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(link_->trouble(), "no route to host");
  std::vector<double> pauses;
  for (int i = 0; i < 9; ++i) {
    const Seconds before = now_;
    now_ = std::max(now_, link_->wakes_at());
    pauses.push_back((now_ - before).in(kSecond));
    turn();
  }
  EXPECT_EQ(calls_, 10);
  EXPECT_DOUBLE_EQ(pauses[0], 0);  // At once,
  EXPECT_NEAR(pauses[1], 0.2, 1e-9);
  EXPECT_NEAR(pauses[2], 0.4, 1e-9);
  EXPECT_NEAR(pauses[8], 10, 1e-9);  // and never less often than every 10 s.
  turn(1 * kSecond);
  EXPECT_EQ(calls_, 10);
}

TEST_F(AgentLinkTest, AnAgentThatJoinsAndLiesIsCalledLessAndLess) {
  for (int i = 0; i < 7; ++i) {
    now_ = std::max(now_, link_->wakes_at());
    unread_.clear();
    join();
    ASSERT_EQ(link_->state(), LinkState::kJoined);
    tell({.heard = 99});
    turn();
    ASSERT_EQ(link_->state(), LinkState::kAway);
  }
  EXPECT_GT((link_->wakes_at() - now_).in(kSecond), 5);
}

TEST_F(AgentLinkTest, ASilentAgentIsCalledAgain) {
  join();
  for (int i = 0; i < 3; ++i) {
    turn(5 * kSecond);
    EXPECT_EQ(link_->state(), LinkState::kJoined);
  }
  turn(1 * kSecond);
  EXPECT_EQ(link_->state(), LinkState::kAway);
  EXPECT_EQ(link_->trouble(), "no answer for 15 s");
  // So is one that says no welcome.
  turn(1 * kSecond);
  EXPECT_EQ(link_->state(), LinkState::kCalling);
  turn(31 * kSecond);
  EXPECT_EQ(link_->state(), LinkState::kAway);
}

TEST_F(AgentLinkTest, RenewsTheLease) {
  make_link({.terms = {.lease = 8 * kSecond}});
  join();
  int renewals = 0;
  for (int i = 0; i < 32; ++i) {
    tell({.heard = 0});
    turn(125 * kMillisecond);
    for (const AgentOrder& order : heard()) renewals += order.renew ? 1 : 0;
  }
  EXPECT_EQ(renewals, 3);  // At once, and every 2 s.
  EXPECT_NEAR((link_->wakes_at() - now_).in(kSecond), 2, 0.11);
}

TEST_F(AgentLinkTest, RefusalsAreForGood) {
  turn();
  tell({.refused = AgentRefused{AgentRefusal::kAttempt, "attempt 7 has taken over\x1b"}});
  turn();
  EXPECT_EQ(link_->state(), LinkState::kRefused);
  ASSERT_TRUE(link_->refused());
  EXPECT_EQ(link_->refused()->reason, "attempt 7 has taken over?");
  turn(100 * kSecond);
  EXPECT_EQ(calls_, 1);
}

TEST_F(AgentLinkTest, AnAgentWithoutTheSecretHearsNothing) {
  turn();
  heard();
  tell({.welcome = AgentWelcome{.agent = "a", .nonce = "N", .proof = std::string(64, '0')}});
  tell({.joined = AgentJoined{}});
  const LinkNews news = turn();
  EXPECT_FALSE(news.joined);
  EXPECT_EQ(link_->state(), LinkState::kRefused);
  EXPECT_EQ(link_->refused()->cause, AgentRefusal::kSecret);
  EXPECT_TRUE(heard().empty());
}

TEST_F(AgentLinkTest, LiesEndTheStream) {
  const auto ends = [&](const AgentNews& lie) {
    make_link({});
    unread_.clear();
    join();
    tell(lie);
    turn();
    return link_->state() == LinkState::kAway;
  };
  EXPECT_TRUE(ends({.number = 2, .problem = "a gap"}));
  EXPECT_TRUE(ends({.heard = 99}));
  EXPECT_TRUE(ends({.joined = AgentJoined{}}));
  EXPECT_TRUE(ends({.welcome = AgentWelcome{.agent = "b"}}));
  EXPECT_FALSE(ends({.heard = 1}));
  write_all(news_.get(), "SSH-2.0-OpenSSH\n");
  turn();
  EXPECT_EQ(link_->state(), LinkState::kAway);
  // Before the proofs as well.
  make_link({});
  turn();
  tell({.number = 1, .problem = "unasked"});
  EXPECT_TRUE(turn().news.empty());
  EXPECT_EQ(link_->state(), LinkState::kAway);
}

TEST_F(AgentLinkTest, AnAgentThatLeftIsNotCalledAgain) {
  join();
  heard();
  ASSERT_TRUE(link_->send({.leave = true}).ok());
  turn();
  EXPECT_TRUE(heard().back().leave);
  tell({.number = 1, .leaving = "the runner releases the machine"});
  EXPECT_EQ(turn().news.size(), 1U);
  news_.close();
  turn();
  turn(2 * kSecond);
  EXPECT_EQ(link_->state(), LinkState::kLeft);
  turn(100 * kSecond);
  EXPECT_EQ(calls_, 1);
}

TEST_F(AgentLinkTest, AnAgentThatACutStartedLeavesToo) {
  join("a");
  ASSERT_TRUE(link_->send({.leave = true}).ok());
  news_.close();
  turn();
  turn(2 * kSecond);
  unread_.clear();
  turn(1 * kSecond);
  EXPECT_TRUE(join("b").replaced);
  EXPECT_TRUE(heard().back().leave);
}

TEST_F(AgentLinkTest, OldAttemptsSayNothing) {
  join();
  tell({.number = 1, .said = ProcessSaid{.attempt = 1, .message = Json(Json::Object{})}});
  tell({.number = 2, .said = ProcessSaid{.attempt = 2, .message = Json(Json::Object{})}});
  const LinkNews news = turn();
  ASSERT_EQ(news.news.size(), 1U);
  EXPECT_EQ(news.news[0].number, 2);
  EXPECT_EQ(link_->outdated(), 1);
}

TEST_F(AgentLinkTest, OrdersThatNobodyTakesAreBounded) {
  const Json message(Json::Object{{"train", Json(std::string(100000, 'x'))}});
  Status sent;
  int count = 0;
  for (; sent.ok() && count < 1000; ++count) {
    sent = link_->send({.tell = ProcessTell{.process = 0, .message = message}});
  }
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().kind, ErrorKind::kUnavailable);
  EXPECT_LT(count, 180);  // 16 MiB.
  EXPECT_FALSE(link_->send({.start = test_shell(std::string(kAgentLineMax, 'x'))}).ok());
}

}  // namespace
}  // namespace stint
