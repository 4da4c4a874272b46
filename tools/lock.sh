#!/usr/bin/env bash
# Writes the hash-locked requirements anew. Needs uv; the files name no index, so any mirror serves them.
set -euo pipefail
cd "$(dirname "$0")/.."
lock() {
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-header --no-annotate pyproject.toml --output-file "requirements/$1" "${@:2}"
}
lock base.txt --group build
lock dev.txt --group dev --extra duckdb --extra postgres --extra mysql --extra sqlalchemy --extra arrow --extra langgraph --extra pydantic-ai
lock judge.txt --group judge --extra judge
