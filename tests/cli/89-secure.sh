#!/usr/bin/env bash
# 89-secure.sh -- asking over TLS and through proxies: who is trusted, and where a key goes. [F10] [Q25]
. "$(dirname "$0")/lib.sh"

export SERVER="$LIB_DIR/chat_server.py" PROXY="$LIB_DIR/proxy_server.py"

# Nobody but the tests says what is trusted.
unset SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY http_proxy

# certificate FILE SAN [DAYS]: one that vouches for itself, with its key.
certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.crt" -days "${3:-2}" \
        -subj "/CN=planted" -addext "subjectAltName=$2" >/dev/null 2>&1 || fail "no certificate"
    cat "$1.key" "$1.crt" >"$1.pem"
}
# started FILE COMMAND...: something that writes its port there and ends with the test.
started() {
    local file=$1
    shift
    "$@" >/dev/null 2>&1 &
    PIDS="$PIDS $!"
    trap 'kill $PIDS 2>/dev/null' EXIT
    for _ in $(seq 600); do
        [ ! -e "$file" ] || return 0
        sleep 0.05
    done
    fail "$file does not come"
}
setup() {
    need python3
    need openssl
    PIDS=""
    "$VALISE" -q init
    "$VALISE" -q session create --label s
    certificate good "IP:127.0.0.1,DNS:localhost,DNS:api.example.test"
    started port python3 "$SERVER" port --tls=good.pem --log=asked
    "$VALISE" config set --user provider.near.adapter compatible
    "$VALISE" config set --user provider.near.model small-1
    "$VALISE" config set --user provider.near.key-env PLANTED
    "$VALISE" config set --user provider.near.url "https://127.0.0.1:$(cat port)/v1"
    export VALISE_PROVIDER_NEAR_RETRIES=0 PLANTED=sk-planted-0123456789abcdef
}
no_key_in() {
    ! grep -q "planted-0123456789" "$@" || fail "the key is told"
}
export -f certificate started setup no_key_in

t 'a certificate that nobody vouches for is refused, and no key is sent' '
    setup
    expect_exit 1 "$VALISE" ask s hello --provider near
    stderr_has "certificate" "SSL_CERT_FILE"
    stderr_lacks "disk"
    stdout_is_empty
    no_key_in "$OUT" "$ERR"
    is_gone asked
'

t 'a file of certificates comes from the environment' '
    setup
    SSL_CERT_FILE=$PWD/good.crt run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    grep -q "/v1/chat/completions HTTP/1.1 key" asked
    CURL_CA_BUNDLE=$PWD/good.crt run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    mkdir folder
    cp good.crt "folder/$(openssl x509 -noout -hash -in good.crt).0"
    SSL_CERT_DIR=$PWD/folder run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    SSL_CERT_FILE=$PWD/nosuch expect_exit 1 "$VALISE" ask s hello --provider near
    stderr_has "nosuch"
    [ "$(wc -l <asked)" -eq 3 ]
'

t 'a certificate of another name is refused' '
    setup
    certificate other "DNS:elsewhere.example.test"
    started port2 python3 "$SERVER" port2 --tls=other.pem --log=asked
    "$VALISE" config set --user provider.near.url "https://127.0.0.1:$(cat port2)/v1"
    SSL_CERT_FILE=$PWD/other.crt expect_exit 1 "$VALISE" ask s hello --provider near
    stderr_has "certificate" "127.0.0.1"
    is_gone asked
'

t 'a server that speaks no TLS gets nothing' '
    setup
    started port2 python3 "$SERVER" port2 --log=asked
    "$VALISE" config set --user provider.near.url "https://127.0.0.1:$(cat port2)/v1"
    expect_exit 1 "$VALISE" ask s hello --provider near
    stderr_has "near: "
    stderr_lacks "disk"
    is_gone asked
'

t 'through the proxy of the environment, which sees the host and nothing else' '
    setup
    started proxy python3 "$PROXY" proxy through "$(cat port)"
    export SSL_CERT_FILE=$PWD/good.crt https_proxy=http://127.0.0.1:$(cat proxy)
    "$VALISE" config set --user provider.near.url https://api.example.test/v1
    run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    grep -q "^CONNECT api.example.test:443 HTTP/1.1" through
    ! grep -qi "authorization" through || fail "the proxy was sent a key"
    no_key_in through "$OUT" "$ERR"
    grep -q "key" asked
    # Whom it does not count for.
    : >through
    "$VALISE" config set --user provider.near.url "https://127.0.0.1:$(cat port)/v1"
    no_proxy=127.0.0.1 run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    [ ! -s through ] || fail "it went through the proxy"
    # What the configuration says is stronger.
    https_proxy=http://127.0.0.1:1 VALISE_PROVIDER_NEAR_PROXY=http://127.0.0.1:$(cat proxy) \
        run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    grep -q "^CONNECT 127.0.0.1" through
    # One that is not there.
    https_proxy=http://127.0.0.1:1 expect_exit 1 "$VALISE" ask s hello --provider near
    stderr_has "near: "
    no_key_in "$OUT" "$ERR"
'

t 'what goes in the clear goes through no proxy' '
    setup
    started plain python3 "$SERVER" plain --log=asked
    started proxy python3 "$PROXY" proxy through "$(cat plain)"
    export http_proxy=http://127.0.0.1:$(cat proxy) all_proxy=http://127.0.0.1:$(cat proxy)
    "$VALISE" config set --user provider.near.url "http://127.0.0.1:$(cat plain)/v1"
    run "$VALISE" ask s hello --provider near
    stdout_is "It is on its way."
    is_gone through
'

t 'over TLS a key is nowhere either: not in what is said, nor in the workspace' '
    setup
    started port2 python3 "$SERVER" port2 --tls=good.pem --echo
    export SSL_CERT_FILE=$PWD/good.crt
    "$VALISE" config set --user provider.near.url "https://127.0.0.1:$(cat port2)/v1"
    expect_exit 4 "$VALISE" ask s hello --provider near
    stderr_has "401" "[key]"
    no_key_in "$OUT" "$ERR"
    expect_exit 4 "$VALISE" ask s hello --provider near --json
    no_key_in "$OUT" "$ERR"
    run "$VALISE" log --json
    no_key_in "$OUT"
    ! grep -rq "planted-0123456789" .valise || fail "the key is in the workspace"
'

done_testing
