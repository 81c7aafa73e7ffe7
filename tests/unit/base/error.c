/* error.c -- filling valise_error, and the table behind the codes. */
#include "base/utf8.h"

#include <errno.h>

#include "harness/test.h"

static const valise_error fresh = VALISE_ERROR_INIT;

TEST(error, table)
{
    CHECK_TEXT("NOT_FOUND", valise_error_name(VALISE_E_NOT_FOUND));
    CHECK_TEXT("not found", valise_error_text(VALISE_E_NOT_FOUND));
    CHECK_INT(3, valise_error_exit_code(VALISE_E_NOT_FOUND));
    CHECK_INT(404, valise_error_http_status(VALISE_E_NOT_FOUND));

    CHECK_TEXT("OK", valise_error_name(0));
    CHECK_TEXT("ok", valise_error_text(0));
    CHECK_INT(0, valise_error_exit_code(0));
    CHECK_INT(200, valise_error_http_status(0));

    CHECK_TEXT("UNKNOWN", valise_error_name(-9999));
    CHECK_TEXT("UNKNOWN", valise_error_name(1));
    CHECK_TEXT("unknown error", valise_error_text(-9999));
    CHECK_INT(1, valise_error_exit_code(-9999));
    CHECK_INT(500, valise_error_http_status(-9999));
}

/* Numbers are part of the ABI: -1, -2, -3, ... without holes, each once. */
TEST(error, numbers_have_no_holes)
{
    static const int codes[] = {
#define X(name, number, text, exit_code, http_status) VALISE_E_##name,
#include <valise/errors.def>
#undef X
    };

    for (size_t i = 0; i < VLS_COUNT(codes); i++) {
        CHECK_INT(-1 - (int)i, codes[i]);
        CHECK(valise_error_name(codes[i])[0] != '\0' && valise_error_text(codes[i])[0] != '\0');
        CHECK(valise_error_exit_code(codes[i]) > 0);
        CHECK(valise_error_http_status(codes[i]) >= 400);
    }
}

TEST(error, fail_fills_everything)
{
    valise_error err;

    memset(&err, 'x', sizeof(err));
    CHECK_INT(VALISE_E_INVALID, vls_fail(&err, VALISE_E_INVALID, "field %s is %d", "a", 7));
    CHECK_INT(VALISE_E_INVALID, err.code);
    CHECK_INT(-1, err.offset);
    CHECK_TEXT("field a is 7", err.message);
    CHECK_TEXT("", err.path);
    CHECK_TEXT("", err.hint);

    CHECK_INT(VALISE_E_INVALID, vls_fail_at(&err, VALISE_E_INVALID, 42, "here"));
    CHECK_INT(42, err.offset);
    CHECK_INT(VALISE_E_NO_MEMORY, vls_fail_memory(&err));
    CHECK_TEXT("out of memory", err.message);
    CHECK_INT(-1, err.offset);
}

TEST(error, may_always_be_null)
{
    CHECK_INT(VALISE_E_IO, vls_fail(NULL, VALISE_E_IO, "x %d", 1));
    CHECK_INT(VALISE_E_IO, vls_fail_at(NULL, VALISE_E_IO, 3, "x"));
    CHECK_INT(VALISE_E_NO_MEMORY, vls_fail_memory(NULL));
    errno = ENOENT;
    CHECK_INT(VALISE_E_NOT_FOUND, vls_fail_errno(NULL, "open", VLS_STR("f")));
    vls_hint(NULL, "x");
    vls_error_prepend(NULL, "x");
}

/* What a callback of the host does. */
TEST(error, set_fills_everything_and_returns_the_code)
{
    valise_error err = {7, 7, "path", "message", "hint"};

    CHECK_INT(VALISE_E_LIMIT, valise_error_set(&err, VALISE_E_LIMIT, "%d are too\nmany", 12));
    CHECK_INT(VALISE_E_LIMIT, err.code);
    CHECK_INT(-1, err.offset);
    CHECK_TEXT("12 are too?many", err.message);
    CHECK_TEXT("", err.path);
    CHECK_TEXT("", err.hint);
    CHECK_INT(VALISE_E_INVALID, valise_error_set(&err, 0, "no code"));
    CHECK_INT(VALISE_E_INVALID, err.code);
    CHECK_INT(VALISE_E_IO, valise_error_set(NULL, VALISE_E_IO, "nobody asks"));
}

TEST(error, hint_leaves_the_rest)
{
    (void)vls_fail(&t->err, VALISE_E_LIMIT, "too many");
    vls_hint(&t->err, "use %s", "fewer");
    CHECK_TEXT("too many", t->err.message);
    CHECK_TEXT("use fewer", t->err.hint);
    (void)vls_fail(&t->err, VALISE_E_IO, "other"); /* a new error has no old hint */
    CHECK_TEXT("", t->err.hint);
}

