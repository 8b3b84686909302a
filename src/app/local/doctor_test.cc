#include "app/local/doctor.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

#include "base/date.h"
#include "base/file.h"
#include "load/catalog_cases.h"

namespace stint {
namespace {

using Verdict = Finding::Level;

std::string fresh_folder(const char* name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_doctor_test" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

Seconds start_of(const Date& date) {
  return days_between({.year = 1970, .month = 1, .day = 1}, date) * kDay;
}

/// A machine on which all but the age of some prices is well.
Environment sound_machine(const char* name) {
  const std::string home = fresh_folder(name);
  return {.data_folder = home + "/data",
          .home = home,
          .shell = "sh",
          .charset = "UTF-8",
          .clock = std::make_shared<FixedClock>(start_of({.year = 2026, .month = 8, .day = 22}))};
}

Finding finding_of(const std::vector<Finding>& findings, const std::string& feature) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& it) { return it.feature == feature; });
  return found == findings.end() ? Finding{.detail = "none of " + feature} : *found;
}

Finding examined(const Environment& environment, const std::string& feature) {
  return finding_of(examine(environment), feature);
}

Date oldest_price(const Catalog& catalog, const std::string& provider) {
  Date oldest{.year = 9999};
  for (const VmType& type : catalog.types) {
    if (type.provider != provider) continue;
    for (const Offer& offer : type.offers) {
      if (offer.on_demand) oldest = std::min(oldest, offer.on_demand->date);
    }
  }
  return oldest;
}

/// The bundled catalogue as if its prices had been read on `date`.
Catalog catalog_of(const Date& date) {
  Catalog catalog = bundled_catalog();
  for (VmType& type : catalog.types) {
    for (Offer& offer : type.offers) {
      if (offer.on_demand) offer.on_demand->date = date;
      if (offer.spot) offer.spot->date = date;
    }
  }
  return catalog;
}

/// Adds a catalogue to the user's.
void keep(const Environment& environment, const Catalog& catalog) {
  const std::string file = *user_catalog_folder(environment) + "/own.json";
  EXPECT_TRUE(write_file(file, write_catalog(catalog)).ok());
}

TEST(Doctor, ASoundMachineNeedsNothing) {
  const Environment environment = sound_machine("sound");
  keep(environment, catalog_of({.year = 2026, .month = 8}));
  const auto findings = examine(environment);
  for (const Finding& it : findings) {
    EXPECT_EQ(it.level, Verdict::kGood) << it.feature << ": " << it.detail;
    EXPECT_EQ(it.fix, "") << it.feature;
    EXPECT_NE(it.detail, "") << it.feature;
  }
}

TEST(Doctor, DatesThePricesOfEveryProvider) {
  const auto findings = examine(sound_machine("dates"));
  for (const char* prices :
       {"aws on-demand", "aws spot", "gcp on-demand", "gcp spot", "azure on-demand"}) {
    const Finding finding = finding_of(findings, prices);
    EXPECT_NE(finding.detail.find(" days old"), std::string::npos) << finding.detail;
  }
}

TEST(Doctor, LooksButDoesNotTouch) {
  const Environment environment = sound_machine("untouched");
  const Finding finding = examined(environment, "own catalogues");
  EXPECT_NE(finding.detail.find("the first import creates it"), std::string::npos)
      << finding.detail;
  EXPECT_FALSE(std::filesystem::exists(*environment.data_folder));
}

// Prices count as old when more than 180 days have passed.
TEST(Doctor, OldPricesBecomeAdviceWithAFix) {
  Environment environment = sound_machine("old_prices");
  const Date oldest = oldest_price(bundled_catalog(), "azure");
  const auto clock = std::make_shared<FixedClock>(start_of(oldest) + 180 * kDay);
  environment.clock = clock;
  EXPECT_EQ(examined(environment, "azure on-demand").level, Verdict::kGood);
  clock->advance(kDay);
  const Finding finding = examined(environment, "azure on-demand");
  EXPECT_EQ(finding.level, Verdict::kAdvice);
  EXPECT_NE(finding.detail.find("181 days old"), std::string::npos) << finding.detail;
  EXPECT_NE(finding.detail.find(to_text(oldest)), std::string::npos) << finding.detail;
  EXPECT_EQ(finding.fix, "stint catalog import FILE --provider azure");
}

