#!/usr/bin/env bash
# 73-report.sh -- how much is known, for people and for pipelines. [C28]
. "$(dirname "$0")/lib.sh"

start() {
    "$VALISE" -q init
    mkdir src
    echo one >src/a.c
    echo two >src/b.c
    echo readme >README
    "$VALISE" -q scan
    for path in src/a.c src/b.c README; do
        echo "about $path" | "$VALISE" -q put-frame "$path" - --type summary
    done
    echo more | "$VALISE" -q put-frame src/a.c -
}

fine() {
    start
    run "$VALISE" report --fail-on stale --fail-on orphaned
    stdout_has "covered files:       3 of 3 (100 %)" "covered directories: 0 of 2 (0 %)" \
        "fresh:               4 of 4 (100 %)"
    [ "$(sed -n 5p "$OUT" | tr -s ' ')" = \
        "TYPE HEADS FRESH STALE INVALIDATED ORPHANED FILES DIRS" ]
    stdout_matches "^summary +3 +3 +0 +0 +0 +3 +0$"
    stdout_matches "^local +4 +4 +0 +0 +0 +3 +0$"
    stdout_lacks "stale:"
}
t 'all is well' fine

bad() {
    start
    echo changed >src/a.c
    rm README
    "$VALISE" -q scan
    run "$VALISE" report
    stdout_has "covered files:       1 of 2 (50 %)" "stale: 2" "    src/a.c  notes  local" \
        "orphaned: 1" "    README  summary  local" "need their author: 2"
    expect_exit 8 "$VALISE" report --fail-on stale
    expect_exit 8 "$VALISE" report --fail-on orphaned --json
    json_is failed true
    json_is orphaned.first[0].path README
    run "$VALISE" report --fail-on invalidated
    expect_exit 6 "$VALISE" report --fail-on luck
    stderr_has "failOn is one of stale, invalidated, orphaned, needs-author"
    expect_exit 3 "$VALISE" report nothing
    cd src
    run "$VALISE" report b.c --fail-on stale
    run "$VALISE" report .
    stdout_has "    a.c  notes  local"
    stdout_lacks README
}
t 'what does not hold is listed, and can fail' bad

documents() {
    start
    echo changed >src/a.c
    "$VALISE" -q scan
    expect_exit 8 "$VALISE" report --format junit --fail-on stale
    python3 - "$OUT" <<'PY'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites'
for suite in root:
    cases = suite.findall('testcase')
    assert len(cases) == int(suite.get('tests')), suite.attrib
    assert len(suite.findall('testcase/failure')) == int(suite.get('failures')), suite.attrib
    assert len(suite.findall('testcase/skipped')) == int(suite.get('skipped')), suite.attrib
names = [c.get('name') for c in root.find("testsuite[@name='stale']")]
assert names == ['src/a.c', 'src/a.c'], names
PY
    run "$VALISE" report --format markdown
    [ "$(head -1 "$OUT")" = "# Context" ]
    stdout_has "- files with something fresh: 2 of 3 (66 %)" "| summary | 3 | 2 | 1 | 0 | 0 | 2 | 0 |" \
        "## Stale: 2" "- src/a\\.c, notes by local (stale)"
    run "$VALISE" report --format json
    cp "$OUT" ../first
    run "$VALISE" report --json
    cmp "$OUT" ../first
    run env TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 "$VALISE" report --json
    cmp "$OUT" ../first
}
t 'documents for pipelines' documents

# Names that are no UTF-8, and names that are tags.
hostile() {
    "$VALISE" -q init
    printf x >"$(printf 'bad\377\033\n<b>&"')"
    "$VALISE" -q scan
    echo x | "$VALISE" -q put-frame "$(printf './bad\377\033\n<b>&"')" -
    printf y >"$(printf 'bad\377\033\n<b>&"')"
    "$VALISE" -q scan
    run "$VALISE" report --format junit
    python3 -c 'import sys, xml.etree.ElementTree as t
names = [c.get("name") for c in t.parse(sys.argv[1]).getroot().iter("testcase")]
assert names[0] == r"""bad\xff\x1b\n<b>&\"""".replace("\\\"", "\""), names' "$OUT"
    run "$VALISE" report --format markdown
    stdout_has 'bad\xff\x1b\n\<b\>\&"'
    run "$VALISE" report
}
t 'names can be anything' hostile

