#include "provider/agent/metadata_watch.h"

#include <csignal>
#include <gtest/gtest.h>
#include <map>

#include "base/listener.h"
#include "base/process.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 30 * kSecond;
const Seconds kNow = 1.6e9 * kSecond;  // 2020-09-13T12:26:40Z.

/// A service with these answers by path; a header of each request must be there.
class FakeService {
 public:
  FakeService(std::string header, std::map<std::string, std::string> pages)
      : header_(std::move(header)), pages_(std::move(pages)) {}

  AskMetadata ask() {
    return [this](const MetadataQuestion& question) -> std::optional<MetadataAnswer> {
      ++asked;
      if (question.method == "PUT") {
        if (header_ != "X-aws-ec2-metadata-token") return MetadataAnswer{.status = 404};
        return MetadataAnswer{.status = 200, .body = token};
      }
      const bool allowed = !question.headers.empty() && question.headers[0].first == header_ &&
                           (question.headers[0].second == token || header_[0] == 'M');
      if (!allowed) return MetadataAnswer{.status = header_[0] == 'M' ? 403 : 401};
      const auto page = pages_.find(question.path);
      if (page == pages_.end()) return MetadataAnswer{.status = 404};
      return MetadataAnswer{.status = 200, .body = page->second};
    };
  }

  void set(const std::string& path, const std::string& body) { pages_[path] = body; }

  std::string token = "first";
  int asked = 0;

 private:
  std::string header_;
  std::map<std::string, std::string> pages_;
};

TEST(MetadataWatch, KnowsEc2) {
  FakeService service("X-aws-ec2-metadata-token",
                      {{"/latest/meta-data/instance-type", "g4dn.xlarge"},
                       {"/latest/meta-data/placement/availability-zone", "us-east-1a"}});
  MetadataWatch watch(service.ask());
  MachineFacts facts;
  EXPECT_FALSE(watch.notice(kNow));
  ASSERT_TRUE(watch.identify(facts));
  EXPECT_EQ(facts.provider, "ec2");
  EXPECT_EQ(facts.type, "g4dn.xlarge");
  EXPECT_EQ(facts.zone, "us-east-1a");
  EXPECT_FALSE(watch.notice(kNow));
  service.token = "second";  // The first has expired.
  service.set("/latest/meta-data/spot/instance-action",
              R"({"action": "terminate", "time": "2020-09-13T12:28:40Z"})");
  const auto notice = watch.notice(kNow);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->source, "ec2");
  EXPECT_DOUBLE_EQ(notice->left->in(kSecond), 120);
}

TEST(MetadataWatch, KnowsGoogleCloud) {
  FakeService service(
      "Metadata-Flavor",
      {{"/computeMetadata/v1/instance/machine-type", "projects/1/machineTypes/n1-standard-4"},
       {"/computeMetadata/v1/instance/zone", "projects/1/zones/us-central1-a"},
       {"/computeMetadata/v1/instance/preempted", "FALSE"}});
  MetadataWatch watch(service.ask());
  MachineFacts facts;
  ASSERT_TRUE(watch.identify(facts));
  EXPECT_EQ(facts.provider, "gcp");
  EXPECT_EQ(facts.type, "n1-standard-4");
  EXPECT_EQ(facts.zone, "us-central1-a");
  EXPECT_FALSE(watch.notice(kNow));
  service.set("/computeMetadata/v1/instance/preempted", "TRUE\n");
  const auto notice = watch.notice(kNow);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->source, "gcp");
  EXPECT_DOUBLE_EQ(notice->left->in(kSecond), 30);
}

