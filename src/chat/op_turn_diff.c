/* op_turn_diff.c -- turn:diff, what two heads have in common and what only one of them. [W8] */
#include "base/line_diff.h"
#include "chat/ops.h"
#include "chat/shown.h"

#define PATCH_MAX (3 * VLS_DIFF_TEXT_MAX) /* bytes of one: both texts, and signs */

enum { SIDE_COMMON, SIDE_A, SIDE_B };
static const char *const sides[] = {"common", "a", "b", NULL};

typedef struct diff_args {
    valise_str a, b, session;
    bool patch, all;
} diff_args;

static const valise_field diff_in[] = {
    VALISE_FIELD_WITH(diff_args, a, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "A session, which is its head, or a turn.", .min = 1, .max = VLS_TURN_REF_MAX,
                      .ref = VLS_REF_SESSION),
    VALISE_FIELD_WITH(diff_args, b, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The other session or turn.", .min = 1, .max = VLS_TURN_REF_MAX,
                      .ref = VLS_REF_SESSION),
    VALISE_FIELD_AS_WITH(diff_args, session, "sessionId", STR, VALISE_NULLABLE,
                         "The session that HEAD~2 refers to.", .max = VLS_TURN_REF_MAX,
                         .ref = VLS_REF_SESSION),
    VALISE_FIELD(diff_args, patch, BOOL, 0, "Show the differing lines of edited turns."),
    VALISE_FIELD(diff_args, all, BOOL, 0, "Include hidden turns."),
    VALISE_FIELD_END,
};

typedef struct diff_row {
    int64_t side;
    vls_turn_shown turn;
    valise_str edit_of;   /* the version on the side of a; ptr NULL: none */
    valise_content patch; /* size VALISE_NONE: none */
} diff_row;

static const valise_field diff_out[] = {
    VALISE_FIELD_WITH(diff_row, side, ENUM, VALISE_REQUIRED,
                      "The newest turn in common, or who has it.", .more = sides),
    VLS_TURN_SHOWN_FIELDS(diff_row),
    VALISE_FIELD_AS(diff_row, edit_of, "editOf", STR, VALISE_NULLABLE,
                    "The version of the same turn that a has."),
    VALISE_FIELD(diff_row, patch, TEXT, VALISE_NULLABLE, "The lines that differ from that one."),
    VALISE_FIELD_END,
};

/* ---- arguments ---- */

static int find(vls_turn_row *out, valise_view *view, const vls_session_row *given, valise_str text,
                valise_error *err)
{
    vls_session_row session;

    return vls_shown_either(out, &session, &given, view, text, VALISE_NONE, err);
}

/* ---- telling ---- */

typedef struct telling {
    const diff_args *args;
    vls_show show;
    int64_t side;
    vls_show other;              /* the version that an edit is compared with */
    vls_vec(vls_turn_ref) edits; /* versions of a, by id */
    vls_buf before, after, patch;
} telling;

/* The texts of a turn, one below the other, with a line end each. */
static void add_texts(vls_buf *out, vls_json blocks)
{
    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len; i++) {
        const vls_json *text = vls_json_get(blocks.items[i], VLS_STR("text"));
        if (!text || text->type != VLS_JSON_STRING)
            continue;
        vls_buf_add(out, vls_json_str(*text));
        if (text->len == 0 || text->text[text->len - 1] != '\n')
            vls_buf_add_byte(out, '\n');
    }
}

static int write_patch(telling *t, valise_error *err)
{
    VLS_AUTO(line_diff) vls_line_diff diff = {0};
    int rc;

    vls_buf_clear(&t->before);
    vls_buf_clear(&t->after);
    vls_buf_clear(&t->patch);
    add_texts(&t->before, t->other.parsed);
    add_texts(&t->after, t->show.parsed);
    rc = vls_buf_check(&t->before, err);
    if (rc == 0)
        rc = vls_buf_check(&t->after, err);
    if (rc == 0)
        rc = vls_line_diff_make(&diff, t->show.view->arena.env, vls_buf_str(&t->before),
                                vls_buf_str(&t->after), 0, err);
    if (rc < 0)
        return rc;
    vls_unified_write(&t->patch, &diff, VLS_UNIFIED_AROUND);
    return vls_buf_check(&t->patch, err);
}

static int compare_refs(const void *a, const void *b)
{
    const vls_turn_ref *x = a, *y = b;

    return memcmp(x->id.bytes, y->id.bytes, sizeof(x->id.bytes));
}

static const vls_turn_ref *find_edited(const telling *t, const vls_turn_ref *ref)
{
    return t->edits.len == 0
               ? NULL
               : bsearch(ref, t->edits.ptr, t->edits.len, sizeof(*t->edits.ptr), compare_refs);
}

