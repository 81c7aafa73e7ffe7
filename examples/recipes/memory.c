/* memory.c -- auto memory: what the assistant marks is kept as a context entry.
 *
 *     REMEMBER customer/name: Ada
 *
 * on a line of its own in what the assistant says adds the entry `customer/name`, or changes it.
 *
 *     cc -shared -fPIC $(pkg-config --cflags valise) memory.c -o memory.so
 *     valise agent add auto-memory --role writer
 *
 * A turn processor: it runs once the turn is committed, as the actor `auto-memory`. If the process
 * dies before it is done it runs again with the next one, with the same ids for its commands, so
 * that each takes effect once. */
#include "said.h"

#define MARK "REMEMBER "

/* ---- lines ---- */

/* The next line of a text with escapes; false at the end. */
static bool next_line(valise_str *line, valise_str *rest)
{
    size_t at = 0;

    if (rest->len == 0)
        return false;
    while (at < rest->len && !(rest->ptr[at] == '\\' && rest->ptr[at + 1] == 'n'))
        at += character_len((valise_str){rest->ptr + at, rest->len - at});
    *line = (valise_str){rest->ptr, at};
    at = at < rest->len ? at + 2 : at;
    rest->ptr += at, rest->len -= at;
    return true;
}

/* "REMEMBER key: text"; false for any other line. */
static bool read_mark(valise_str *key, valise_str *text, valise_str line)
{
    size_t mark = strlen(MARK);
    const char *colon;

    if (line.len <= mark || memcmp(line.ptr, MARK, mark) != 0)
        return false;
    line.ptr += mark, line.len -= mark;
    colon = memchr(line.ptr, ':', line.len);
    if (!colon || colon == line.ptr)
        return false;
    *key = (valise_str){line.ptr, (size_t)(colon - line.ptr)};
    *text = (valise_str){colon + 1, line.len - key->len - 1};
    while (text->len > 0 && text->ptr[0] == ' ')
        text->ptr++, text->len--;
    return text->len > 0;
}

/* ---- keeping ---- */

/* What is no key is not kept; to try again would not make it one. */
static int keep(valise_job *job, valise_str key, valise_str text, valise_error *err)
{
    valise *v = valise_job_workspace(job);
    valise_call add, update;
    size_t room = key.len + text.len + 32;
    void *payload;
    int rc = valise_job_call(&add, job, err);

    if (rc == 0) /* asked for in any case: the same order each time */
        rc = valise_job_call(&update, job, err);
    if (rc == 0)
        rc = valise_job_alloc(&payload, job, room, err);
    if (rc < 0)
        return rc;
    (void)snprintf(payload, room, "{\"key\":\"%.*s\",\"text\":\"%.*s\"}", VALISE_STR_ARG(key),
                   VALISE_STR_ARG(text));
    rc = valise_dispatch(NULL, v, "context:add", payload, &add, err);
    if (rc == VALISE_E_EXISTS)
        rc = valise_dispatch(NULL, v, "context:update", payload, &update, err);
    return rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT ? 0 : rc;
}

static int run(void *self, valise_job *job, const valise_event *event, const void *row,
               valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_str blocks, said, line, key, text;
    int rc = read_blocks(&blocks, &reply, job, row, err);

    (void)self, (void)event;
    while (rc == 0 && next_text(&said, &blocks)) {
        while (rc == 0 && next_line(&line, &said)) {
            if (read_mark(&key, &text, line))
                rc = keep(job, key, text, err);
        }
    }
    valise_reply_release(&reply);
    return rc;
}

static const valise_processor processor = {
    .size = sizeof(valise_processor),
    .name = "auto-memory",
    .coll = &valise_turns,
    .wants = valise_turn_is_assistant,
    .run = run,
};
static const valise_processor *const processors[] = {&processor, NULL};

static const valise_extension package = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "auto_memory",
    .version = "1.0",
    .processors = processors,
};

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return &package;
}