TEST(MetadataWatch, KnowsAzure) {
  FakeService service("Metadata",
                      {{"/metadata/instance/compute?api-version=2021-02-01",
                        R"({"vmSize":"Standard_NC6","location":"westus","zone":"2"})"},
                       {"/metadata/scheduledevents?api-version=2020-07-01", R"({"Events":[]})"}});
  MetadataWatch watch(service.ask());
  MachineFacts facts;
  ASSERT_TRUE(watch.identify(facts));
  EXPECT_EQ(facts.provider, "azure");
  EXPECT_EQ(facts.type, "Standard_NC6");
  EXPECT_EQ(facts.zone, "westus-2");
  EXPECT_FALSE(watch.notice(kNow));
  service.set("/metadata/scheduledevents?api-version=2020-07-01",
              R"({"Events":[{"EventType":"Freeze","NotBefore":""},
                      {"EventType":"Preempt","NotBefore":"Sun, 13 Sep 2020 12:27:10 GMT"}]})");
  const auto notice = watch.notice(kNow);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->source, "azure");
  EXPECT_DOUBLE_EQ(notice->left->in(kSecond), 30);
}

TEST(MetadataWatch, NobodyAnswers) {
  MetadataWatch silent([](const MetadataQuestion&) { return std::nullopt; });
  MachineFacts facts;
  EXPECT_FALSE(silent.identify(facts));
  EXPECT_FALSE(facts.provider);
  EXPECT_FALSE(silent.notice(kNow));
  FakeService empty("X-aws-ec2-metadata-token", {});
  MetadataWatch watch(empty.ask());
  EXPECT_FALSE(watch.identify(facts));
  EXPECT_FALSE(watch.notice(kNow));
}

TEST(MetadataWatch, MalformedNoticesAreNone) {
  for (const char* body : {"", "{", "[]", "{}", R"({"time":5})", R"({"Events":{}})",
                           R"({"Events":[3]})", R"({"Events":[{"EventType":5}]})"}) {
    EXPECT_FALSE(ec2_notice(body, kNow)) << body;
    EXPECT_FALSE(azure_notice(body, kNow)) << body;
  }
  // The time has passed, or is none: the notice stands.
  const auto late = ec2_notice(R"({"action":"stop","time":"2019-01-01T00:00:00Z"})", kNow);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->left, Seconds{});
  EXPECT_FALSE(ec2_notice(R"({"action":"stop","time":"soon"})", kNow)->left);
  EXPECT_EQ(azure_notice(R"({"Events":[{"EventType":"Preempt","NotBefore":""}]})", kNow)->left,
            Seconds{});
  EXPECT_FALSE(parse_http_date("Sun, 13 Sep 2020"));
  EXPECT_FALSE(parse_http_date("Sun, 13 Foo 2020 12:27:10 GMT"));
  EXPECT_FALSE(parse_http_date("Sun, xx Sep 2020 12:27:10 GMT"));
}

TEST(MetadataWatch, ReadsAnswersOfHttp) {
  const auto answer = parse_metadata_answer("HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nbody");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "body");
  for (const char* bytes :
       {"", "HTTP/1.1 200 OK\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1 x\r\n\r\n", "HTTP/1.1\r\n\r\n"}) {
    EXPECT_FALSE(parse_metadata_answer(bytes)) << bytes;
  }
}

TEST(MetadataWatch, AsksOverAConnection) {
  const auto listener = Listener::on(kLoopback, 0);
  ASSERT_TRUE(listener.ok());
  const auto child = fork_child(
      [&](int report) {
        const auto client = listener->accept();
        std::string request;
        while (request.find("\r\n\r\n") == std::string::npos) {
          const std::string line = read_line(client->get(), kPatience);
          if (line.empty()) return 1;
          request += line + "\n";
        }
        write_all(client->get(), "HTTP/1.0 200 OK\r\n\r\nhere");
        write_all(report, request.substr(0, request.find("\r\n")) + "\n");
        return 0;
      },
      {.death_signal = SIGKILL});
  ASSERT_TRUE(child.ok());
  const auto ask = metadata_at("127.0.0.1:" + std::to_string(listener->port()), kPatience);
  const auto answer = ask({.path = "/x", .headers = {{"Metadata", "true"}}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "here");
  EXPECT_EQ(read_line(child->report.get(), kPatience), "GET /x HTTP/1.0");
  EXPECT_EQ(wait_for_exit(child->pid), 0);
  EXPECT_FALSE(metadata_at("nowhere", kPatience)({.path = "/x"}));
}

}  // namespace
}  // namespace stint
