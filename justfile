# The tasks that people repeat. `just` lists them; each is one command that also works by hand.

default:
    @just --list

# Formatting, lints and types, without running anything.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy -p millstream --lib --bins --no-default-features -- -D warnings

# All tests.
test:
    cargo test --workspace

# One family of integration tests, for example `just family events::poll`.
family name:
    cargo test --workspace --test it {{name}}

# Unit tests of one module, for example `just unit markdown::`.
unit module:
    cargo test --workspace --lib {{module}}

# A development server on 127.0.0.1:9991 with the sample organization.
dev *args:
    cargo run --release -- dev {{args}}

# Load scenarios against a server of their own; the report is target/loadtest/report.html.
load *scenarios='send fanout idle':
    cargo build --release --workspace
    target/release/loadtest run {{scenarios}} --spawn 'target/release/millstream dev --data /tmp/millstream-load'

# Documentation of all packages, private items included.
docs:
    cargo doc --workspace --no-deps --document-private-items --open

# Licenses, sources, banned packages and (with network) security advisories of all dependencies.
deny:
    cargo deny check

# What is distributed, into target/dist: static binaries, Debian packages, checksums (see packaging/release).
release *targets:
    packaging/release {{targets}}

# Spelling.
typos:
    typos

# What .ci/run does, in a fresh clone of the last commit.
gate:
    #!/usr/bin/env bash
    set -euo pipefail
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    git clone --quiet . "$folder/millstream"
    "$folder/millstream/.ci/run"