/* What can be said of any file is said. */
TEST(error, errno_has_a_way_out)
{
    static const int with[] = {ENOENT, ENOTDIR, EACCES, EPERM,  EISDIR, ENAMETOOLONG,
                               ENOSPC, EDQUOT,  EROFS,  EMFILE, ENFILE, EBADF};

    for (size_t i = 0; i < VLS_COUNT(with); i++) {
        errno = with[i];
        (void)vls_fail_errno(&t->err, "cannot open", VLS_STR("f"));
        CHECK_MSG(t->err.hint[0], "%d has none", with[i]);
    }
    errno = EIO;
    CHECK_INT(VALISE_E_IO, vls_fail_errno(&t->err, "cannot open", VLS_STR("f")));
    CHECK_TEXT("", t->err.hint);
    errno = ENAMETOOLONG;
    CHECK_INT(VALISE_E_INVALID, vls_fail_errno(&t->err, "cannot open", VLS_STR("f")));
}

TEST(error, errno_becomes_a_code)
{
    static const struct {
        int number, code;
    } cases[] = {
        {ENOENT, VALISE_E_NOT_FOUND}, {ENOTDIR, VALISE_E_NOT_FOUND}, {EACCES, VALISE_E_DENIED},
        {EPERM, VALISE_E_DENIED},     {EEXIST, VALISE_E_EXISTS},     {ENOMEM, VALISE_E_NO_MEMORY},
        {EIO, VALISE_E_IO},           {ENOSPC, VALISE_E_IO},         {99999, VALISE_E_IO},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        errno = cases[i].number;
        CHECK_INT(cases[i].code, vls_fail_errno(&t->err, "read", VLS_STR("/a/b")));
        CHECK_TEXT(test_format("read /a/b: %s", strerror(cases[i].number)), t->err.message);
    }
    /* A path is no C string. */
    errno = EIO;
    (void)vls_fail_errno(&t->err, "read", (valise_str){"/a/bcd", 4});
    CHECK(strncmp(t->err.message, "read /a/b: ", 11) == 0);
}

/* ---- one line of valid UTF-8 ---- */

/* Characters of 1 to 4 bytes, shifted by 0 to 3, against the cut at the end of the message. */
TEST(error, cut_never_splits_a_character)
{
    static const char *const chars[] = {"a", "\u00e9", "\u20ac", "\U0001F600"};
    size_t room = sizeof(t->err.message) - 1;

    for (size_t i = 0; i < VLS_COUNT(chars); i++) {
        size_t size = strlen(chars[i]);
        for (size_t shift = 0; shift < 4; shift++) {
            char text[800] = "....";
            size_t len = shift;
            for (; len < 600; len += size)
                memcpy(text + len, chars[i], size + 1);
            (void)vls_fail(&t->err, VALISE_E_INVALID, "%s", text);
            CHECK_INT(shift + (room - shift) / size * size, strlen(t->err.message));
            CHECK(strncmp(t->err.message, text, strlen(t->err.message)) == 0);
            CHECK(vls_utf8_valid(valise_str_of(t->err.message)));
            vls_hint(&t->err, "%s", text);
            CHECK(vls_utf8_valid(valise_str_of(t->err.hint)));
            CHECK(strlen(t->err.hint) > sizeof(t->err.hint) - 5);
        }
    }
}

/* The locale of the tests has no such character, so vsnprintf gives up. */
TEST(error, message_that_cannot_be_written_is_empty)
{
    CHECK_INT(VALISE_E_IO, vls_fail(&t->err, VALISE_E_IO, "b%ls", L"\u20ac"));
    CHECK_TEXT("", t->err.message);
    CHECK_INT(VALISE_E_IO, t->err.code);
}

TEST(error, exactly_full_is_not_cut)
{
    size_t room = sizeof(t->err.message) - 1;
    char *text = test_alloc(room + 3);

    for (size_t i = 0; i < room; i += 2)
        memcpy(text + i, "\u00e9", 2);
    text[room - 1] = 'a'; /* room is odd: 191 characters of two bytes and this one */
    text[room] = '\0';
    CHECK_INT(1, room % 2);
    (void)vls_fail(&t->err, VALISE_E_INVALID, "%s", text);
    CHECK_TEXT(text, t->err.message);
    memcpy(text + room - 1, "\u00e9", 3); /* one byte more: the last character goes */
    (void)vls_fail(&t->err, VALISE_E_INVALID, "%s", text);
    CHECK_INT(room - 1, strlen(t->err.message));
    CHECK(vls_utf8_valid(valise_str_of(t->err.message)));
    CHECK((unsigned char)t->err.message[room - 2] == 0xA9);
}

