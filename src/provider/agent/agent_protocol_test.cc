#include "provider/agent/agent_protocol.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace stint {
namespace {

/// The error of a line, or "none".
std::string order_error(std::string_view line) {
  const auto order = read_order(line);
  return order.ok() ? "none" : order.error().message;
}

std::string news_error(std::string_view line) {
  const auto news = read_news(line);
  return news.ok() ? "none" : news.error().message;
}

Json json(const std::string& text) { return *parse_json(text, "test"); }

TEST(AgentProtocol, OrdersReadAsTheyWereWritten) {
  const AgentOrder orders[] = {
      {.hello = AgentHello{.version = "0.1",
                           .run = "r",
                           .machine = "vm1",
                           .attempt = 3,
                           .session = "s",
                           .nonce = "n",
                           .secret = "x",
                           .agent = "a",
                           .heard = 17}},
      {.proof = "abc"},
      {.heard = 5},
      {.renew = true},
      {.number = 1, .terms = AgentTerms{.release = {"poweroff"}, .metadata = "127.0.0.1:80"}},
      {.number = 2,
       .start = ProcessStart{.process = 1,
                             .role = ProcessRole::kReceiver,
                             .attempt = 3,
                             .rank = 7,
                             .words = {"stint", "receive"},
                             .variables = {"A=b=c"},
                             .inherited = {"HF_TOKEN"},
                             .folder = "/x",
                             .mark = "m",
                             .input = "line"}},
      {.number = 3, .tell = ProcessTell{.process = 1, .message = json(R"({"end":{}})")}},
      {.number = 4, .signal = ProcessSignal{.process = 1, .signal = 15}},
      {.number = 5, .end = 1},
      {.number = 6, .leave = true}};
  for (const AgentOrder& order : orders) {
    std::string line = to_line(order);
    ASSERT_TRUE(line.ends_with('\n'));
    line.pop_back();
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto read = read_order(line);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(to_line(*read), line + "\n");
  }
}

TEST(AgentProtocol, NewsReadAsTheyWereWritten) {
  const AgentNews all[] = {
      {.welcome = AgentWelcome{.version = "0.1", .agent = "a", .nonce = "n", .proof = "p"}},
      {.refused = AgentRefused{AgentRefusal::kAttempt, "too old"}},
      {.joined = AgentJoined{.heard = 4,
                             .acknowledged = 2,
                             .processes = {{.process = 0, .attempt = 1, .pid = 77, .mark = "m"}}}},
      {.heard = 9},
      {.number = 1,
       .facts = MachineFacts{.architecture = "x86_64",
                             .system = "Linux 6",
                             .processors = 4,
                             .memory = kGiB,
                             .gpus = {{.name = "T4", .memory = kGiB, .count = 2}},
                             .nics = {{.name = "eth0", .address = "10.0.0.1"}},
                             .torch = "2.6"}},
      {.number = 2, .started = ProcessStanding{.process = 1, .pid = 5}},
      {.number = 3, .said = ProcessSaid{.process = 1, .message = json(R"({"step":{"n":1}})")}},
      {.number = 4, .log = ProcessLog{.process = 1, .error = true, .line = "\x1b[0m", .lost = 3}},
      {.number = 5, .ended = ProcessEnded{.process = 1, .code = 137, .reason = "killed"}},
      {.number = 6, .notice = MachineNotice{.source = "ec2", .left = 120 * kSecond}},
      {.number = 7, .leaving = "the lease is over"},
      {.number = 8, .problem = "there is no process 3"}};
  for (const AgentNews& news : all) {
    std::string line = to_line(news);
    line.pop_back();
    const auto read = read_news(line);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(to_line(*read), line + "\n");
  }
}

TEST(AgentProtocol, AMessageIsOneOrder) {
  EXPECT_NE(order_error(R"({"number":0})").find("exactly one order"), std::string::npos);
  EXPECT_NE(order_error(R"({"number":0,"renew":true,"heard":1})").find("exactly one order"),
            std::string::npos);
  EXPECT_NE(order_error(R"({"number":1,"renew":true})").find("wrong number"), std::string::npos);
  EXPECT_NE(order_error(R"({"number":0,"leave":true})").find("wrong number"), std::string::npos);
  EXPECT_NE(order_error(R"({"number":-1,"leave":true})"), "none");
  EXPECT_NE(order_error("[]"), "none");
  EXPECT_NE(order_error("leave"), "none");
  EXPECT_NE(news_error(R"({"number":0})").find("exactly one piece of news"), std::string::npos);
  EXPECT_NE(news_error(R"({"number":0,"problem":"x"})").find("wrong number"), std::string::npos);
}

TEST(AgentProtocol, RefusesWhatNoProcessCanBe) {
  const auto start = [](const std::string& rest) {
    return order_error(R"({"number":1,"start":{"process":0,"role":"worker","attempt":1,"rank":0,)"
                       R"("folder":"","mark":"")" +
                       rest + "}}");
  };
  EXPECT_EQ(start(R"(,"words":["true"])"), "none");
  EXPECT_NE(start("").find("needs a program"), std::string::npos);
  EXPECT_NE(start(R"(,"words":["a\u0000b"])").find("null character"), std::string::npos);
  EXPECT_NE(start(R"(,"words":["a"],"variables":["B"])").find("NAME=value"), std::string::npos);
  EXPECT_NE(start(R"(,"words":["a"],"variables":["=B"])").find("NAME=value"), std::string::npos);
  EXPECT_NE(start(R"(,"words":["a"],"input":"b\nc")").find("one line"), std::string::npos);
  EXPECT_NE(order_error(R"({"number":1,"signal":{"process":0,"signal":0}})"), "none");
  EXPECT_NE(order_error(R"({"number":1,"signal":{"process":0,"signal":64}})"), "none");
  EXPECT_NE(order_error(R"({"number":1,"end":1024})"), "none");
}

TEST(AgentProtocol, RefusesWhatIsTooLarge) {
  const std::string long_line =
      R"({"number":0,"proof":")" + std::string(kAgentLineMax, 'x') + "\"}";
  EXPECT_NE(order_error(long_line).find("more than"), std::string::npos);
  std::string many = R"({"number":1,"tell":{"process":0,"message":[0)";
  for (std::size_t i = 0; i < kAgentValuesMax; ++i) many += ",0";
  EXPECT_NE(order_error(many + "]}}"), "none");
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_NE(order_error(R"({"number":1,"tell":{"process":0,"message":)" + deep + "}}"), "none");
}

