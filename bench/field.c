/* field.c -- a row of eight fields through its table: cells and their sum, JSON, and back.
 *
 * The baselines do the same for this one struct by hand: the least a program could do that knows
 * its fields when it is compiled. So the ratio is what a table costs. */
#include "bench/bench.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "base/time.h"
#include "field/row.h"

typedef struct session {
    valise_uuid id;
    valise_str title;
    int64_t state;
    valise_str actor;
    int64_t turn_count;
    valise_id tip;
    int64_t created_at, updated_at;
} session;

static const char *const states[] = {"open", "closed", NULL};

static const valise_field fields[] = {
    VALISE_FIELD(session, id, UUID, VALISE_KEY | VALISE_REQUIRED, "Session."),
    VALISE_FIELD(session, title, STR, VALISE_NULLABLE | VALISE_CONTENT, "Title."),
    VALISE_FIELD_WITH(session, state, ENUM, 0, "State.", .more = states),
    VALISE_FIELD(session, actor, STR, 0, "Who."),
    VALISE_FIELD_AS(session, turn_count, "turnCount", INT, 0, "Turns."),
    VALISE_FIELD_WITH(session, tip, ID, VALISE_NULLABLE, "Last.", .ref = "object"),
    VALISE_FIELD_AS(session, created_at, "createdAt", TIME, 0, "When."),
    VALISE_FIELD_AS(session, updated_at, "updatedAt", TIME, 0, "When."),
    VALISE_FIELD_END,
};

#define COUNT (VLS_COUNT(fields) - 1)

typedef struct state {
    session row, back;
    vls_arena arena, parsed;
    vls_buf out;
    vls_json v;
    valise_cell cells[COUNT];
} state;

static void set_up(state *s)
{
    const valise_env *env = valise_env_default();

    *s = (state){.row = {.title = VLS_STR("What a state engine is for"),
                         .state = 1,
                         .actor = VLS_STR("researcher"),
                         .turn_count = 41,
                         .created_at = INT64_C(1767322645123000000),
                         .updated_at = INT64_C(1767326245123000000)}};
    memset(&s->row.id, 0x17, sizeof(s->row.id));
    memset(&s->row.tip, 0x2a, sizeof(s->row.tip));
    vls_arena_init(&s->arena, env, SIZE_MAX);
    vls_arena_init(&s->parsed, env, SIZE_MAX);
    vls_buf_init(&s->out, env, SIZE_MAX);
    static vls_buf text; /* kept for the whole run */
    vls_buf_init(&text, env, SIZE_MAX);
    if (vls_fields_check(fields, sizeof(session), NULL) < 0 ||
        vls_fields_write(&text, &s->row, fields, VLS_FIELD_LOGGED, 0, NULL) < 0 ||
        vls_json_parse(&s->v, &s->parsed, vls_buf_str(&text), NULL, NULL) < 0 ||
        vls_row_to_cells(s->cells, &s->row, fields, &s->arena, NULL) < 0)
        abort();
}

/* ---- cells and their sum ---- */

static void row_sum(void *arg, size_t times)
{
    state *s = arg;
    valise_cell cells[COUNT];
    int64_t sum;

    while (times--) {
        if (vls_row_to_cells(cells, &s->row, fields, &s->arena, NULL) < 0 ||
            vls_cells_sum(&sum, cells, COUNT, &s->out, NULL) < 0)
            abort();
        bench_use(&sum);
    }
}

static void add_blob(vls_buf *out, char type, valise_str bytes)
{
    vls_buf_add_byte(out, type);
    vls_bytes_add_string(out, bytes);
}

static void add_int(vls_buf *out, int64_t value)
{
    vls_buf_add_byte(out, VALISE_CELL_INT);
    vls_bytes_add_varint(out, vls_bytes_zigzag(value));
}

static void raw_sum(void *arg, size_t times)
{
    state *s = arg;
    const session *r = &s->row;

    while (times--) {
        vls_buf_clear(&s->out);
        add_blob(&s->out, VALISE_CELL_BLOB, vls_str(&r->id, sizeof(r->id)));
        add_blob(&s->out, VALISE_CELL_TEXT, r->title);
        add_blob(&s->out, VALISE_CELL_TEXT, valise_str_of(states[r->state]));
        add_blob(&s->out, VALISE_CELL_TEXT, r->actor);
        add_int(&s->out, r->turn_count);
        add_blob(&s->out, VALISE_CELL_BLOB, vls_str(&r->tip, sizeof(r->tip)));
        add_int(&s->out, r->created_at);
        add_int(&s->out, r->updated_at);
        uint64_t sum = vls_str_hash(vls_buf_str(&s->out), 0);
        bench_use(&sum);
    }
}

static void from_cells(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_arena_reset(&s->arena);
        if (vls_row_from_cells(&s->back, fields, sizeof(session), s->cells, COUNT, &s->arena,
                               NULL) < 0)
            abort();
        bench_use(&s->back);
    }
}

