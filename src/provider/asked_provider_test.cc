#include "provider/asked_provider.h"

#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

/// An engine whose machines are files, so that other processes see them. A file "hang" makes
/// requests wait for ever, and "crash" ends the process that asks.
class FolderEngine : public Engine {
 public:
  explicit FolderEngine(std::string folder) : folder_(std::move(folder)) {}

  Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const override {
    while (has("hang")) ::usleep(1000);
    if (has("crash")) {
      (void)::unlink((folder_ + "/crash").c_str());
      ::_exit(1);
    }
    if (order.type == "unknown") {
      return std::optional(MachineRefusal{.name = order.name, .reason = "no such type"});
    }
    const Status written = write_file(folder_ + "/" + order.name, "up");
    if (!written.ok()) return written.error();
    return std::optional<MachineRefusal>();
  }

  Status release(const std::string& name) const override {
    (void)::unlink((folder_ + "/" + name).c_str());
    return {};
  }

  Result<MachineList> look() const override {
    while (has("hang-looks")) ::usleep(1000);
    if (has("dark")) return failed("nobody answers");
    MachineList list;
    for (const char* name : {"vm1", "vm2"}) {
      if (has(name)) list.machines.push_back({.name = name, .phase = MachinePhase::kUp});
    }
    return list;
  }

  Result<pid_t> spawn(const std::string& /*name*/, Command command) const override {
    return start_process(command);
  }

  bool has(const std::string& name) const {
    return ::access((folder_ + "/" + name).c_str(), 0) == 0;
  }

 private:
  std::string folder_;
};

class AskedProviderTest : public testing::Test {
 protected:
  /// Observes until the news are as wanted, for a minute at most.
  template <class Wanted>
  bool until(Wanted wanted) {
    for (const Deadline limit(1 * kMinute); !limit.passed();) {
      const ProviderNews news = provider_.observe();
      if (wanted(news)) return true;
      pollfd waiting{.fd = provider_.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, 20);
    }
    return false;
  }

  static bool lists(const ProviderNews& news, std::size_t machines) {
    return news.list && news.list->machines.size() == machines;
  }

  void put(const std::string& name) { (void)write_file(place_.path() + "/" + name, ""); }
  void remove(const std::string& name) { (void)::unlink((place_.path() + "/" + name).c_str()); }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  FolderEngine engine_{place_.path()};
  AskedProvider provider_{
      engine_,
      {.look = 10 * kMillisecond, .pause_min = 10 * kMillisecond, .pause_max = 50 * kMillisecond}};
};

TEST_F(AskedProviderTest, RentsRefusesAndReleases) {
  provider_.request({.name = "vm1", .type = "small"});
  EXPECT_TRUE(until([](const ProviderNews& news) { return lists(news, 1); }));
  provider_.request({.name = "vm2", .type = "unknown"});
  EXPECT_TRUE(until([](const ProviderNews& news) {
    return news.refused.size() == 1 && news.refused[0].reason == "no such type";
  }));
  provider_.release("vm1");
  EXPECT_TRUE(until([](const ProviderNews& news) { return news.owed.empty(); }));
  EXPECT_FALSE(engine_.has("vm1"));
}

TEST_F(AskedProviderTest, NewsArriveWhileARequestHangs) {
  put("hang");
  provider_.request({.name = "vm1", .type = "small"});
  put("vm2");
  EXPECT_TRUE(until([](const ProviderNews& news) { return lists(news, 1); }));
  remove("vm2");
  EXPECT_TRUE(until([](const ProviderNews& news) { return lists(news, 0); }));
  remove("hang");
  EXPECT_TRUE(until([](const ProviderNews& news) { return lists(news, 1); }));
}

TEST_F(AskedProviderTest, ARequestThatEndsItsProcessIsRepeatedByAnother) {
  put("crash");
  provider_.request({.name = "vm1", .type = "small"});
  EXPECT_TRUE(until([](const ProviderNews& news) { return lists(news, 1); }));
  EXPECT_FALSE(engine_.has("crash"));
}

TEST_F(AskedProviderTest, ACallThatHangsIsGivenUpSaidAndRepeated) {
  AskedProvider impatient(engine_, {.look = 10 * kMillisecond,
                                    .pause_min = 10 * kMillisecond,
                                    .pause_max = 50 * kMillisecond,
                                    .patience = 200 * kMillisecond});
  put("hang");
  impatient.request({.name = "vm1", .type = "small"});
  impatient.release("vm2");  // Waits for the request's end.
  put("vm2");
  const auto until_gone = [&](const char* name) {
    for (const Deadline limit(1 * kMinute); !limit.passed() && engine_.has(name);) {
      (void)impatient.observe();
      ::usleep(5000);
    }
    return !engine_.has(name);
  };
  EXPECT_TRUE(until_gone("vm2"));
  remove("hang");
  for (const Deadline limit(1 * kMinute); !limit.passed() && !engine_.has("vm1");) {
    (void)impatient.observe();
    ::usleep(5000);
  }
  EXPECT_TRUE(engine_.has("vm1"));
}

TEST_F(AskedProviderTest, ALookThatHangsIsTrouble) {
  AskedProvider impatient(engine_, {.look = 10 * kMillisecond, .patience = 100 * kMillisecond});
  put("hang-looks");
  std::optional<EngineTrouble> trouble;
  for (const Deadline limit(1 * kMinute); !limit.passed() && !trouble;) {
    trouble = impatient.observe().trouble;
    ::usleep(5000);
  }
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->error.message, "no answer within 0.1 s");
}

TEST_F(AskedProviderTest, AnEngineThatDoesNotAnswerIsTroubleAndNothingIsGone) {
  put("dark");
  EXPECT_TRUE(until([](const ProviderNews& news) {
    return news.trouble && news.trouble->failures >= 3 &&
           news.trouble->error.message == "nobody answers";
  }));
  remove("dark");
  EXPECT_TRUE(until([](const ProviderNews& news) { return lists(news, 0) && !news.trouble; }));
}

}  // namespace
}  // namespace stint
