/* plan_kit.c -- toy adapters, and plans as short texts (plan_kit.h). */
#include "wire/plan_kit.h"

static const char *const image_types[] = {"image/png", "image/jpeg", NULL};
static const char *const document_types[] = {"application/pdf", NULL};

void plan_bed_init(plan_bed *bed, test *t)
{
    *bed = (plan_bed){.t = t};
    bed->adapter = (vls_adapter){
        .name = "toy",
        .vendor = "toys",
        .brief = "A toy.",
        .version = 1,
        .media = {.images = 7,
                  .documents = 7,
                  .image_types = image_types,
                  .document_types = document_types},
    };
    vls_arena_init(&bed->arena, t->env, (size_t)1 << 30);
    vls_buf_init(&bed->shown, t->env, SIZE_MAX / 2);
}

void plan_bed_release(plan_bed *bed)
{
    vls_plan_release(&bed->plan);
    vls_buf_release(&bed->shown);
    vls_arena_release(&bed->arena);
}

const char *quoted(const char *text)
{
    size_t len = strlen(text);
    char *copy = test_alloc(len + 1);

    for (size_t i = 0; i < len; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return copy;
}

/* ---- plans as text ---- */

static void show_str(vls_buf *out, valise_str s)
{
    vls_buf_add_byte(out, '\'');
    vls_buf_add(out, s);
    vls_buf_add_byte(out, '\'');
}

static void show_block(plan_bed *bed, vls_buf *out, const vls_plan_block *block);

static void show_result(plan_bed *bed, vls_buf *out, const vls_plan_block *block)
{
    vls_buf_printf(out, "res(%.*s,", VALISE_STR_ARG(block->id));
    if (block->inner_count == 0)
        show_str(out, block->text);
    for (size_t i = 0; i < block->inner_count; i++) {
        vls_buf_add_byte(out, i > 0 ? ' ' : '[');
        show_block(bed, out, &block->inner[i]);
    }
    vls_buf_add_text(out, block->inner_count > 0 ? "])" : ")");
}

static void show_block(plan_bed *bed, vls_buf *out, const vls_plan_block *block)
{
    switch ((vls_said_kind)block->kind) {
    case VLS_SAID_TEXT:
        show_str(out, block->text);
        break;
    case VLS_SAID_THINKING:
        vls_buf_printf(out, "think(%.*s,%.*s%s)", VALISE_STR_ARG(block->text),
                       VALISE_STR_ARG(block->sign), block->redacted ? ",redacted" : "");
        break;
    case VLS_SAID_IMAGE:
    case VLS_SAID_DOCUMENT:
        vls_buf_printf(out, "%s(%.*s)", block->kind == VLS_SAID_IMAGE ? "img" : "doc",
                       VALISE_STR_ARG(block->name));
        break;
    case VLS_SAID_CALL:
        vls_buf_printf(out, "call(%.*s,%.*s,", VALISE_STR_ARG(block->id),
                       VALISE_STR_ARG(block->name));
        CHECK_INT(0, vls_json_write_around(out, block->args, NULL));
        vls_buf_add_byte(out, ')');
        break;
    case VLS_SAID_RESULT:
        show_result(bed, out, block);
        break;
    }
    if (block->is_error)
        vls_buf_add_byte(out, '!');
    if (block->made)
        vls_buf_add_byte(out, '^');
    if (block->meta.type != VLS_JSON_NULL)
        vls_buf_add_byte(out, '+');
    if (bed->marks && block->cache)
        vls_buf_add_byte(out, '*');
    if (bed->marks && block->tail)
        vls_buf_add_byte(out, '_');
}

const char *plan_text(plan_bed *bed, const vls_plan *plan)
{
    vls_buf *out = &bed->shown;

    vls_buf_clear(out);
    for (size_t i = 0; i < plan->messages.len; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        vls_buf_printf(out, "%s%c", i > 0 ? " " : "", "UAST"[message->role]);
        for (size_t j = 0; j < message->blocks.len; j++) {
            vls_buf_add_byte(out, j > 0 ? ' ' : '[');
            show_block(bed, out, &message->blocks.ptr[j]);
        }
        vls_buf_add_byte(out, ']');
    }
    CHECK_INT(0, vls_buf_check(out, NULL));
    return vls_buf_cstr(out);
}

const char *repairs_text(const vls_plan *plan)
{
    const char *text = "";

    for (size_t i = 0; i < plan->repairs.len; i++) {
        const vls_repair *repair = &plan->repairs.ptr[i];
        CHECK(vls_wire_rule_find(repair->rule) && repair->what[0]);
        text = test_format("%s%s%s", text, i > 0 ? " " : "", repair->rule);
        if (repair->message >= 0)
            text = test_format("%s@%d", text, (int)repair->message);
        if (repair->message >= 0 && repair->block >= 0)
            text = test_format("%s.%d", text, (int)repair->block);
    }
    return text;
}

/* ---- checks ---- */

static void read_prompt(plan_bed *bed, const char *prompt)
{
    test *t = bed->t;
    const char *text = quoted(prompt);

    if (text[0] == '[')
        text = test_format("{\"version\":1,\"messages\":%s}", text);
    CHECK_OK(vls_neutral_read(&bed->prompt, &bed->arena, valise_str_of(text), &t->err));
}

void plan_bed_make(plan_bed *bed, uint32_t demands, const char *prompt)
{
    test *t = bed->t;
    vls_findings found = VLS_VEC_INIT;

    read_prompt(bed, prompt);
    bed->adapter.demands = demands;
    CHECK_OK(vls_plan_make(&bed->plan, &bed->arena, &bed->adapter, &bed->prompt,
                           (valise_str){NULL, 0}, &t->err));
    CHECK_OK(vls_lint_plan(&found, &bed->arena, &bed->adapter, &bed->plan, NULL, &t->err));
    CHECK_MSG(found.len == 0, "%s: %s", found.ptr[0].rule, found.ptr[0].what);
}

void check_plan(test *t, uint32_t demands, const char *prompt, const char *plan,
                const char *repairs)
{
    plan_bed bed;

    test_context("prompt %s", prompt);
    plan_bed_init(&bed, t);
    plan_bed_make(&bed, demands, prompt);
    CHECK_TEXT(plan, plan_text(&bed, &bed.plan));
    CHECK_TEXT(repairs, repairs_text(&bed.plan));
    plan_bed_release(&bed);
    test_context_end();
}
