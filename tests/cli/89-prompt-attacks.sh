#!/usr/bin/env bash
# 89-prompt-attacks.sh -- who asks for more than they may see, files that nobody takes, and what
# errors must not repeat. [P4] [P8] [Q25]
. "$(dirname "$0")/lib.sh"

newest() {
    "$VALISE" prompt list --json | head -1 | sed 's/.*"id":"\([0-9a-f]*\)".*/\1/'
}
# A turn with a picture of these bytes; its SHA-256.
picture() { # FILE
    local sha
    sha=$(sha256sum <"$1" | cut -c1-64)
    "$VALISE" -q blob register "$1" --media-type image/png
    "$VALISE" -q turn add s1 --turn.role user --turn.blocks \
        "[{\"type\":\"text\",\"text\":\"Look:\"},{\"type\":\"image\",\"blob\":\"$sha\"}]"
}
export -f newest picture

t 'a manifest names nothing that may not be read: not what was asked for, nor what was left out [P8]' '
    mkdir open hidden
    echo a >open/a
    echo b >hidden/planted-name
    "$VALISE" -q init
    "$VALISE" -q scan
    echo "a note" >note
    "$VALISE" -q put-frame open/a note --type note
    "$VALISE" -q put-frame hidden/planted-name note --type note
    "$VALISE" -q session create --label s1
    "$VALISE" -q turn add s1 user hi
    "$VALISE" -q agent add eve --role none --capability prompt:read --capability session:read \
        --capability "context:read path=open/**"
    # Left out: both notes.
    "$VALISE" -q prompt build s1 --provider compatible --path open/a --path hidden/planted-name \
        --window 30 --reserve 0
    run "$VALISE" prompt show "$(newest)" --manifest
    stdout_has planted-name "open/a"
    expect_exit 4 "$VALISE" --actor eve prompt show "$(newest)" --manifest
    stderr_has "that you may not read"
    stderr_lacks planted-name
    run "$VALISE" --actor eve prompt show "$(newest)" --json
    stdout_has "open/a"
    stdout_lacks planted-name
    # Asked for, with no note of its own.
    run "$VALISE" prompt build s1 --provider compatible --path open/a --path hidden
    stdout_has "there is no note on it" "frame hidden"
    stdout_lacks "frame open/a"
    expect_exit 4 "$VALISE" --actor eve prompt show "$(newest)" --manifest
    stderr_lacks hidden
    "$VALISE" -q prompt build s1 --provider compatible --path open/a
    run "$VALISE" --actor eve prompt show "$(newest)" --manifest
    stdout_has "open/a"
    # A backpack.
    "$VALISE" -q backpack create planted-bag
    "$VALISE" -q prompt build s1 --provider compatible --backpack planted-bag --node n
    expect_exit 4 "$VALISE" --actor eve prompt show "$(newest)" --manifest
    stderr_lacks planted-bag
'

t 'an item is not taken for one of another backpack that may be read [P8]' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s1
    "$VALISE" -q turn add s1 user hi
    "$VALISE" -q backpack create x --items "{\"y/z\":\"planted-item\"}"
    "$VALISE" -q prompt build s1 --provider compatible --backpack x --node n
    "$VALISE" -q agent add eve --role none --capability prompt:read --capability session:read \
        --capability "backpack:read backpack=x/y" --capability backpack:as-node
    run "$VALISE" --actor eve prompt show "$(newest)" --neutral
    stdout_has "[denied]"
    stdout_lacks planted-item "y/z"
    "$VALISE" -q agent add bob --role none --capability prompt:read --capability session:read \
        --capability backpack:read --capability backpack:as-node
    run "$VALISE" --actor bob prompt show "$(newest)" --neutral
    stdout_has planted-item
'