static void raw_from_cells(void *arg, size_t times)
{
    state *s = arg;
    session *r = &s->back;

    while (times--) {
        vls_arena_reset(&s->arena);
        memcpy(&r->id, s->cells[0].as.bytes.ptr, sizeof(r->id));
        if (vls_arena_dup(&r->title, &s->arena, s->cells[1].as.bytes, NULL) < 0 ||
            vls_arena_dup(&r->actor, &s->arena, s->cells[3].as.bytes, NULL) < 0)
            abort();
        r->state = vls_str_equal(s->cells[2].as.bytes, VLS_STR("closed"));
        r->turn_count = s->cells[4].as.integer;
        memcpy(&r->tip, s->cells[5].as.bytes.ptr, sizeof(r->tip));
        r->created_at = s->cells[6].as.integer;
        r->updated_at = s->cells[7].as.integer;
        bench_use(r);
    }
}

/* ---- JSON ---- */

static void write_json(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_buf_clear(&s->out);
        if (vls_fields_write(&s->out, &s->row, fields, VLS_FIELD_LOGGED, 0, NULL) < 0)
            abort();
        bench_use(s->out.ptr);
    }
}

static void raw_json(void *arg, size_t times)
{
    state *s = arg;
    const session *r = &s->row;
    vls_buf *out = &s->out;

    while (times--) {
        vls_buf_clear(out);
        vls_buf_add(out, VLS_STR("{\"actor\":"));
        vls_json_write_string(out, r->actor);
        vls_buf_add(out, VLS_STR(",\"createdAt\":\""));
        vls_buf_add_text(out, vls_time_text_of(r->created_at).s);
        vls_buf_add(out, VLS_STR("\",\"id\":\""));
        vls_buf_add(out, vls_str(vls_uuid_text(&r->id).s, 36));
        vls_buf_add(out, VLS_STR("\",\"state\":\""));
        vls_buf_add_text(out, states[r->state]);
        vls_buf_add(out, VLS_STR("\",\"tip\":\""));
        vls_buf_add(out, vls_str(vls_id_hex(&r->tip).s, 64));
        vls_buf_add(out, VLS_STR("\",\"title\":"));
        vls_json_write_string(out, r->title);
        vls_buf_add(out, VLS_STR(",\"turnCount\":"));
        vls_buf_add_i64(out, r->turn_count);
        vls_buf_add(out, VLS_STR(",\"updatedAt\":\""));
        vls_buf_add_text(out, vls_time_text_of(r->updated_at).s);
        vls_buf_add(out, VLS_STR("\"}"));
        bench_use(out->ptr);
    }
}

static void decode(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_arena_reset(&s->arena);
        if (vls_fields_decode(&s->back, fields, sizeof(session), s->v, VLS_FIELD_LOGGED, &s->arena,
                              NULL) < 0)
            abort();
        bench_use(&s->back);
    }
}

/* The members in their order, without a look at their names. */
static void raw_decode(void *arg, size_t times)
{
    state *s = arg;
    session *r = &s->back;
    const vls_member *m = s->v.members;

    while (times--) {
        r->actor = vls_json_str(m[0].value);
        r->state = vls_str_equal(vls_json_str(m[3].value), VLS_STR("closed"));
        r->title = vls_json_str(m[5].value);
        r->turn_count = m[6].value.integer;
        if (vls_time_parse_ns(&r->created_at, vls_json_str(m[1].value), NULL) < 0 ||
            vls_uuid_parse(&r->id, vls_json_str(m[2].value), NULL) < 0 ||
            vls_id_parse(&r->tip, vls_json_str(m[4].value), NULL) < 0 ||
            vls_time_parse_ns(&r->updated_at, vls_json_str(m[7].value), NULL) < 0)
            abort();
        bench_use(r);
    }
}

BENCH(field)
{
    static state s;

    set_up(&s);
    bench_compare(b, &(bench_row){.name = "row of 8, cells and sum",
                                  .ours = row_sum,
                                  .baseline = raw_sum,
                                  .against = "the same by hand",
                                  .arg = &s,
                                  .at_most = 2});
    bench_compare(b, &(bench_row){.name = "row of 8, from cells",
                                  .ours = from_cells,
                                  .baseline = raw_from_cells,
                                  .against = "the same by hand",
                                  .arg = &s});
    bench_compare(b, &(bench_row){.name = "row of 8, JSON write",
                                  .ours = write_json,
                                  .baseline = raw_json,
                                  .against = "the same by hand",
                                  .arg = &s,
                                  .at_most = 2});
    bench_compare(b, &(bench_row){.name = "row of 8, JSON decode",
                                  .ours = decode,
                                  .baseline = raw_decode,
                                  .against = "the same by hand",
                                  .arg = &s,
                                  .at_most = 2.5});
}