/* Of a turn that a has in another version. */
static int tell_edit(diff_row *row, vls_turn_shown *shown, telling *t, const vls_turn_ref *edited,
                     valise_error *err)
{
    vls_turn_row old = {0};
    int rc = vls_turn_get(&old, t->show.view, edited, err);

    if (rc <= 0)
        return rc;
    rc = vls_show_turn(shown, &t->other, &old, err);
    if (rc < 0)
        return rc;
    row->edit_of = shown->ref;
    if (!t->args->patch || shown->erased || row->turn.erased)
        return 0;
    rc = write_patch(t, err);
    row->patch.bytes = t->patch.len > 0 ? vls_buf_str(&t->patch) : VLS_STR("");
    row->patch.size = (int64_t)t->patch.len;
    return rc;
}

static int tell(void *arg, const vls_turn_row *turn, valise_error *err)
{
    telling *t = arg;
    const vls_turn_ref *edited = t->side == SIDE_B ? find_edited(t, &turn->ref) : NULL;
    vls_turn_shown old;
    diff_row row = {.side = t->side, .patch = {.size = VALISE_NONE}};
    int rc;

    if (turn->hidden && !t->args->all && t->side != SIDE_COMMON)
        return 0;
    rc = vls_show_turn(&row.turn, &t->show, turn, err);
    if (rc == 0 && edited)
        rc = tell_edit(&row, &old, t, edited, err);
    return rc < 0 ? rc : valise_view_emit(t->show.view, &row, err);
}

static int note(void *arg, const vls_turn_row *turn, valise_error *err)
{
    telling *t = arg;

    return vls_vec_push(&t->edits, t->show.view->arena.env, turn->ref) ? 0 : vls_fail_memory(err);
}

static int tell_all(telling *t, const vls_turn_diff *diff, valise_error *err)
{
    valise_view *view = t->show.view;
    int rc = diff->related ? tell(t, &diff->common, err) : 0;

    t->side = SIDE_A;
    if (rc == 0)
        rc = vls_trail_each(&diff->only_a, view, 0, false, tell, t, err);
    if (rc == 0)
        rc = vls_trail_each(&diff->only_a, view, 0, false, note, t, err);
    if (rc == 0 && t->edits.len > 1)
        qsort(t->edits.ptr, t->edits.len, sizeof(*t->edits.ptr), compare_refs);
    t->side = SIDE_B;
    return rc < 0 ? rc : vls_trail_each(&diff->only_b, view, 0, false, tell, t, err);
}

/* ---- the query ---- */

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const diff_args *args = in;
    const valise_env *env = view->arena.env;
    telling t = {.args = args, .edits = VLS_VEC_INIT};
    const vls_session_row *given = NULL;
    vls_session_row session = {0};
    vls_turn_row a = {0};
    vls_turn_row b = {0};
    vls_turn_diff diff = {.related = false};
    int rc = vls_shown_session(&session, &given, view, args->session, err);

    (void)result;
    if (rc == 0)
        rc = find(&a, view, given, args->a, err);
    if (rc == 0)
        rc = find(&b, view, given, args->b, err);
    if (rc == 0)
        rc = vls_turn_diff_make(&diff, view, &a, &b, err);
    if (rc < 0)
        return rc;
    vls_show_init(&t.show, view, false);
    vls_show_init(&t.other, view, false);
    vls_buf_init(&t.before, env, VLS_DIFF_TEXT_MAX);
    vls_buf_init(&t.after, env, VLS_DIFF_TEXT_MAX);
    vls_buf_init(&t.patch, env, PATCH_MAX);
    rc = tell_all(&t, &diff, err);
    vls_show_release(&t.show);
    vls_show_release(&t.other);
    vls_buf_release(&t.before);
    vls_buf_release(&t.after);
    vls_buf_release(&t.patch);
    vls_vec_release(&t.edits, env);
    vls_turn_diff_release(&diff);
    return rc;
}

const valise_op vls_op_chat_turn_diff = {
    .size = sizeof(valise_op),
    .name = "turn:diff",
    .brief = "Compare two sessions or turns with everything before them.",
    .help = "First comes the newest turn that both have, then what only a has, then what only b "
            "has, each from the root on. A turn that was edited is in both, in two versions.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "session:read",
    .in = diff_in,
    .in_size = sizeof(diff_args),
    .out = diff_out,
    .out_size = sizeof(diff_row),
    .query = query,
    .example = "{\"a\":\"support\",\"b\":\"support-2\",\"patch\":true}",
};
