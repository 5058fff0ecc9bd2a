# Every target is described by the comment behind its name; `make` lists them.

LAMBDAS := $(patsubst lambdas/%/main.go,%,$(wildcard lambdas/*/main.go))
DIST ?= dist
CDK_OUT ?= cdk.out
FUZZTIME ?= 30s
N ?= 1000000
PAIRS ?= 20000
SEED ?= 1
# The seed of long random runs is another each time, unless SEED is set.
FRESH_SEED := $(if $(filter file,$(origin SEED)),$(shell date +%s),$(SEED))
SEQUENCES ?= 50
CORPUS := $(abspath $(or $(JOBPOLLER_CORPUS),../shared/corpus))
FACTS := $(abspath $(or $(JOBPOLLER_FACTS),$(CORPUS)/../facts))
PYTHON ?= python3
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the command into bin/
	go build -trimpath -o bin/ ./cmd/...

# Go decides whether there is anything to do, so these have no prerequisites.
BUILD_LAMBDAS := go run ./internal/lambdabuild/buildlambdas

.PHONY: lambdas
lambdas: $(LAMBDAS:%=lambda-%) ## Build each Lambda function: dist/<name>/<arm64|amd64>/bootstrap and dist/<name>-<arm64|amd64>.zip

.PHONY: $(LAMBDAS:%=lambda-%)
$(LAMBDAS:%=lambda-%): lambda-%:
	$(BUILD_LAMBDAS) '$(DIST)' ./lambdas/$*

VERSION ?= $(shell git describe --tags --always --dirty)

.PHONY: release
release: ## Build all that is published (CONTRIBUTING.md) in dist/release; VERSION=v1.2.3 names it, else git describe
	rm -rf '$(DIST)/release'
	go run ./internal/release/buildrelease '$(DIST)/release' '$(VERSION)'

# The package that people name comes last, as it needs the others.
.PHONY: publish-npm
publish-npm: ## Publish the npm packages in dist/release
	for package in '$(DIST)'/release/jobpoller-[a-z]*.tgz '$(DIST)'/release/jobpoller-[0-9]*.tgz; do npm publish --access public "$$package" || exit; done

# The template of the app, without credentials and without asking the network for
# anything. Options of the command cdk in CONTEXT, such as -c jobs=all.
.PHONY: synth
synth: node_modules ## Synthesize the CDK app into cdk.out; CONTEXT='-c jobs=...' says what is in it
	CDK_DISABLE_CLI_TELEMETRY=true CDK_DISABLE_VERSION_CHECK=true npx --no cdk synth --quiet --no-notices --no-lookups --output '$(CDK_OUT)' $(CONTEXT)
	@echo '$(CDK_OUT)/JobPoller.template.json'

node_modules: package.json package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch node_modules

.PHONY: test
test: ## Run the tests, apart from those of make e2e
	go test -timeout 30m ./...

.PHONY: race
race: ## Run the tests under the race detector
	go test -race -timeout 30m ./...

# These tests allocate much and keep little.
COLLECT_RARELY := GOGC=400

# make conformance runs all suites, and -all all cases of plans.
.PHONY: whole
whole: ## Run without the race detector the tests of which it sees a sample
	all=$$(go list -f '{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}' ./...) && \
	sampled=$$(echo "$$all" | grep -E '/tests/(race|growthtest)\b' | grep -vE '^[^ ]*/(tests/conformance|pollcore/plan) ' | cut -d' ' -f1) && \
	test -n "$$sampled" && $(COLLECT_RARELY) go test -v -timeout 30m $$sampled ./internal/cli/...

.PHONY: plans
plans: ## Check all cases of plans, not those of a sample alone
	$(COLLECT_RARELY) go test -v ./pollcore/plan -all

# What they build is not among what Go's cache of test results knows. An example
# that starts a program runs here, too. RACE=-race runs them under the race detector.
E2E_PACKAGES = $(shell grep -rl --include='*_test.go' '^//go:build e2e' . | xargs -n1 dirname | sort -u)

.PHONY: e2e
e2e: ## Run the tests that build and start programs, such as Node.js
	go test -tags e2e -count=1 -v -timeout 20m $(RACE) -run '^(TestE2E|Example)' $(E2E_PACKAGES)

.PHONY: conformance
conformance: ## Run the public suites; JOBPOLLER_CORPUS and JOBPOLLER_FACTS name their folders
	go test -count=1 -v -timeout 20m -run '^TestSuites$$' ./tests/conformance -corpus '$(CORPUS)' -sequences $(SEQUENCES) -facts '$(FACTS)' -seed $(SEED)
	$(TRANSLATION) -pairs $(PAIRS) -seed $(SEED)
	$(COLLECT_RARELY) go test -count=1 -run '^TestReportIsWhatRunsTake$$' ./tests -jobs 400
	$(COLLECT_RARELY) go test -count=1 -v -run '^Test(Report|RepairedTwice)$$' ./tests/fixtruth -machines 300 -twice 20

MACHINES ?= 5000
FIRST ?= 0

TWICE ?= 500

.PHONY: fix-twice
fix-twice: ## Repair 500 machines with two to five faults each (or TWICE, from the seed FIRST), and once more: the second time changes nothing
	$(COLLECT_RARELY) go test -count=1 -v -timeout 2h -run '^TestRepairedTwice$$' ./tests/fixtruth -twice $(TWICE) -seed $(FIRST)

.PHONY: fix-truth
fix-truth: ## Draw 5000 machines that poll (or MACHINES, from the seed FIRST), break them, let lint read and fix change them, and say form by form what became of them
	$(COLLECT_RARELY) go test -count=1 -v -timeout 2h -run '^TestReport$$' ./tests/fixtruth -machines $(MACHINES) -seed $(FIRST) -shown 3

.PHONY: schemas
schemas: ## Write the JSON Schemas in docs/reference/schema from the Go types
	go test -count=1 -run '^TestSchemas?Of' $(shell grep -rl --include='*_test.go' '^func TestSchemas*Of' . | xargs -n1 dirname | sort -u) -update

SUITES ?=
MUTANTS ?=

# Each subtest runs with the mutants that it can tell: ten minutes on one core, and one for
# those of a file, as with MUTANTS='-only fix/veto.go'.
.PHONY: mutants
mutants: ## Take each condition away by which fix and trial refuse a change or tell a difference: a test fails (or one of SUITES=repairs,fix), but for tests/mutants/survivors.tsv, from which MUTANTS=-update strikes
	$(COLLECT_RARELY) go run ./tests/mutants $(MUTANTS) -suites '$(SUITES)' -corpus '$(CORPUS)' -facts '$(FACTS)'

.PHONY: differential
differential: ## Compare N random JMESPath cases (1000000 unless set) with another engine
	go test -count=1 -v -timeout 1h -run '^TestDifferential$$' ./internal/jmespath -cases $(N) -seed $(FRESH_SEED)

# It makes much garbage in little memory.
TRANSLATION := GOGC=1000 go test -count=1 -v -timeout 2h -run '^TestTranslationOfRandomPairs$$' ./internal/jmespath/tojsonata

.PHONY: translation
translation: ## Compare N random JMESPath expressions and values (1000000 unless set) with their JSONata
	$(TRANSLATION) -pairs $(N) -seed $(FRESH_SEED)

# With CI=true it is a failure that there is no Node.js or Python, else a line.
.PHONY: check-external
check-external: ## Check what is generated, the CDK app and the SAM samples with programs of other makers
	go test -tags e2e -count=1 -v -timeout 30m -run '^TestE2EReference' ./internal/jmespath/tojsonata -pairs 25000 -seed $(SEED)
	cd tests/external && go vet . && go test -vet=off -count=1 -v -timeout 20m . -seed $(SEED)
	cd tests/deploy && go vet . && PYTHON='$(PYTHON)' go test -vet=off -count=1 -v -timeout 30m -run ^TestSAM .

.PHONY: check-clients
check-clients: ## Drive jobpoller serve with the SDK for Go, boto3, the aws command, a machine of the CDK and hostile requests
	cd tests/clients && go vet . && PYTHON='$(PYTHON)' go test -vet=off -count=1 -v -timeout 20m -skip '^TestLoad$$' . -seed $(SEED)

.PHONY: check-terraform
check-terraform: ## Check the Terraform samples, and what is read of modules, with OpenTofu; the first run builds it, which takes minutes
	cd tests/deploy && go vet . && PYTHON='$(PYTHON)' go test -vet=off -count=1 -v -timeout 30m -skip ^TestSAM .

.PHONY: soak
soak: ## Run 1500 executions and 50000 waits in faults of all kinds, model a million operations, kill jobpoller serve 50 times, send 100000 requests through --forward, call the server from 10 clients for 3 minutes, and count what came of them
	go test -count=1 -v -timeout 60m -run '^TestSoak' ./tests/soak -executions 1500 -waits 50000 -seed $(SEED)
	go test -count=1 -v -timeout 30m -run '^TestModel' ./tests/soak -steps 1000000 -seed $(SEED)
	cd tests/clients && go vet . && go test -vet=off -count=1 -v -timeout 30m -run '^TestKilled$$' . -kills 50 -seed $(SEED)
	go test -count=1 -v -timeout 30m -run '^TestNoAnswerIsCutOff$$' ./internal/forward -posts 100000
	go test -race -count=1 -v -timeout 30m -run '^TestManyClients$$' ./internal/cli/serve -clients 3m

WAITING ?= 100000

.PHONY: load
load: ## Start 100000 executions (or WAITING) that wait in jobpoller serve, and 10000 that end in one second of its clock
	cd tests/clients && go vet . && go test -vet=off -count=1 -v -timeout 20m -run '^TestLoad$$' . -waiting $(WAITING)

JOBS ?= 100000

.PHONY: scale
scale: ## Run 100000 jobs (or JOBS) at once for an hour of virtual time: told by events, then by polls alone; and 2000 in real time, with a real SQS server
	GOMEMLIMIT=1800MiB go test -count=1 -v -timeout 20m -run '^TestHour$$' ./tests/scale -jobs $(JOBS)
	cd tests/external && go vet . && go test -vet=off -count=1 -v -timeout 10m -run '^TestScaleRealTime$$' . -jobs 2000 -seed $(SEED)

.PHONY: realstore
realstore: ## Test the S3 store, and soak 300 executions, on a real S3 server behind a faulty network
	cd tests/realstore && go vet . && go test -vet=off -count=1 -v -timeout 20m . -seed $(SEED)

# EC2's client is large, and compiles in half the time without optimization. Vet
# looks at it once, not again for go test.
QUICK_EC2 := -gcflags='github.com/aws/aws-sdk-go-v2/service/ec2/...=-N -l'

.PHONY: sdktypes
sdktypes: ## Compile the catalogue of nine services against the AWS SDK's types, and compare awsjob with twelve generated clients; the first run compiles EC2's client
	cd tests/sdktypes && go vet $(QUICK_EC2) . && go test -vet=off $(QUICK_EC2) -count=1 -v . -seed $(SEED)

.PHONY: userapp
userapp: ## Build, synthesize and run apps of the CDK, in modules as users have
	cd tests/userapp && go mod tidy -diff && go vet . && go test -vet=off -count=1 -v .
	cd tests/userdriver && go mod tidy -diff && go vet ./... && go test -vet=off -count=1 -v .

# What pip installs into a folder that is removed afterwards. pip checks the hashes in the requirements, which name the
# versions.
PIP_INSTALL = PIP_ROOT_USER_ACTION=ignore $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	--only-binary :all: --require-hashes

# The models of AWS's services are in botocore.
IMPORT = models=$$(mktemp -d) && trap 'rm -rf "$$models"' EXIT && \
	$(PIP_INSTALL) --target "$$models" --requirement pollcore/catalog/sources/requirements.txt && \
	go run ./internal/catalogimport/makecatalog -botocore "$$models/botocore/data" $(1)

.PHONY: catalog
catalog: ## Make the catalogue of waiters and jobs, and the models of all services, from botocore and the tables; packing them takes two minutes
	@$(call IMPORT)
	@packer=$$(mktemp -d) && trap 'rm -rf "$$packer"' EXIT && \
	$(PIP_INSTALL) --target "$$packer" --requirement internal/catalogimport/requirements.txt && \
	PYTHONPATH="$$packer" $(PYTHON) internal/catalogimport/pack.py pollcore/catalog/data pollcore/catalog/models/data

.PHONY: catalog-check
catalog-check: ## Fail if the catalogue and the models are not what make catalog gives
	@$(call IMPORT,-check)

BENCH := go test -count=1 -v -timeout 30m -run '^$$' ./tests/bench

.PHONY: bench-command
bench-command:
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags '-s -w' -o '$(DIST)/bench/released' ./cmd/jobpoller
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o '$(DIST)/bench/host' ./cmd/jobpoller

.PHONY: bench-functions
bench-functions: lambdas
	$(BUILD_LAMBDAS) '$(DIST)/bench' ./tests/bench/empty ./tests/bench/s3only

.PHONY: bench
bench: bench-command ## Print how what has a budget compares with its peer
	$(BENCH) -ratios -command '$(abspath $(DIST))/bench'

.PHONY: bench-page
bench-page: bench-command bench-functions ## Measure what bench and bench-lambda do, and write it into docs/bench.md
	$(BENCH) -ratios -command '$(abspath $(DIST))/bench' -lambdas '$(abspath $(DIST))' -page

.PHONY: bench-suites
bench-suites: ## Measure what the tests of each package take, without the race detector, and write it into docs/bench.md
	file=$$(mktemp) && trap 'rm "$$file"' EXIT && \
	go test -count=1 -timeout 20m -p 1 -exec "$(CURDIR)/tests/bench/timed $$file" ./... && \
	$(BENCH) -suites "$$file"

.PHONY: bench-schedule
bench-schedule: ## Print how late, and in how many calls, schedules find the end of a job
	$(BENCH) -schedules

.PHONY: bench-plan
bench-plan: ## Print what plans cost for jobs of nine distributions, known and learned; fail where it is not the table
	$(BENCH) -plans

.PHONY: bench-lambda
bench-lambda: bench-functions ## Print sizes, start-up times and requests of the Lambda functions
	$(BENCH) -lambdas '$(abspath $(DIST))'

.PHONY: lint
lint: ## Run the linters
	$(GOLANGCI_LINT) run ./...

.PHONY: fmt
fmt: ## Format all Go files
	$(GOLANGCI_LINT) fmt ./...

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s unless set)
	@.ci/fuzz $(FUZZTIME)

.PHONY: cover
cover: ## Write the coverage of all tests to cover.out and show the total
	go test -tags e2e -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -n 1

.PHONY: ci
ci: ## Run what CI runs
	.ci/run
