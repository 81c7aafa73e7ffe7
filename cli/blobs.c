/* blobs.c -- see blobs.h. */
#include "cli/blobs.h"

#include <valise/blobs.h>

#include "base/fd.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "blob/receive.h"
#include "cli/backpack.h"

#define PIECE ((size_t)128 << 10)

typedef struct pouring {
    cli *c;
    valise_blob_reader *reader;
    char *room;  /* PIECE bytes */
    size_t kept; /* of a character that was cut off; a terminal's */
    bool any;    /* something was written */
} pouring;

/* ---- to a file or pipe ---- */

static int write_piece(pouring *p, size_t len, valise_error *err)
{
    if (vls_fd_write_all(p->c->out->fd, vls_str(p->room, len)) == 0)
        return 0;
    if (errno == EPIPE) {
        p->c->out->closed = true; /* nobody reads any more */
        return 0;
    }
    return vls_fail_errno(err, "cannot write", VLS_STR("to standard output"));
}

/* ---- to a terminal ---- */

static int refuse_binary(valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID,
                   "these bytes are not text, and could leave your terminal unusable");
    vls_hint(err, "write them to a file: --output FILE, or `> FILE`");
    return VALISE_E_INVALID;
}

static int show_piece(pouring *p, size_t len, bool last, valise_error *err)
{
    size_t all = p->kept + len;
    valise_str text = vls_str(p->room, all);
    size_t whole = all;

    if (!p->any && strcmp(vls_blob_sniff(vls_str_head(text, VLS_BLOB_SNIFF_BYTES),
                                         last && all <= VLS_BLOB_SNIFF_BYTES),
                          "text/plain") != 0)
        return all == 0 ? 0 : refuse_binary(err);
    if (!last && all - vls_utf8_valid_len(text) < 4)
        whole = vls_utf8_valid_len(text);
    cli_add_data(p->c->out, vls_str_head(text, whole), 0);
    p->kept = all - whole;
    memmove(p->room, p->room + whole, p->kept);
    p->any = true;
    return cli_out_flush(p->c->out, err);
}

/* ---- all of it ---- */

static int pour(pouring *p, valise_error *err)
{
    bool terminal = p->c->out->terminal;
    int64_t left = valise_blob_size(p->reader);
    size_t len = 0;
    int rc;

    do {
        rc = valise_blob_read(&len, p->reader, p->room + p->kept, PIECE - p->kept, err);
        if (rc < 0)
            return rc;
        left -= (int64_t)len;
        rc = terminal ? (len > 0 ? show_piece(p, len, left == 0, err) : 0)
                      : write_piece(p, len, err);
    } while (rc == 0 && len > 0 && !p->c->out->closed);
    return rc;
}

static int open_blob(valise_blob_reader **out, valise *v, vls_json payload, const valise_call *call,
                     valise_error *err)
{
    const vls_json *blob = vls_json_get(payload, VLS_STR("blob"));
    valise_id id;
    int rc = blob && blob->type == VLS_JSON_STRING
                 ? vls_id_parse(&id, vls_json_str(*blob), err)
                 : vls_fail(err, VALISE_E_INVALID, "give the blob, as sha256sum names it");

    return rc < 0 ? rc : valise_blob_open(out, v, &id, call, err);
}

int cli_pour_blob(cli *c, valise *v, valise_str payload, const valise_call *call, valise_error *err)
{
    pouring p = {.c = c};
    vls_json value;
    int rc = vls_json_parse(&value, &c->arena, payload, NULL, err);

    if (rc < 0 || c->options.json || vls_json_get(value, VLS_STR("output")))
        return rc;
    p.room = vls_arena_alloc(&c->arena, PIECE);
    if (!p.room)
        return vls_arena_fail(&c->arena, err);
    rc = open_blob(&p.reader, v, value, call, err);
    if (rc == 0)
        rc = cli_out_flush(c->out, err);
    if (rc == 0)
        rc = pour(&p, err);
    valise_blob_close(p.reader);
    return rc < 0 ? rc : 1;
}

/* "blob 98ea6e4f  3 B  text/plain  README.md" */
int cli_print_blob_registered(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    static const char *const members[] = {"mediaType", "filename"};
    const vls_json *taken = vls_json_get(answer, VLS_STR("taken"));

    (void)op;
    vls_buf_add_text(&c->out->text, "blob ");
    cli_add_data(c->out, vls_str_head(cli_text_of(answer, "sha256"), 8), 0);
    vls_buf_add_text(&c->out->text, "  ");
    cli_show_size(&c->out->text, (uint64_t)cli_number_of(answer, "size"));
    for (size_t i = 0; i < VLS_COUNT(members); i++) {
        valise_str text = cli_text_of(answer, members[i]);
        vls_buf_add_text(&c->out->text, text.len > 0 ? "  " : "");
        cli_add_data(c->out, text, 0);
    }
    vls_buf_add_text(&c->out->text, taken && taken->truth ? "\n" : "  (held already)\n");
    return vls_buf_check(&c->out->text, err);
}