TEST(Doctor, FreshPricesTakeTheAdviceAway) {
  Environment environment = sound_machine("fresh_prices");
  const Date today{.year = 2030, .month = 5, .day = 6};
  environment.clock = std::make_shared<FixedClock>(start_of(today));
  EXPECT_EQ(examined(environment, "aws on-demand").level, Verdict::kAdvice);
  keep(environment, catalog_of(today));
  const auto findings = examine(environment);
  for (const char* prices : {"aws on-demand", "aws spot"}) {
    const Finding finding = finding_of(findings, prices);
    EXPECT_EQ(finding.level, Verdict::kGood) << finding.detail;
    EXPECT_NE(finding.detail.find("2030-05-06, 0 days"), std::string::npos) << finding.detail;
  }
}

TEST(Doctor, ABrokenUserCatalogueIsBrokenAndTheRestIsStillExamined) {
  const Environment environment = sound_machine("broken");
  const std::string folder = *user_catalog_folder(environment);
  ASSERT_TRUE(write_file(folder + "/lab.json", "{\"schema\":").ok());
  const auto findings = examine(environment);
  const Finding finding = finding_of(findings, "catalogue");
  EXPECT_EQ(finding.level, Verdict::kBroken);
  EXPECT_NE(finding.detail.find(folder + "/lab.json"), std::string::npos) << finding.detail;
  EXPECT_FALSE(finding.fix.empty());
  for (const char* other : {"own catalogues", "tables", "completion"}) {
    EXPECT_EQ(finding_of(findings, other).level, Verdict::kGood) << other;
  }
}

TEST(Doctor, WithoutAHomeOwnCataloguesHaveNoPlace) {
  Environment environment = sound_machine("homeless");
  environment.data_folder.reset();
  const auto findings = examine(environment);
  EXPECT_EQ(finding_of(findings, "catalogue").level, Verdict::kGood);
  const Finding finding = finding_of(findings, "own catalogues");
  EXPECT_EQ(finding.level, Verdict::kBroken);
  EXPECT_NE(finding.fix.find("HOME"), std::string::npos) << finding.fix;
}

TEST(Doctor, AFileInTheWayOfTheFolderIsBroken) {
  const Environment environment = sound_machine("in_the_way");
  ASSERT_TRUE(write_file(*environment.data_folder, "a file").ok());
  const Finding finding = examined(environment, "own catalogues");
  EXPECT_EQ(finding.level, Verdict::kBroken);
  EXPECT_NE(finding.detail.find(*environment.data_folder), std::string::npos) << finding.detail;
}

TEST(Doctor, ALocaleThatIsNotUtf8IsAdvice) {
  Environment environment = sound_machine("locale");
  environment.charset = "utf8";
  EXPECT_EQ(examined(environment, "tables").level, Verdict::kGood);
  environment.charset = "ISO-8859-1";
  EXPECT_EQ(examined(environment, "tables").level, Verdict::kAdvice);
  environment.charset = "";
  const Finding finding = examined(environment, "tables");
  EXPECT_EQ(finding.level, Verdict::kAdvice);
  EXPECT_EQ(finding.fix, "export LC_ALL=C.UTF-8");
}

// The file that the fix writes is the one that is looked for.
TEST(Doctor, TheFixForCompletionFixesIt) {
  Environment environment = sound_machine("completion");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    environment.shell = shell;
    const Finding before = examined(environment, "completion");
    EXPECT_EQ(before.level, Verdict::kAdvice) << shell;
    const std::string script = "stint completion " + std::string(shell) + " > ";
    const std::size_t at = before.fix.find(script);
    ASSERT_NE(at, std::string::npos) << before.fix;
    const std::string file = before.fix.substr(at + script.size());
    EXPECT_TRUE(file.starts_with(environment.home + "/")) << file;
    ASSERT_TRUE(write_file(file, "").ok());
    const Finding after = examined(environment, "completion");
    EXPECT_EQ(after.level, Verdict::kGood) << shell;
    EXPECT_EQ(after.detail, file);
  }
}

TEST(Doctor, AClockBeforeThePricesIsAdvised) {
  Environment environment = sound_machine("early_clock");
  environment.clock = std::make_shared<FixedClock>(start_of({.year = 2020, .month = 1, .day = 1}));
  const Finding finding = examined(environment, "aws on-demand");
  EXPECT_EQ(finding.level, Verdict::kAdvice);
  EXPECT_EQ(finding.fix, "set the clock of this computer");
}

}  // namespace
}  // namespace stint
