/* lens.c -- views: what they mean, and which part is wrong. [C14] */
#include "context/lens.h"

#include <valise/sys/field.h>

#include "base/hex.h"
#include "harness/test.h"

static const char *canonical(test *t, const char *text)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_lens lens;

    CHECK_OK(vls_lens_parse(&lens, valise_str_of(text), &t->err));
    vls_buf_init(&out, t->env, 8192);
    vls_lens_write(&out, &lens);
    CHECK_OK(vls_buf_check(&out, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

TEST(lens, the_same_wish_has_one_text)
{
    CHECK_TEXT("heads,type,max=100", canonical(t, ""));
    CHECK_TEXT("heads,recency,max=10,type=summary", canonical(t, "recency,max=10,type=summary"));
    CHECK_TEXT("heads,recency,max=10,type=summary", canonical(t, "type=summary,max=10,recency"));
    CHECK_TEXT("history,agent,max=100,max_bytes=5,max_tokens=6,type=a,type=b*,agent=x,path=src/**,"
               "state=fresh,state=orphaned,seq=1..9,time=2026-01-02T03:04:05.000Z..",
               canonical(t, "max_tokens=6,max_bytes=5,path=src/**,state=orphaned,state=fresh,"
                            "agent,history,type=b*,type=a,type=a,agent=x,seq=1..9,"
                            "time=2026-01-02T03:04:05Z.."));
    CHECK_TEXT("heads,type,max=100,seq=..3", canonical(t, "seq=..3"));
    /* What is canonical stays as it is. */
    CHECK_TEXT("heads,recency,max=1,seq=3..", canonical(t, canonical(t, "seq=3..,recency,max=1")));
}

TEST(lens, a_bad_view_names_the_bad_part)
{
    static const struct {
        const char *text, *part;
        int64_t offset;
    } bad[] = {
        {"recency,newest", "'newest' is not known", 8},
        {"max=0", "'max=0' must be", 0},
        {"max=ten", "'max=ten' must be", 0},
        {"heads,max=10001", "'max=10001' is too large", 6},
        {"max=1,max=2", "'max=2' is there twice", 6},
        {"heads,history", "'history' is a second scope", 6},
        {"recency,type", "'type' is a second order", 8},
        {"type=", "'type=' has a pattern that can never match", 0},
        {"path=a//b", "'path=a//b' has a pattern that", 0},
        {"heads,path=src/[ab].c", "'path=src/[ab].c' has a '['", 6},
        {"type=[a-z]*", "'type=[a-z]*' has a '['", 0},
        {"state=empty", "'state=empty' must be fresh", 0},
        {"seq=5", "'seq=5' must be a range", 0},
        {"seq=..", "'seq=..' must be a range", 0},
        {"seq=5..4", "ends before it begins", 0},
        {"seq=a..4", "cannot be read", 0},
        {"time=yesterday..", "cannot be read", 0},
        {"seq=1..2,seq=1..2", "is there twice", 9},
        {"=5", "'=5' is not known", 0},
        {"color=red", "'color=red' is not known", 0},
        {"heads,", "'' is an empty part", 6},
        {",heads", "'' is an empty part", 0},
        {"max_tokens=-1", "must be", 0},
    };
    vls_lens lens;

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("view '%s'", bad[i].text);
        t->err = (valise_error)VALISE_ERROR_INIT;
        CHECK_RC(VALISE_E_INVALID, vls_lens_parse(&lens, valise_str_of(bad[i].text), &t->err));
        CHECK_MSG(strstr(t->err.message, bad[i].part), "%s", t->err.message);
        CHECK_INT(bad[i].offset, t->err.offset);
        CHECK(t->err.hint[0]);
        test_context_end();
    }
}

TEST(lens, has_limits_itself)
{
    char text[VLS_LENS_TEXT_MAX + 2];
    vls_lens lens;

    memset(text, 'x', sizeof(text));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_lens_parse(&lens, vls_str(text, sizeof(text)), &t->err));
    CHECK_RC(VALISE_E_INVALID,
             vls_lens_parse(&lens,
                            VLS_STR("type=a,type=b,type=c,type=d,type=e,type=f,type=g,type=h,type="
                                    "i,type=j,type=k,type=l,type=m,type=n,type=o,type=p,type=q"),
                            &t->err));
    CHECK(strstr(t->err.message, "'type=q' comes after too many filters"));
}

TEST(lens, filters)
{
    const vls_lens_item item = {VLS_STR("src/a.c"), VLS_STR("notes.api"), VLS_STR("w"), 7, 1000};
    static const struct {
        const char *text;
        bool fits;
    } cases[] = {
        {"", true},
        {"type=notes*", true},
        {"type=notes", false},
        {"agent=w", true},
        {"agent=x,agent=w", true},
        {"agent=x", false},
        {"path=*", false},
        {"path=src/*", true},
        {"path=**", true},
        {"seq=7..7", true},
        {"seq=8..", false},
        {"seq=..6", false},
        {"time=..1970-01-01T00:00:00Z", false},
        {"time=..1970-01-01", false},
        {"time=1970-01-01..", true},
        {"time=1970-01-01T00:00:00Z..", true},
    };
    vls_lens lens;

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        CHECK_OK(vls_lens_parse(&lens, valise_str_of(cases[i].text), &t->err));
        CHECK_MSG(vls_lens_fits(&lens, &item) == cases[i].fits, "%s", cases[i].text);
    }
    CHECK_OK(vls_lens_parse(&lens, VLS_STR("state=stale"), &t->err));
    CHECK(vls_lens_wants_state(&lens, VLS_STATE_STALE));
    CHECK(!vls_lens_wants_state(&lens, VLS_STATE_FRESH));
}

TEST(lens, hashes_are_those_of_the_document)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", from ? from : "."));
    valise_str line, given, rest, canonic, hash, open = VLS_STR("```view-vectors\n");
    int count = 0;

    text = vls_str_from(text, vls_str_find(text, open) + open.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        vls_lens lens;
        valise_id id;
        size_t at = vls_str_find(line, VLS_STR(" = "));
        given = vls_str_head(line, at);
        rest = vls_str_from(line, at + 3);
        (void)vls_str_cut(&canonic, &hash, rest, ' ');
        CHECK_OK(vls_lens_parse(&lens, given, &t->err));
        CHECK_STR(canonic, valise_str_of(canonical(t, test_format("%.*s", VALISE_STR_ARG(given)))));
        CHECK_OK(vls_lens_hash(&id, &lens, &t->err));
        CHECK_STR(hash, valise_str_of(vls_id_hex(&id).s));
        count++;
    }
    CHECK_INT(3, count);
}