TEST(AgentProtocol, AWorkersMessageFitsIntoNews) {
  EXPECT_TRUE(read_worker_message(R"({"step":{"number":1}})"));
  EXPECT_FALSE(read_worker_message("[1]"));
  EXPECT_FALSE(read_worker_message("step 1"));
  EXPECT_FALSE(read_worker_message("{\"a\":\"" + std::string(kWorkerMessageMax, 'x') + "\"}"));
  // The deepest one that is taken is read by the runner inside of its envelope.
  const auto nested = [](int levels) {
    std::string text = "0";
    for (int i = 0; i < levels; ++i) text = "{\"a\":" + text + "}";
    return text;
  };
  EXPECT_FALSE(read_worker_message(nested(kWorkerDepthMax + 1)));
  const auto deepest = read_worker_message(nested(kWorkerDepthMax));
  ASSERT_TRUE(deepest);
  EXPECT_EQ(depth_of(*deepest), kWorkerDepthMax);
  std::string line = to_line(AgentNews{.number = 1, .said = ProcessSaid{.message = *deepest}});
  line.pop_back();
  EXPECT_EQ(news_error(line), "none");
}

TEST(AgentProtocol, SeesAnotherVersionInAHelloItCannotRead) {
  EXPECT_EQ(other_protocol(R"({"hello":{"protocol":"stint.agent/2","new":{}}})"), "stint.agent/2");
  EXPECT_EQ(other_protocol(R"({"hello":{"protocol":"stint.agent/1"}})"), std::nullopt);
  EXPECT_EQ(other_protocol(R"({"hello":{}})"), std::nullopt);
  EXPECT_EQ(other_protocol("{"), std::nullopt);
}

TEST(AgentProtocol, AProofIsOfOneSideAndOneStream) {
  const AgentHello hello{.run = "r", .machine = "m", .attempt = 2, .session = "s", .nonce = "n"};
  const std::string secret(64, 'a');
  const std::string proof = agent_proof(secret, AgentSide::kAgent, hello, "N");
  // HMAC-SHA-256 of the text in the header.
  EXPECT_EQ(proof, to_hex(hmac_sha256(secret, "stint.agent/1\nagent\nr\nm\n2\ns\nn\nN\n")));
  EXPECT_NE(proof, agent_proof(secret, AgentSide::kRunner, hello, "N"));
  EXPECT_NE(proof, agent_proof(secret, AgentSide::kAgent, hello, "M"));
  EXPECT_NE(proof, agent_proof(std::string(64, 'b'), AgentSide::kAgent, hello, "N"));
  AgentHello other = hello;
  other.nonce = "o";
  EXPECT_NE(proof, agent_proof(secret, AgentSide::kAgent, other, "N"));
  // Lines tell names apart, so that names have one each.
  other = hello;
  other.run = "r\nm";
  std::string line = to_line(AgentOrder{.hello = other});
  line.pop_back();
  EXPECT_NE(order_error(line).find("several lines"), std::string::npos);
}

}  // namespace
}  // namespace stint
