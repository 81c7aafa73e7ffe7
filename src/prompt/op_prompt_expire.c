/* op_prompt_expire.c -- prompt:expire, prompts that the limits of retention let go of. [P8] [K30]
 *
 * What they held goes with the next gc. */
#include <valise/sys/operation.h>

#include "base/hash.h"
#include "prompt/record.h"
#include "prompt/rows.h"
#include "prompt/sweep.h"

static const valise_field expire_in[] = {
    VALISE_FIELD_WITH(vls_prompt_expire_args, prompts, LIST, 0, "Prompts that are old.",
                      .more = &vls_id_bytes_item, .max = VLS_HOLDS_MAX),
    VALISE_FIELD_END,
};

static const valise_field expire_out[] = {
    VALISE_FIELD(vls_prompt_expired, count, INT, 0, "How many went."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_prompt_expire_args *args = in;
    const valise_str *all = args->prompts.items;
    vls_prompt_expired *out = result;
    int rc = 0;

    for (size_t i = 0; i < args->prompts.count && rc >= 0; i++) {
        vls_prompt_row row = {.seq = 0};

        memcpy(row.id.bytes, all[i].ptr, sizeof(row.id.bytes));
        rc = valise_view_delete(view, &vls_prompts, &row, err);
        out->count += rc > 0;
    }
    return vls_settle(rc);
}

const valise_op vls_op_prompt_prompt_expire = {
    .size = sizeof(valise_op),
    .name = "prompt:expire",
    .brief = "Let go of prompts that are old.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE,
    .needs = "prompt:write",
    .in = expire_in,
    .in_size = sizeof(vls_prompt_expire_args),
    .out = expire_out,
    .out_size = sizeof(vls_prompt_expired),
    .decide = decide,
    .example = "{}",
};
