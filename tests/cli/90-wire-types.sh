#!/usr/bin/env bash
# 90-wire-types.sh -- golden requests against the vendors' own types. [P5]
#
# The packages are fetched, which takes half a minute: only in make test-long, and skipped where npm reaches no
# registry. VALISE_NODE_MODULES names a folder that has them already. tests/data/prompts/types.mjs says which
# types are taken.
. "$(dirname "$0")/lib.sh"

prompts=$(cd "$LIB_DIR/../data/prompts" && pwd)
packages=(openai@7.53.0 @anthropic-ai/sdk@1.8.0 @google/genai@2.32.0 @aws-sdk/client-bedrock-runtime@3.1162.0
    @mistralai/mistralai@2.7.0 typescript@5.9.3)
export prompts

fetch() {
    if [ -n "${VALISE_NODE_MODULES:-}" ]; then
        ln -s "$VALISE_NODE_MODULES" node_modules
        return
    fi
    [ -n "${VALISE_TEST_LONG:-}" ] || skip "only in make test-long"
    need npm
    echo '{"private":true}' >package.json
    timeout 90 npm install --no-audit --no-fund --ignore-scripts --loglevel error "${packages[@]}" >npm.log 2>&1 ||
        skip "npm reaches no registry: $(tail -1 npm.log)"
}

check_types() {
    need node
    fetch
    mkdir ts
    run node "$prompts/types.mjs" "$prompts/golden" ts
    # Every adapter is there, with every conversation.
    [ "$(wc -l <"$OUT")" -eq "$(find "$prompts/golden" -name '*.txt' | wc -l)" ] || fail "an adapter is missing"
    awk '$2 < 50 { exit 1 }' "$OUT" || fail "conversations are missing"
    cat >tsconfig.json <<'END'
{"compilerOptions": {"noEmit": true, "strict": true, "skipLibCheck": true, "module": "esnext",
  "moduleResolution": "bundler", "target": "es2022", "lib": ["es2022", "dom"], "types": []}, "include": ["ts/*.ts"]}
END
    run node node_modules/typescript/bin/tsc -p .
    stdout_is_empty
}

t 'golden requests have the types that the vendors publish [P5]' check_types

done_testing