# Any byte, sequences that only look like UTF-8, and what XML cannot have: another program reads it.
any_bytes() {
    "$VALISE" -q init
    python3 - <<'PY'
import base64, json, os
names = [bytes([b]) * 2 for b in range(1, 256) if b != 0x2f]
names += [b'\xed\xa0\x80', b'\xc0\xaf', b'\xf4\x90\x80\x80', b'\xef\xbf\xbe', b'\xef\xbf\xbf',
          b'\xf0\x9f\x98\x80', b'\xe2\x80\xae', b'\xc2\x85', b'\xf0\x9f\xbf\xbe', b']]>', b'&#0;',
          b'<![CDATA[x', b'--><a b="c">', b'%s%n', b'|a|`b`', b'\xe2\x28\xa1']
os.mkdir('names')
with open('../batch', 'w') as batch:
    for name in names:
        path = b'names/' + name + b'.c'
        with open(path, 'w') as out:
            out.write('1')
        try:
            node = path.decode('utf-8')
        except UnicodeDecodeError:
            node = {'base64': base64.b64encode(path).decode()}
        batch.write(json.dumps({'type': 'frame:put', 'payload': {
            'node': node, 'content': 'eA==', 'noScan': True}}) + '\n')
PY
    "$VALISE" -q scan
    "$VALISE" -q batch ../batch
    find names -type f -exec sh -c 'for path; do echo 22 >"$path"; done' _ {} +
    "$VALISE" -q scan
    for format in junit markdown text json; do
        expect_exit 8 "$VALISE" report --format "$format" --fail-on stale
        python3 - "$OUT" "$format" <<'PY'
import json, sys, xml.etree.ElementTree as tree
data = open(sys.argv[1], 'rb').read()
text = data.decode('utf-8')
assert not [c for c in text if ord(c) < 32 and c != '\n'], sys.argv[2]
if sys.argv[2] == 'junit':
    root = tree.fromstring(data)
    stale = root.find("testsuite[@name='stale']")
    assert stale.get('tests') == '101' and len(stale.findall('testcase/failure')) == 101
    assert [s.get('name') for s in root] == ['stale', 'invalidated', 'orphaned', 'needs-author',
                                             'corrupt']
if sys.argv[2] == 'json':
    assert json.loads(text)['stale']['count'] == 270, json.loads(text)['stale']['count']
if sys.argv[2] == 'markdown':
    assert '## Stale: 270\n' in text, text[:500]
    assert text.count('\n- ') == 3 + 2 * 101, text.count('\n- ')
PY
    done
}
t 'names of any bytes in all formats' any_bytes

damaged() {
    start
    echo changed >src/a.c
    "$VALISE" -q scan
    python3 - <<'PY'
import sqlite3
db = sqlite3.connect('.valise/valise.db')
frame = "SELECT basis FROM frame WHERE type = 'notes'"
assert db.execute("UPDATE object SET body = zeroblob(3) WHERE hash = (%s)" % frame).rowcount == 1
db.commit()
PY
    run "$VALISE" report --fail-on invalidated
    stdout_has "corrupt: 2" "    src/a.c  notes  local" "    src/a.c  summary  local"
    expect_exit 8 "$VALISE" report --fail-on corrupt
    run "$VALISE" status --check
    stdout_matches '^current frames corrupt: +2$' # what the two are about is one object
    stdout_matches '^current frames fresh: +2$'
}
t 'what is damaged is counted, and the rest is told' damaged

done_testing
