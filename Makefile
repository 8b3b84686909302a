# A thin front for CMake's presets. Every target installs what it lacks first (packages.txt);
# with STINT_NO_INSTALL=1 it only says what is missing.

PREFIX = /usr/local
SECONDS = 60

.DEFAULT_GOAL := help
.PHONY: help demo build test e2e lint lint-all install bench accuracy calibrations fuzz fuzzers python-fuzz-state format coverage clean

# Configures a preset once and builds it; ninja itself runs cmake again when a CMake file changed.
define build_preset
@test -f build/$(1)/build.ninja || cmake --preset $(1)
@cmake --build --preset $(1)
endef

help: ## List the targets.
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: build ## Build, then plan two trainings of known models over the whole catalogue.
	@build/release/stint demo

build: ## Build the release binary, build/release/stint.
	@tools/ensure_packages.sh build
	$(call build_preset,release)

test: ## Build with sanitizers; run unit, property, golden, fuzz-corpus and smoke tests.
	@tools/ensure_packages.sh build test
	$(call build_preset,dev)
	@tools/run_tests.py build/dev test --label-exclude e2e --parallel 3

e2e: ## Run all end-to-end tests and 50,000 simulated disasters.
	@tools/ensure_packages.sh build test
	$(call build_preset,dev)
	@tools/run_tests.py build/dev e2e --label-regex e2e --parallel 3

lint: ## Check the format, and with clang-tidy what changed since tools/lint.stamp.
	@tools/ensure_packages.sh build test lint
	@test -f build/dev/build.ninja || cmake --preset dev
	@tools/check_format.sh
	@tools/clang_tidy_cached.py build/dev --stamp tools/lint.stamp

lint-all: ## Check the format, and with clang-tidy every source.
	@tools/ensure_packages.sh build test lint
	@test -f build/dev/build.ninja || cmake --preset dev
	@tools/check_format.sh
	@tools/clang_tidy_cached.py build/dev --stamp tools/lint.stamp --all

install: build ## Install under PREFIX (/usr/local); DESTDIR is honoured.
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

bench: build ## Run the benchmarks on the release binary.
	@tools/ensure_packages.sh bench
	@cmake --preset release -DSTINT_BENCH=ON >/dev/null
	@cmake --build --preset release --target benchmarks
	@bench/startup.sh build/release/stint
	@build/release/predict_bench
	@build/release/calibrate_bench
	@build/release/plan_bench
	@build/release/risk_bench
	@build/release/import_bench
	@build/release/turnstile_bench
	@test ! -x build/release/simgrid_bench || build/release/simgrid_bench

accuracy: build ## Write docs/accuracy.md from the published tables in $STINT_DATA.
	@test -n "$(STINT_DATA)" || { echo "make accuracy: set STINT_DATA to the tables" >&2; exit 1; }
	@tools/make_accuracy.py build/release/stint "$(STINT_DATA)" docs/accuracy.md

calibrations: build ## Fit data/calibration to the published tables in $STINT_DATA.
	@test -n "$(STINT_DATA)" || { echo "make calibrations: set STINT_DATA to the tables" >&2; exit 1; }
	@tools/make_calibrations.sh build/release/stint "$(STINT_DATA)"

fuzz: ## Fuzz each parser for SECONDS (60); inputs that break one go to build/fuzz/findings.
	@tools/ensure_packages.sh build fuzz
	$(call build_preset,fuzz)
	@$(MAKE) --no-print-directory --keep-going --jobs 2 fuzzers

# Reached through `make fuzz`, so that the list is made after the fuzzers were built.
fuzzers: python-fuzz-state $(patsubst build/fuzz/%_fuzz,fuzz-%,$(wildcard build/fuzz/*_fuzz))
	@test -x build/fuzz/nouns_fuzz || { echo "make fuzz: no fuzzer was built" >&2; exit 1; }

# There is no libFuzzer for Python: the test changes bytes by itself.
python-fuzz-state:
	@STINT_FUZZ_SECONDS=$(SECONDS) /usr/bin/python3 python/tests/test_state_fuzz.py \
	  >build/fuzz/state.log 2>&1 || test $$? = 77 \
	  || { tail -n 40 build/fuzz/state.log; echo "state: FOUND, see build/fuzz/state.log"; exit 1; }
	@echo "state: nothing found, $$(grep -E 'tried|skipped' build/fuzz/state.log)"

# The fuzzer adds what it discovers to its corpus, so it works on a copy.
fuzz-%:
	@rm -rf build/fuzz/corpus/$*_fuzz && mkdir -p build/fuzz/corpus/$*_fuzz build/fuzz/findings
	@test ! -d tests/fuzz_corpus/$*_fuzz || cp -r tests/fuzz_corpus/$*_fuzz build/fuzz/corpus
	@build/fuzz/$*_fuzz -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 \
	  -artifact_prefix=build/fuzz/findings/$*- build/fuzz/corpus/$*_fuzz \
	  >build/fuzz/$*.log 2>&1 \
	  || { tail -n 40 build/fuzz/$*.log; echo "$*: FOUND, see build/fuzz/$*.log"; exit 1; }
	@echo "$*: nothing found, $$(tail -n 1 build/fuzz/$*.log)"

format: ## Format every C++ file in place.
	@tools/ensure_packages.sh lint
	@find $(wildcard src tests bench tools) -name '*.h' -o -name '*.cc' | xargs -r clang-format -i

# Counts of an earlier run would add to this one's, so they go first.
coverage: ## Run the tests and show which lines they reach.
	@tools/ensure_packages.sh build test coverage
	$(call build_preset,coverage)
	@find build/coverage -name '*.gcda' -delete
	@ctest --test-dir build/coverage --parallel 2 --output-on-failure
	@gcovr --root . --filter src/ --exclude '.*_(test|fuzz)\.cc' --print-summary build/coverage

clean: ## Remove everything that was built.
	@rm -rf build
