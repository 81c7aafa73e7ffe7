/* keeping.c -- what gc and repair did, in a line or two: what they did not do is not told. */
#include "cli/keeping.h"

/* ---- workspace:gc ---- */

int cli_print_gc(cli *c, const valise_op *op, vls_json value, valise_error *err)
{
    static const struct {
        const char *member, *one, *many;
    } removed[] = {
        {"entries", "expired log entry", "expired log entries"},
        {"rows", "expired row of other histories", "expired rows of other histories"},
        {"objects", "object", "objects"},
        {"chunks", "chunk", "chunks"},
        {"blobs", "blob", "blobs"},
        {"strays", "unfinished file", "unfinished files"},
    };
    vls_buf *out = &c->out->text;
    int64_t bytes = cli_number_of(value, "bytes"), freed = cli_number_of(value, "freed");
    bool any = false;

    (void)op;
    for (size_t i = 0; i < VLS_COUNT(removed); i++) {
        int64_t count = cli_number_of(value, removed[i].member);
        if (count == 0)
            continue;
        vls_buf_add_text(out, any ? ", " : "removed ");
        cli_add_count(out, count, removed[i].one, removed[i].many);
        any = true;
    }
    if (!any)
        vls_buf_add_text(out, "nothing to remove");
    if (bytes > 0) {
        vls_buf_add_text(out, "; they held ");
        cli_show_size(out, (uint64_t)bytes);
    }
    if (freed > 0) {
        vls_buf_add_text(out, "; the disk has ");
        cli_show_size(out, (uint64_t)freed);
        vls_buf_add_text(out, " back");
    }
    vls_buf_add_byte(out, '\n');
    if (cli_text_of(value, "residue").len > 0)
        vls_buf_add_text(out, "erased bytes are still in the write-ahead log, as somebody reads: "
                              "run it again when they are done\n");
    return vls_buf_check(out, err);
}

/* ---- workspace:repair ---- */

int cli_print_repair(cli *c, const valise_op *op, vls_json value, valise_error *err)
{
    const vls_json *problems = vls_json_get(value, VLS_STR("problems"));
    int64_t rebuilt = cli_number_of(value, "rebuilt"), left = cli_number_of(value, "left");
    int64_t mended = cli_number_of(value, "mended");
    vls_buf *out = &c->out->text;

    (void)op;
    for (uint32_t i = 0; problems && i < problems->len; i++) {
        const vls_json *truth = vls_json_get(problems->items[i], VLS_STR("mended"));
        bool is = truth && truth->truth;
        cli_style_begin(c->out, is ? CLI_GREEN : CLI_RED);
        vls_buf_add_text(out, is ? "mended" : "left  ");
        cli_style_end(c->out, is ? CLI_GREEN : CLI_RED);
        vls_buf_add_byte(out, ' ');
        cli_add_data(c->out, cli_text_of(problems->items[i], "place"), 0);
        vls_buf_add_text(out, ": ");
        cli_add_data(c->out, cli_text_of(problems->items[i], "problem"), 0);
        vls_buf_add_byte(out, '\n');
    }
    if (cli_number_of(value, "found") == 0)
        vls_buf_add_text(out, "what can be derived is in order; 'valise validate' checks the rest");
    if (mended > 0)
        cli_add_count(out, mended, "problem mended", "problems mended");
    if (left > 0 && mended > 0)
        vls_buf_add_text(out, ", ");
    if (left > 0)
        cli_add_count(out, left, "problem left", "problems left");
    cli_add_some(out, rebuilt, "index of the store built anew", "indexes of the store built anew");
    vls_buf_add_text(out, left > 0 ? "; 'valise validate' says what to do\n" : "\n");
    return vls_buf_check(out, err);
}

int cli_status_of_repair(const cli *c, vls_json value)
{
    (void)c;
    return cli_number_of(value, "left") > 0 ? valise_error_exit_code(VALISE_E_CORRUPT) : CLI_DONE;
}
