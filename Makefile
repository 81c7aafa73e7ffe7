# Makefile -- a thin front: each target is a line or two that calls meson or a tool of tools/.
# `make help` lists the targets. What the flavours of build/ are: tools/build.

PREFIX ?= /usr/local
DESTDIR ?=
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
FUZZ_SECONDS ?= 60
LONG_FUZZ_SECONDS ?= 600
BENCH_ARGS ?=
# How many things to do at once, for ninja and meson; all cores when empty.
JOBS ?=
export JOBS
ifneq ($(JOBS),)
export MESON_TESTTHREADS := $(JOBS)
endif

release := build/release
# Each test runs once under sanitizers, if it is not slow there, and once as users get it.
test_steps := tools/tidy build/asan build/tsan:threads build/release tools/coverage
long_steps := $(test_steps) 'tools/fuzz $(LONG_FUZZ_SECONDS)'

.PHONY: all help demo test test-long bench tidy format coverage fuzz install uninstall dist deb clean deps deps-build

all: deps-build ## build the library and the command, optimised and hardened, in build/release
	@tools/build --product release

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

demo: all ## build it and show what it does
	@tools/demo

test: deps ## all checks and tests; the last line counts them
	@tools/coverage --clear
	@tools/test-run $(test_steps)

test-long: deps ## all tests in all builds, with more rounds, and ten minutes of fuzzing for each parser
	@tools/coverage --clear
	@tools/build fuzz
	@VALISE_TEST_LONG=1 tools/test-run $(long_steps)

bench: all ## measure, and compare with the raw baselines
	@ninja -C $(release) --quiet bench/valise-bench
	@$(release)/bench/valise-bench $(BENCH_ARGS)

tidy: deps ## check the sources: format, layers, sizes, names, static analysis
	@tools/tidy

format: deps ## rewrite the C sources the way clang-format wants them
	@tools/tidy --fix-format

coverage: deps ## run the tests of build/asan and list the lines of src/ that none of them ran
	@tools/coverage --clear
	@tools/test-run build/asan 'tools/coverage --report'

fuzz: deps ## let each fuzz target look for new inputs for FUZZ_SECONDS
	@tools/build fuzz
	@tools/fuzz $(FUZZ_SECONDS)

install: all ## install below PREFIX, or for packagers below DESTDIR/PREFIX
	@tools/install

uninstall: all ## take away what make install leaves there, with the same PREFIX and DESTDIR
	@tools/install --remove

dist: ## the sources of the commit that is checked out, in build/dist; the same bytes each time
	@tools/dist

deb: ## Debian packages of it, in build/deb
	@tools/deps build deb
	@tools/deb

clean: ## remove what was built
	rm -rf build

deps: ## install the Debian packages that are missing (tools/packages.txt)
	@tools/deps

deps-build:
	@tools/deps build
