/* follow.c -- a list that goes on: what is there, then what comes, until Ctrl-C.
 *
 *     list since the cursor  ->  rows out at once  ->  cursor behind the state that was seen
 *              ^                                               |
 *              +------------ wait for another writer ----------+
 *
 * Each round is the same query, so rows look the same, access is asked anew, and nothing is missed
 * or shown twice: a state is a whole number of commands. A reader that goes away ends it quietly,
 * also while nothing comes. */
#include "cli/call.h"

#include "cli/print.h"

#define WAIT_NS INT64_C(200000000) /* between two looks for Ctrl-C and for the reader */

typedef struct following {
    cli *c;
    valise *v;
    const valise_op *op;
    cli_rows *rows;
    vls_json payload;
    int64_t next;  /* seq that is shown next; 0: as the payload says */
    int64_t count; /* rows so far */
    int64_t limit; /* then it ends; 0: never */
} following;

static bool is_over(const following *f)
{
    return cli_out_is_closed(f->c->out) || (f->limit > 0 && f->count >= f->limit);
}

static int take_row(void *arg, valise_str json, valise_error *err)
{
    following *f = arg;
    int rc = cli_rows_add(f->rows, json, err);

    f->count++;
    return rc < 0 ? rc : is_over(f);
}

/* The payload, with the place to go on from. */
static int write_payload(vls_buf *out, const following *f, vls_arena *arena, valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b = {0};
    vls_json value;
    int rc;

    if (f->next == 0)
        return vls_json_write_around(out, f->payload, err);
    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    for (uint32_t i = 0; i < f->payload.len; i++) {
        valise_str key = vls_json_str(f->payload.members[i].key);
        if (vls_str_equal(key, VLS_STR("since")) || vls_str_equal(key, VLS_STR("index")))
            continue;
        vls_json_add_member(&b, key, f->payload.members[i].value);
    }
    vls_json_add_member(&b, VLS_STR("since"), vls_json_int(f->next));
    vls_json_close(&b);
    rc = vls_json_builder_finish(&value, &b, err);
    return rc < 0 ? rc : vls_json_write_around(out, value, err);
}

static int list_once(following *f, const valise_call *call, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_arena_init(&arena, f->c->env, VLS_JSON_MAX_BYTES);
    vls_buf_init(&text, f->c->env, VLS_JSON_MAX_BYTES);
    rc = write_payload(&text, f, &arena, err);
    if (rc == 0)
        rc = vls_settle(valise_stream_str(&reply, f->v, valise_str_of(f->op->name),
                                          vls_buf_str(&text), take_row, f, call, err));
    if (rc == 0)
        f->next = reply.seq + 1;
    valise_reply_release(&reply);
    return rc < 0 ? rc : cli_rows_flush(f->rows, err);
}

/* Wait until somebody has written something, or Ctrl-C, or nobody reads any more. */
static int wait_for_more(const following *f, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && !cli_out_is_closed(f->c->out)) {
        rc = valise_poll(f->v, WAIT_NS, err);
        if (rc == 0)
            rc = cli_check_interrupt(err);
        cli_out_look(f->c->out);
    }
    return rc < 0 ? rc : 0;
}

static int check_words(const following *f, const valise_call *call, valise_error *err)
{
    if (call->at.len > 0)
        return vls_fail(err, CLI_E_USAGE, "--follow starts now, so it cannot be used with --at");
    if (cli_number_of(f->payload, "until") > 0)
        return vls_fail(err, CLI_E_USAGE, "--follow has no end, so it cannot be used with --until");
    return 0;
}

int cli_follow(cli *c, valise *v, const valise_op *op, valise_str payload, const valise_call *call,
               valise_error *err)
{
    following f = {.c = c, .v = v, .op = op};
    int rc = vls_json_parse(&f.payload, &c->arena, payload,
                            &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err);

    if (rc == 0)
        rc = check_words(&f, call, err);
    if (rc < 0)
        return rc;
    f.limit = cli_number_of(f.payload, "limit");
    c->options.no_pager = true;
    rc = cli_rows_new(&f.rows, c, op, err);
    if (rc < 0)
        return rc;
    rc = list_once(&f, call, err);
    while (rc == 0 && !is_over(&f)) {
        rc = wait_for_more(&f, err);
        if (rc == 0 && !is_over(&f))
            rc = list_once(&f, call, err);
    }
    if (rc < 0)
        (void)cli_rows_flush(f.rows, NULL);
    cli_rows_free(f.rows);
    return rc;
}
