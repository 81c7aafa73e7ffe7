/* graph_kit.c -- see graph_kit.h. */
#include "chat/graph_kit.h"

#include "chat/area.h"
#include "kernel/kernel.h"
#include "memory/area.h"

/* ---- a store that counts ---- */

static valise_store_ops counted;
static const valise_store_ops *real;
static reads so_far;

static int count_get(valise_cell *row, void *txn, uint32_t table, const valise_cell *key,
                     valise_error *err)
{
    so_far.gets++;
    return real->get(row, txn, table, key, err);
}

static int count_open(void **scan, void *txn, const valise_range *range, valise_error *err)
{
    so_far.scans++;
    return real->scan_open(scan, txn, range, err);
}

static int count_next(valise_cell *row, void *scan, valise_error *err)
{
    so_far.rows++;
    return real->scan_next(row, scan, err);
}

reads shrub_reads(void)
{
    reads out = so_far;

    so_far = (reads){0};
    return out;
}

void shrub_open(bed *b, test *t, const char *param)
{
    static const valise_coll *colls[32];
    const valise_coll *const *areas[] = {vls_area_kernel.collections, vls_area_chat.collections,
                                         vls_area_memory.collections};
    size_t count = 0;
    vls_store_options options = {.env = t->env,
                                 .ops = &counted,
                                 .where = test_tmpdir(),
                                 .flags = VALISE_STORE_CREATE,
                                 .busy_timeout_ns = INT64_C(10000000000),
                                 .colls = colls};

    for (size_t i = 0; i < VLS_COUNT(areas); i++) {
        for (const valise_coll *const *c = areas[i]; *c; c++)
            colls[count++] = *c;
    }
    colls[count] = NULL;
    real = strcmp(param, "sqlite") == 0 ? valise_store_sqlite() : valise_store_memory();
    counted = *real;
    counted.get = count_get;
    counted.scan_open = count_open;
    counted.scan_next = count_next;
    *b = (bed){.t = t, .now = 1000};
    CHECK_OK(vls_store_open(&b->store, &options, &t->err));
}

/* ---- rows ---- */

valise_uuid shrub_id(uint64_t number)
{
    valise_uuid id = {{0xab}};

    for (int i = 0; i < 8; i++)
        id.bytes[15 - i] = (uint8_t)(number >> (8 * i));
    return id;
}

static void put_edge(bed *b, const vls_turn_row *parent, const vls_turn_row *child, size_t position)
{
    test *t = b->t;
    vls_edge_row edge = {.parent = parent->ref,
                         .child = child->ref,
                         .position = (int64_t)position,
                         .above = parent->place,
                         .below = child->place};

    CHECK_OK(valise_view_put(&b->view, &vls_edges, &edge, &t->err));
}

vls_turn_row shrub_put(bed *b, const shoot *s)
{
    test *t = b->t;
    vls_turn_row row = {.ref = {shrub_id(s->id), s->version > 0 ? s->version : 1},
                        .merges = s->more_count > 0,
                        .time = b->view.stamp.time,
                        .actor = VLS_STR("tester")};
    valise_uuid fresh = shrub_id(s->id << 8 | (uint64_t)s->version);

    if (s->first)
        row.parent = s->first->ref;
    fresh.bytes[1] = 1;
    CHECK_OK(vls_turn_link(&row, &b->view, s->first, &fresh, &t->err));
    if (s->crowd && s->first)
        row.place.lane = s->first->place.lane;
    CHECK_OK(valise_view_put(&b->view, &vls_turns, &row, &t->err));
    if (s->first && !vls_uuid_equal(&s->first->place.lane, &row.place.lane))
        put_edge(b, s->first, &row, 0);
    for (size_t i = 0; i < s->more_count; i++)
        put_edge(b, s->more[i], &row, i + 1);
    return row;
}

vls_turn_row shrub_line(bed *b, uint64_t id, size_t count, const vls_turn_row *parent)
{
    vls_turn_row row = {0};

    for (size_t i = 0; i < count; i++)
        row = shrub_put(b, &(shoot){.id = id + i, .first = i == 0 ? parent : &row});
    return row;
}

vls_session_row shrub_session(bed *b, uint64_t id, const char *label, const vls_turn_row *head)
{
    test *t = b->t;
    vls_session_row row = {.id = shrub_id(id), .actor = VLS_STR("tester")};

    if (label)
        row.label = valise_str_of(label);
    if (head) {
        row.head = head->ref;
        row.place = head->place;
    }
    CHECK_OK(valise_view_put(&b->view, &vls_sessions, &row, &t->err));
    return row;
}

void shrub_tip(bed *b, uint64_t session, const vls_turn_row *turn)
{
    test *t = b->t;
    vls_tip_row row = {.session = shrub_id(session), .turn = turn->ref, .place = turn->place};

    CHECK_OK(valise_view_put(&b->view, &vls_tips, &row, &t->err));
}

/* ---- texts ---- */

const char *shrub_name(const vls_turn_ref *ref)
{
    uint64_t number = 0;

    for (int i = 8; i < 16; i++)
        number = number << 8 | ref->id.bytes[i];
    return ref->version == 1
               ? test_format("%llu", (unsigned long long)number)
               : test_format("%llu@%lld", (unsigned long long)number, (long long)ref->version);
}

static int add_name(void *arg, const vls_turn_row *turn, valise_error *err)
{
    vls_buf *out = arg;

    (void)err;
    vls_buf_printf(out, "%s%s", out->len > 0 ? " " : "", shrub_name(&turn->ref));
    /* Strings must be there until now. */
    CHECK_STR(VLS_STR("tester"), turn->actor);
    return 0;
}

const char *shrub_text(bed *b, const vls_trail *trail, int64_t from, bool reverse)
{
    test *t = b->t;
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 1 << 20);
    CHECK_OK(vls_trail_each(trail, &b->view, from, reverse, add_name, &out, &t->err));
    return test_format("%s", vls_buf_cstr(&out));
}

const char *shrub_walk(bed *b, const vls_turn_row *head, const vls_turn_row *not_in,
                       bool first_only)
{
    test *t = b->t;
    vls_trail trail = {.env = NULL};
    const char *text;

    CHECK_OK(vls_trail_make(&trail, &b->view, head, not_in, first_only, &t->err));
    text = shrub_text(b, &trail, 0, false);
    vls_trail_release(&trail);
    return text;
}
