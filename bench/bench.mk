# Speed. Included by the Makefile; run from the project's folder.

.PHONY: bench bench-quick

bench: ## measure against cat, sha256sum, kustomize and helm; write docs/performance.md's tables and plot (some minutes)
	cd bench && go run ./compare -write

bench-quick: ## the same with few rounds below 10 MB and no 100 MB; writes nothing
	cd bench && go run ./compare -quick
