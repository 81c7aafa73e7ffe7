/* prune.c -- how a prune is shown: what went, or would go, and what a pin holds. */
#include "cli/frames.h"

#include "base/text.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define LISTED 20u

static void add_versions(vls_buf *out, vls_json answer, bool dry)
{
    long long oldest = (long long)cli_number_of(answer, "oldest");

    cli_add_count(out, cli_number_of(answer, "versions"), "version", "versions");
    vls_buf_add_text(out, " of the tree (");
    cli_add_count(out, cli_number_of(answer, "nodes"), "node", "nodes");
    vls_buf_add_text(out, dry ? ") would go" : ") went");
    if (oldest > 0)
        vls_buf_printf(out, "; v%lld %s the oldest", oldest, dry ? "would be" : "is");
    vls_buf_add_byte(out, '\n');
}

static int add_slots(cli *c, vls_json answer, bool dry, valise_error *err)
{
    const vls_json *which = vls_json_get(answer, VLS_STR("which"));
    vls_buf *out = &c->out->text;
    int64_t count = cli_number_of(answer, "slots");
    uint32_t shown = which ? VLS_MIN(which->len, LISTED) : 0;
    int rc = 0;

    cli_add_count(out, count, "slot", "slots");
    vls_buf_add_text(out, " of what is gone (");
    cli_add_count(out, cli_number_of(answer, "entries"), "entry", "entries");
    vls_buf_add_text(out, ", ");
    cli_add_count(out, cli_number_of(answer, "frames"), "frame", "frames");
    vls_buf_add_text(out, dry ? ") would go\n" : ") went\n");
    for (uint32_t i = 0; rc == 0 && i < shown; i++) {
        const vls_json *path = vls_json_get(which->items[i], VLS_STR("path"));
        vls_buf_add_text(out, "    ");
        if (path)
            cli_add_path(out, c, *path);
        vls_buf_add_text(out, "  ");
        vls_text_neutralize(out, cli_text_of(which->items[i], "type"), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(out, '\n');
        rc = cli_out_row(c->out, err);
    }
    if (count > (int64_t)shown)
        vls_buf_printf(out, "    and %lld more\n", (long long)count - shown);
    return rc;
}

int cli_print_pruned(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    const vls_json *dry = vls_json_get(answer, VLS_STR("dryRun"));
    bool would = dry && dry->truth;
    int64_t versions = cli_number_of(answer, "heldVersions"),
            slots = cli_number_of(answer, "heldSlots");
    int rc = cli_locate(c, err);

    (void)op;
    if (rc < 0)
        return rc;
    add_versions(&c->out->text, answer, would);
    rc = add_slots(c, answer, would, err);
    if (rc == 0 && versions + slots > 0) {
        vls_buf_add_text(&c->out->text, "held by pins: ");
        cli_add_count(&c->out->text, versions, "version", "versions");
        vls_buf_add_text(&c->out->text, ", ");
        cli_add_count(&c->out->text, slots, "slot", "slots");
        vls_buf_add_byte(&c->out->text, '\n');
    }
    return rc;
}
