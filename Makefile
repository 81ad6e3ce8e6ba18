.DEFAULT_GOAL := help
SHELL := /bin/sh

VERSION := $(shell sed -n 's/^version: *//p' plugin.yaml)
LDFLAGS := -s -w -X github.com/helm-checksum/helm-checksum/internal/cli.version=$(VERSION)
FUZZTIME ?= 20s
# As in releases, and so everything is built once: a program that is linked with the C library
# takes a third longer to start.
export CGO_ENABLED ?= 0
COMMANDS := $(notdir $(wildcard cmd/*))

.PHONY: e2e cluster help build helm test demo dist lint fuzz cover clean

help: ## say what there is
	@echo "helm-checksum $(VERSION). Targets:"
	@sed -n 's/^\([a-z0-9-]*\):.*## /  \1	/p' $(MAKEFILE_LIST) | expand -t 16

build: ## build the programs into bin/
	@mkdir -p bin
	@for c in $(COMMANDS); do echo "bin/$$c"; go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ ./cmd/$$c || exit; done

helm: ## build Helm 3 and 4 for the tests, once (minutes), into the user's cache
	@go run ./hack/realhelm 3 4

test: helm ## run all tests: they need this repository, Go modules and nothing else
	go test -timeout 20m ./...

demo: ## show the main job on a bundled chart, with the helm on PATH or else one built
	@hack/demo.sh

dist: ## build the release archives and their checksums into dist/
	@go run ./hack/dist
	@go run ./hack/plugin-manifest dist

lint: ## check format, go vet, staticcheck, the shell scripts' syntax, go.mod
	hack/lint.sh

fuzz: ## run every fuzz target for FUZZTIME (20s)
	hack/fuzz.sh $(FUZZTIME)

cover: ## print how much of the code the tests run
	go test -short -coverprofile=bin/cover.out ./... && go tool cover -func=bin/cover.out | tail -n 1

clean: ## remove bin/ and dist/
	rm -rf bin dist

-include $(wildcard */*.mk)

e2e: helm ## end to end on a real API server with Helm 3 and 4 (builds it once: many minutes)
	go test -tags e2e -count=1 -timeout 40m ./e2e

cluster: ## run that control plane until Ctrl-C and print how to reach it
	go run ./e2e/cluster