/* A character that the locale does not have: no message rather than half of one. */
TEST(error, text_that_cannot_be_formatted_is_empty)
{
    (void)vls_fail(&t->err, VALISE_E_INVALID, "before");
    CHECK_INT(VALISE_E_IO, vls_fail(&t->err, VALISE_E_IO, "half %ls", L"\u20ac"));
    CHECK_TEXT("", t->err.message);
    CHECK_INT(VALISE_E_IO, t->err.code);
}

TEST(error, controls_become_question_marks)
{
    (void)vls_fail(&t->err, VALISE_E_INVALID,
                   "a\nb\tc\x1b[31md\x7f"
                   "e\re");
    CHECK_TEXT("a?b?c?[31md?e?e", t->err.message);
    for (int c = 1; c < 0x20; c++) {
        (void)vls_fail(&t->err, VALISE_E_INVALID, "a%cb", c);
        CHECK_TEXT("a?b", t->err.message);
    }
    /* C1 controls and the separators of lines and paragraphs, too. */
    (void)vls_fail(&t->err, VALISE_E_INVALID, "a\xc2\x85z\xc2\x9bz\u2028d\u2029e\u00a0f");
    CHECK_TEXT("a??z??z???d???e\u00a0f", t->err.message);
    /* And what turns the order of letters round. */
    (void)vls_fail(&t->err, VALISE_E_INVALID, "a\u202eb\u2066c\u200ed");
    CHECK_TEXT("a???b???c\u200ed", t->err.message);
}

/* What is quoted may be no text at all. */
TEST(error, bytes_that_are_no_text_become_question_marks)
{
    (void)vls_fail(&t->err, VALISE_E_INVALID,
                   "a\xff z \xc3 \xe2\x82 \xc0\x80 \xed\xa0\x80 \x80 \u20ac");
    CHECK_TEXT("a? z ? ?? ?? ??? ? \u20ac", t->err.message);
    for (unsigned i = 0; i < 256; i++) {
        char text[600];
        memset(text, (int)i, sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        (void)vls_fail(&t->err, VALISE_E_INVALID, "%s", text);
        vls_hint(&t->err, "%s", text);
        vls_error_prepend(&t->err, "%s", text);
        CHECK(vls_utf8_valid(valise_str_of(t->err.message)));
        CHECK(vls_utf8_valid(valise_str_of(t->err.hint)));
        CHECK(vls_utf8_valid(valise_str_of(t->err.path)));
    }
}

/* ---- path ---- */

TEST(error, path_grows_from_the_inside_out)
{
    (void)vls_fail(&t->err, VALISE_E_INVALID, "missing");
    vls_error_prepend(&t->err, "%s", "callId");
    CHECK_TEXT("callId", t->err.path);
    vls_error_prepend(&t->err, "[%d]", 2);
    CHECK_TEXT("[2].callId", t->err.path);
    vls_error_prepend(&t->err, "blocks");
    CHECK_TEXT("blocks[2].callId", t->err.path);
    vls_error_prepend(&t->err, "turn");
    CHECK_TEXT("turn.blocks[2].callId", t->err.path);
    vls_error_prepend(&t->err, "[0]");
    CHECK_TEXT("[0].turn.blocks[2].callId", t->err.path);
    CHECK_TEXT("missing", t->err.message);
    (void)vls_fail(&t->err, VALISE_E_INVALID, "new");
    CHECK_TEXT("", t->err.path);
}

/* The outermost steps stay, whole characters only. */
TEST(error, long_path_is_cut_at_its_inner_end)
{
    for (unsigned i = 0; i < 100; i++)
        vls_error_prepend(&t->err, "s%u\u20ac", i);
    CHECK(strncmp(t->err.path, "s99\u20ac.s98\u20ac.", 14) == 0);
    CHECK(strlen(t->err.path) >= sizeof(t->err.path) - 4);
    CHECK(vls_utf8_valid(valise_str_of(t->err.path)));

    t->err = fresh;
    for (unsigned shift = 0; shift < 4; shift++) {
        char step[400] = "....";
        for (size_t at = shift; at < 300; at += 4)
            memcpy(step + at, "\U0001F600", 5);
        vls_error_prepend(&t->err, "%s", step);
        CHECK(vls_utf8_valid(valise_str_of(t->err.path)));
        CHECK(strlen(t->err.path) >= sizeof(t->err.path) - 4);
    }
}

/* ---- arguments ---- */

static int takes_argument(const char *name, valise_error *err)
{
    VLS_ARG(name != NULL, err);
    return 0;
}

TEST(error, invalid_argument_names_the_function_and_the_condition)
{
    CHECK_OK(takes_argument("x", &t->err));
    CHECK_INT(0, memcmp(&fresh, &t->err, sizeof(fresh))); /* untouched on success */
    CHECK_INT(VALISE_E_INVALID, takes_argument(NULL, &t->err));
    CHECK(strstr(t->err.message, "takes_argument") && strstr(t->err.message, "name != "));
    CHECK_INT(VALISE_E_INVALID, takes_argument(NULL, NULL));
}
