#include "cli/run.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <new>
#include <stdexcept>

#include "app/version.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "cli/help.h"
#include "cli/verbs.h"

namespace stint::cli {
namespace {

struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// A stream whose text can be read.
class Paper {
 public:
  Paper() : stream_(open_memstream(&bytes_, &size_)) {}
  Paper(const Paper&) = delete;
  Paper& operator=(const Paper&) = delete;
  ~Paper() {
    std::fclose(stream_);
    std::free(bytes_);
  }
  std::FILE* stream() const { return stream_; }
  std::string text() const {
    std::fflush(stream_);
    return {bytes_, size_};
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

Variables variables_of(const std::map<std::string, std::string>& set) {
  return [set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? "" : found->second;
  };
}

Answer stint(const std::vector<std::string>& words,
             const std::map<std::string, std::string>& variables = {}) {
  const Paper out;
  const Paper err;
  const int code = run(words, variables_of(variables), out.stream(), err.stream());
  return {.code = code, .out = out.text(), .err = err.text()};
}

std::string fresh_folder(const char* name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_run_test" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

TEST(Run, AnExceptionIsASentenceAndAFailure) {
  const Paper err;
  const Invocation streams{.err = err.stream()};
  const auto raise = [](const std::exception_ptr& what) {
    return [what]() -> ExitCode { std::rethrow_exception(what); };
  };
  EXPECT_EQ(guarded(streams, raise(std::make_exception_ptr(std::bad_alloc()))), kExitFailed);
  EXPECT_EQ(guarded(streams, raise(std::make_exception_ptr(std::length_error("x")))), kExitFailed);
  EXPECT_EQ(guarded(streams, raise(std::make_exception_ptr(std::runtime_error("y")))), kExitFailed);
  EXPECT_EQ(guarded(streams, raise(std::make_exception_ptr(1))), kExitFailed);
  EXPECT_EQ(guarded(streams, [] { return kExitInfeasible; }), kExitInfeasible);
  constexpr const char* kMemory =
      "stint: out of memory: the request needs more than this computer has; use smaller inputs\n";
  EXPECT_EQ(err.text(), std::string(kMemory) + kMemory +
                            "stint: a bug in stint: y\nstint: a bug in stint: an unknown "
                            "exception\n");
}

TEST(Run, WithoutWordsShowsHelpAsAnError) {
  const Answer answer = stint({});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, help_text(verbs(), ""));
}

TEST(Run, HelpThatIsAskedForIsTheAnswer) {
  for (const char* word : {"help", "--help", "-h"}) {
    const Answer answer = stint({word});
    EXPECT_EQ(answer.code, kExitOk) << word;
    EXPECT_EQ(answer.out, help_text(verbs(), "")) << word;
    EXPECT_EQ(answer.err, "") << word;
  }
}

TEST(Run, HelpOnAVerbCanBeAskedForInTwoWays) {
  const std::string expected = help_text(verbs(), "catalog list");
  EXPECT_EQ(stint({"help", "catalog", "list"}).out, expected);
  EXPECT_EQ(stint({"catalog", "list", "--help"}).out, expected);
  EXPECT_EQ(stint({"help", "catalog"}).out, help_text(verbs(), "catalog"));
}

TEST(Run, EveryVerbHasHelpThatSucceeds) {
  for (const Verb& verb : verbs()) {
    std::vector<std::string> words = split(verb.path, ' ');
    words.insert(words.begin(), "help");
    const Answer answer = stint(words);
    EXPECT_EQ(answer.code, kExitOk) << verb.path;
    EXPECT_EQ(answer.out, help_text(verbs(), verb.path));
  }
}

TEST(Run, HelpOnNothingKnownIsAUsageError) {
  const Answer answer = stint({"help", "catalgo"});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_EQ(answer.out, "");
  EXPECT_NE(answer.err.find("'catalog'"), std::string::npos) << answer.err;
}

TEST(Run, AnUnknownVerbIsAUsageErrorOnTheErrorStream) {
  const Answer answer = stint({"catalgo"});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, "stint: 'catalgo' is not a verb of stint. Did you mean 'catalog'?\n");
}

TEST(Run, AnUnknownFlagIsAUsageError) {
  EXPECT_EQ(stint({"version", "--outptu", "json"}).code, kExitUsage);
}

TEST(Run, VersionIsAVerbAndAFlag) {
  const Answer answer = stint({"--version"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.out, "stint " + version().number + "\n");
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(stint({"version"}).out, answer.out);
  EXPECT_TRUE(parse_json(stint({"--version", "-o", "json"}).out, "output").ok());
}

// The version waits in the buffer until the end, the manual page is too long for that.
TEST(Run, OutputToAFullDeviceFailsAndSaysWhy) {
  for (const char* verb : {"version", "man"}) {
    std::FILE* full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    const Paper err;
    EXPECT_EQ(run({verb}, variables_of({}), full, err.stream()), kExitFailed) << verb;
    std::fclose(full);
    EXPECT_EQ(err.text(), "stint: cannot write the output: No space left on device\n");
  }
}

TEST(Run, TalkToAFullDeviceDoesNoHarm) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  std::setvbuf(full, nullptr, _IONBF, 0);
  const Paper out;
  EXPECT_EQ(run({"catalgo"}, variables_of({}), out.stream(), full), kExitUsage);
  EXPECT_EQ(run({"version"}, variables_of({}), out.stream(), full), kExitOk);
  std::fclose(full);
}

TEST(Run, AFullDeviceDoesNotHideAnotherError) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  const Paper err;
  EXPECT_EQ(run({"catalgo"}, variables_of({}), full, err.stream()), kExitUsage);
  std::fclose(full);
}

TEST(Run, ABadClockIsAUsageError) {
  const Answer answer = stint({"version"}, {{"STINT_NOW", "soon"}});
  EXPECT_EQ(answer.code, kExitUsage);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(answer.err.starts_with("stint: STINT_NOW is 'soon'")) << answer.err;
}

TEST(Run, HelpDoesNotNeedTheEnvironment) {
  EXPECT_EQ(stint({"help"}, {{"STINT_NOW", "soon"}}).code, kExitOk);
}

TEST(Run, VerbsSeeTheVariables) {
  const std::string home = fresh_folder("variables");
  ASSERT_TRUE(write_file(home + "/stint/catalogs/a.json", "{").ok());
  const Answer answer = stint({"catalog", "list"}, {{"XDG_DATA_HOME", home}});
  EXPECT_EQ(answer.code, kExitBadInput);
  EXPECT_NE(answer.err.find(home + "/stint/catalogs/a.json"), std::string::npos) << answer.err;
}

TEST(Run, TheAnswerAndTheTalkDoNotMix) {
  const Answer answer = stint({"catalog", "list", "--gpu", "T4", "-o", "json"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_TRUE(read_catalog(answer.out, "output").ok());
  EXPECT_EQ(answer.err, "");
}

}  // namespace
}  // namespace stint::cli