t 'the bytes of blobs are for who may read blobs [P8]' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s1
    printf "planted-picture" >a.png
    picture a.png
    "$VALISE" prompt build s1 --provider compatible --wire >wire
    grep -q "$(base64 <a.png)" wire
    "$VALISE" -q agent add eve --role none --capability prompt:read --capability session:read
    expect_exit 4 "$VALISE" --actor eve prompt show "$(newest)" --wire
    stderr_has "blob:read"
    stdout_is_empty
    expect_exit 4 "$VALISE" --actor eve prompt show "$(newest)" --output out
    [ ! -e out ]
    run "$VALISE" --actor eve prompt show "$(newest)" --neutral
    stdout_has "Look:"
    "$VALISE" -q agent add bob --role none --capability "prompt:*" --capability session:read \
        --capability role:read --capability preference:read --capability memory:read
    expect_exit 4 "$VALISE" --actor bob prompt build s1 --provider compatible --wire
    stderr_has "blob:read"
    stdout_is_empty
    "$VALISE" -q agent update bob --grant blob:read
    run "$VALISE" --actor bob prompt build s1 --provider compatible --wire
    cmp "$OUT" wire
    "$VALISE" -q agent update eve --grant blob:read
    run "$VALISE" --actor eve prompt show "$(newest)" --wire
    cmp "$OUT" wire
'

t 'an empty file is one that cannot be sent [P4]' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s1
    : >a.png
    picture a.png
    expect_exit 3 "$VALISE" prompt build s1 --provider compatible
    stderr_has "it is empty" "--missing text"
    run "$VALISE" prompt build s1 --provider compatible --missing text --wire
    stdout_has "it is empty"
    stdout_lacks "base64"
'

t 'a request without messages is nothing to answer [P13]' '
    for adapter in openai openai-responses anthropic gemini bedrock mistral compatible; do
        case $adapter in
        gemini) list=contents ;;
        openai-responses) list=input ;;
        *) list=messages ;;
        esac
        expect_exit 6 "$VALISE" prompt lint --provider "$adapter" --request "{\"$list\":[]}"
        stdout_has "R3.2"
    done
'

t 'an error repeats no password of a URL, and its hint is about the network [Q25]' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s1
    export VALISE_PROVIDER_NEAR_ADAPTER=compatible
    export VALISE_PROVIDER_NEAR_URL=http://me:planted-password@127.0.0.1:1/v1
    expect_exit 6 "$VALISE" ask s1 hi --provider near --model m
    stderr_has "is not a URL of a provider" "without user"
    stderr_lacks planted-password
    export VALISE_PROVIDER_NEAR_URL="https://127.0.0.1:1/v1?key=planted-password"
    expect_exit 6 "$VALISE" ask s1 hi --provider near --model m
    stderr_lacks planted-password
    export VALISE_PROVIDER_NEAR_URL=http://127.0.0.1:1/v1 VALISE_PROVIDER_NEAR_RETRIES=0
    expect_exit 1 "$VALISE" ask s1 hi --provider near --model m
    stderr_has "near: " "provider.near.url"
    stderr_lacks "disk"
'

t 'an answer that is none is said to be one of the provider' '
    "$VALISE" -q init
    "$VALISE" -q session create --label s1
    python3 -c "
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers[\"Content-Length\"]))
        self.send_response(200)
        self.send_header(\"Content-Length\", \"5\")
        self.end_headers()
        self.wfile.write(b\"Hello\")

server = http.server.HTTPServer((\"127.0.0.1\", 0), Handler)
open(\"port\", \"w\").write(str(server.server_port))
server.handle_request()
server.handle_request()
" &
    until [ -s port ]; do sleep 0.05; done
    export VALISE_PROVIDER_NEAR_ADAPTER=compatible
    export VALISE_PROVIDER_NEAR_URL="http://127.0.0.1:$(cat port)/v1"
    expect_exit 6 "$VALISE" ask s1 hi --provider near --model m --stream=false
    stderr_has "invalid JSON" "near sent this" "provider.near.url"
    expect_exit 6 "$VALISE" ask s1 hi --provider near --model m
    stderr_has "it is not a stream of events" "near sent this" "provider.near.url"
'

done_testing
