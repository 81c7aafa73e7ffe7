/* fuzz_words.c -- any words as a command line: refused with a message, or a payload that is an
 * object of the operation's own members.
 *
 *     words with a newline between two of them
 *
 * Words do not get to name files: an '@' becomes an 'a'. [Q20] */
#include "fuzz/fuzz.h"

#include "base/buf.h"
#include "cli/call.h"
#include "cli/complete.h"
#include "cli/help.h"
#include "cli/output.h"

#define WORDS_MAX 64u

/* Cut the input into words; the copy must outlive them. */
static size_t cut(const char **words, char *text, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '@')
            text[i] = 'a';
        if (text[i] == '\n')
            text[i] = '\0';
        if ((i == 0 || text[i - 1] == '\0') && count < WORDS_MAX)
            words[count++] = text + i;
    }
    return count;
}

static bool reads_stdin(size_t count, const char *const *words)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        if (strcmp(words[i], "-") == 0 || (equals && strcmp(equals, "=-") == 0) ||
            strstr(words[i], "-file"))
            return true;
    }
    return false;
}

static void check_payload(cli *c, const cli_words *words)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_json payload;
    int rc = cli_words_payload(&payload, c, words, &err);

    if (rc < 0) {
        FUZZ_CHECK(err.code == rc && err.message[0]);
        return;
    }
    FUZZ_CHECK(payload.type == VLS_JSON_OBJECT);
    for (uint32_t i = 0; i < payload.len; i++)
        FUZZ_CHECK(vls_fields_find(words->command->op->in, vls_json_str(payload.members[i].key)));
    for (const valise_field *f = words->command->op->in; f && f->type != VALISE_T_END; f++)
        FUZZ_CHECK(!(f->flags & VALISE_REQUIRED) || vls_json_get(payload, valise_str_of(f->name)));
}

/* Candidates are lines of "word<TAB>text", and begin with what was typed. */
static void check_completion(cli *c, size_t count, const char *const *words)
{
    VLS_AUTO(buf) vls_buf out = {0};
    valise_str rest, line, typed = valise_str_of(words[count - 1]);

    vls_buf_init(&out, c->env, (size_t)16 << 20);
    cli_complete(&out, c, count, words);
    for (rest = vls_buf_str(&out); rest.len > 0;) {
        FUZZ_CHECK(vls_str_cut(&line, &rest, rest, '\n'));
        FUZZ_CHECK(vls_str_find_byte(line, '\t') < line.len);
        FUZZ_CHECK(line.ptr[0] == '\t' || vls_str_starts(line, typed));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const valise_env *env = valise_env_default();
    valise_error err = VALISE_ERROR_INIT;
    VLS_AUTO(buf) vls_buf text = {0};
    const char *words[WORDS_MAX];
    cli_words split;
    cli_out out;
    cli c = {.env = env, .out = &out};

    vls_arena_init(&c.arena, env, (size_t)256 << 20);
    cli_out_init(&out, &c);
    vls_buf_init(&text, env, (size_t)16 << 20);
    vls_buf_add(&text, vls_str(data, size));
    vls_buf_add_byte(&text, '\0');
    FUZZ_CHECK(vls_buf_check(&text, NULL) == 0);
    size_t count = cut(words, text.ptr, size);
    FUZZ_CHECK(cli_make_catalog(&c, &err) == 0);
    int rc = cli_words_split(&split, &c, count, words, &err);
    FUZZ_CHECK(rc == 0 || (rc == CLI_E_USAGE && err.message[0]));
    if (rc == 0 && split.command && !reads_stdin(count, words))
        check_payload(&c, &split);
    if (count > 0) {
        c.options = (cli_options){.workspace = "/nonexistent"};
        check_completion(&c, count, words);
    }
    cli_out_release(&out);
    cli_close(&c);
    vls_arena_release(&c.arena);
    return 0;
}
