/* shown.c -- see shown.h. */
#include "prompt/shown.h"

#include "store/view.h"

const valise_field vls_text_item = {.type = VALISE_T_STR};

static const valise_field repair_fields[] = {
    VALISE_FIELD(vls_repair_shown, rule, STR, VALISE_REQUIRED, "Number of the rule."),
    VALISE_FIELD(vls_repair_shown, what, STR, VALISE_REQUIRED, "What was done."),
    VALISE_FIELD(vls_repair_shown, name, STR, VALISE_NULLABLE, "To what."),
    VALISE_FIELD(vls_repair_shown, message, INT, VALISE_NULLABLE, "In which message."),
    VALISE_FIELD(vls_repair_shown, block, INT, VALISE_NULLABLE, "In which block of it."),
    VALISE_FIELD_END,
};
static const valise_struct repair_struct = {sizeof(vls_repair_shown), repair_fields};
const valise_field vls_repair_item = {.type = VALISE_T_STRUCT, .more = &repair_struct};

static const valise_field left_fields[] = {
    VALISE_FIELD_WITH(vls_left_shown, kind, ENUM, VALISE_REQUIRED, "Its kind.",
                      .more = vls_part_kinds),
    VALISE_FIELD(vls_left_shown, name, STR, VALISE_NULLABLE, "Which one."),
    VALISE_FIELD(vls_left_shown, reason, STR, VALISE_REQUIRED, "Why it is not there."),
    VALISE_FIELD(vls_left_shown, tokens, INT, VALISE_REQUIRED, "What it would cost."),
    VALISE_FIELD_END,
};
static const valise_struct left_struct = {sizeof(vls_left_shown), left_fields};
const valise_field vls_left_item = {.type = VALISE_T_STRUCT, .more = &left_struct};

static const valise_field section_fields[] = {
    VALISE_FIELD_WITH(vls_section_shown, section, ENUM, VALISE_REQUIRED, "Which one.",
                      .more = vls_sections),
    VALISE_FIELD(vls_section_shown, parts, INT, VALISE_REQUIRED, "How many parts it has."),
    VALISE_FIELD(vls_section_shown, tokens, INT, VALISE_REQUIRED, "What they cost."),
    VALISE_FIELD_END,
};
static const valise_struct section_struct = {sizeof(vls_section_shown), section_fields};
const valise_field vls_section_item = {.type = VALISE_T_STRUCT, .more = &section_struct};

/* ---- parts ---- */

static int show_edit(valise_str *out, vls_arena *arena, const vls_prompt_edit *edit,
                     valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, 4096);
    vls_buf_printf(&text, "block %d", (int)edit->block);
    if (edit->inner >= 0)
        vls_buf_printf(&text, ".%d", (int)edit->inner);
    vls_buf_printf(&text, ": %s", vls_edit_kinds[edit->kind]);
    if (edit->kind == VLS_EDIT_CUT)
        vls_buf_printf(&text, " to %lld and %lld bytes", (long long)edit->a, (long long)edit->b);
    if (edit->reason)
        vls_buf_printf(&text, ", %.200s", edit->reason);
    return vls_buf_keep(out, &text, err);
}

int vls_shown_part(vls_part_shown *out, valise_view *view, const vls_part *part, size_t number,
                   valise_error *err)
{
    valise_str *edits = NULL;
    int rc = vls_part_may_read(view, part, err);

    if (rc < 0)
        return rc;
    *out = (vls_part_shown){.part = (int64_t)number,
                            .section = part->section,
                            .kind = VALISE_NONE,
                            .version = VALISE_NONE,
                            .tokens = part->tokens,
                            .denied = rc == 0};
    if (rc == 0)
        return 0;
    out->kind = part->kind;
    out->name = part->name;
    out->version = part->version;
    out->content = part->id;
    out->blob = part->blob;
    out->author = part->author;
    out->reason = part->reason;
    rc = 0;
    if (part->edits.len > 0) {
        edits = vls_arena_array(&view->arena, part->edits.len, sizeof(*edits));
        rc = edits ? 0 : vls_arena_fail(&view->arena, err);
    }
    for (size_t i = 0; i < part->edits.len && rc == 0; i++)
        rc = show_edit(&edits[i], &view->arena, &part->edits.ptr[i], err);
    out->edits = (valise_list){edits, part->edits.len};
    return rc;
}

/* ---- lists ---- */

/* count structs of size bytes, and pointers to them. */
static int make_list(void **structs, valise_list *out, vls_arena *arena, size_t count, size_t size,
                     valise_error *err)
{
    char *all = vls_arena_zalloc(arena, (count + 1) * size);
    const void **pointers = vls_arena_array(arena, count + 1, sizeof(*pointers));

    if (!all || !pointers)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++)
        pointers[i] = all + i * size;
    *structs = all;
    *out = (valise_list){pointers, count};
    return 0;
}

int vls_shown_repairs(valise_list *out, vls_arena *arena, const vls_repair *repairs, size_t count,
                      valise_error *err)
{
    vls_repair_shown *all = NULL;
    int rc = make_list((void **)&all, out, arena, count, sizeof(*all), err);

    for (size_t i = 0; i < count && rc == 0; i++) {
        const vls_repair *r = &repairs[i];

        all[i].message = r->message >= 0 ? r->message : VALISE_NONE;
        all[i].block = r->block >= 0 ? r->block : VALISE_NONE;
        rc = vls_arena_dup(&all[i].rule, arena, valise_str_of(r->rule), err);
        if (rc == 0)
            rc = vls_arena_dup(&all[i].what, arena, valise_str_of(r->what), err);
        if (rc == 0 && r->name.len > 0)
            rc = vls_arena_dup(&all[i].name, arena, r->name, err);
    }
    return rc;
}

int vls_shown_left(valise_list *out, vls_arena *arena, valise_view *view, const vls_bag_reader *as,
                   const vls_left *left, size_t count, valise_error *err)
{
    vls_left_shown *all = NULL;
    int rc = make_list((void **)&all, out, arena, count, sizeof(*all), err);

    for (size_t i = 0; i < count && rc >= 0; i++) {
        vls_part part = {.kind = left[i].kind, .name = left[i].name};

        all[i].kind = left[i].kind;
        all[i].tokens = left[i].tokens;
        if (as)
            part.as = *as;
        rc = view ? vls_part_may_read(view, &part, err) : 1;
        if (rc > 0)
            rc = vls_arena_dup(&all[i].name, arena, left[i].name, err);
        if (rc == 0)
            rc = vls_arena_dup(&all[i].reason, arena,
                               all[i].name.ptr ? left[i].reason : VLS_STR("may not be read"), err);
    }
    return vls_settle(rc);
}

int vls_shown_sections(valise_list *out, vls_arena *arena, const vls_budget *budget,
                       const vls_parts *parts, valise_error *err)
{
    vls_section_shown *all = NULL;
    int rc = make_list((void **)&all, out, arena, VLS_SECTION_COUNT, sizeof(*all), err);

    for (int i = 0; i < VLS_SECTION_COUNT && rc == 0; i++) {
        all[i].section = i;
        all[i].tokens = budget->sections[i];
    }
    for (size_t i = 0; i < parts->len && rc == 0; i++)
        all[parts->ptr[i].section].parts++;
    return rc;
}
