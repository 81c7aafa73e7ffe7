/* align.c -- common ends, then Myers' O(ND) search on what lies between.
 *
 * Items of the middle are numbered so that equal items have equal numbers; those that only one
 * side has are left out. The search ("An O(ND) Difference Algorithm and Its Variations", 1986)
 * walks a grid from (0, 0): one step right drops an item of a, one down takes an item of b, and
 * a diagonal keeps an item both have. After d steps that are not diagonal it knows, for each
 * diagonal k = x - y, how far one gets:
 *
 *     d = 0              row[0] = x                     k = 2i - d
 *     d = 1          row[0]    row[1]                   entry i comes from entry i of the row
 *     d = 2      row[0]   row[1]   row[2]               above (down) or i - 1 (right)
 *
 * All rows are kept, as a triangle, to find the way back. The triangle is limited: where it does
 * not reach the end, the furthest point it reached is taken for right and the search starts anew
 * from there. So memory is constant and work at most (n + m) * MAX_EDITS.
 *
 * Start reading at vls_align_arrays(). */
#include "json/align.h"

#include "base/map.h"

#define MAX_EDITS 256
#define MAX_ITEMS ((size_t)INT32_MAX / 2)
#define NOWHERE (-1)

/* ---- equality ---- */

bool vls_align_identical(vls_json a, vls_json b)
{
    bool is_array = a.type == VLS_JSON_ARRAY;

    if (!is_array && a.type != VLS_JSON_OBJECT)
        return vls_json_equal(a, b);
    if (a.type != b.type || a.len != b.len)
        return false;
    return a.len == 0 || (is_array ? a.items == b.items : a.members == b.members);
}

static bool same_within(vls_json a, vls_json b, uint64_t *work, unsigned depth)
{
    if (!vls_align_spend(work, 1))
        return false;
    if (vls_align_identical(a, b))
        return true;
    if (a.type != b.type || a.len != b.len || depth == VLS_JSON_MAX_DEPTH)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (a.type == VLS_JSON_ARRAY) {
            if (!same_within(a.items[i], b.items[i], work, depth + 1))
                return false;
        } else if (a.type == VLS_JSON_OBJECT) {
            const vls_member *x = &a.members[i], *y = &b.members[i];
            if (!vls_str_equal(vls_json_str(x->key), vls_json_str(y->key)) ||
                !same_within(x->value, y->value, work, depth + 1))
                return false;
        } else {
            return false;
        }
    }
    /* Two empty containers are identical, two scalars would have been: what is left are
     * containers whose children all were the same. */
    return a.type == VLS_JSON_ARRAY || a.type == VLS_JSON_OBJECT;
}

bool vls_align_same(vls_json a, vls_json b, uint64_t *work)
{
    return same_within(a, b, work, 0);
}

static uint64_t mix(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
}

/* Equal values have equal hashes, but for a REAL and a BIG with the same digits, which is no
 * harm: they are then compared as a changed item. Hashes made to collide cost work, and that is
 * limited. */
static uint64_t hash_of(vls_json v, uint64_t *work, unsigned depth)
{
    uint64_t hash = mix(v.type, v.len);

    (void)vls_align_spend(work, 1);
    switch (v.type) {
    case VLS_JSON_BOOL:
        return mix(hash, v.truth);
    case VLS_JSON_INT:
    case VLS_JSON_REAL:
        return mix(hash, (uint64_t)v.integer);
    case VLS_JSON_BIG:
    case VLS_JSON_STRING:
        return mix(hash, vls_str_hash(vls_json_str(v), 0));
    default:
        break;
    }
    if (v.type == VLS_JSON_NULL || depth == VLS_JSON_MAX_DEPTH)
        return hash;
    for (size_t i = 0; i < v.len && work[0] > 0; i++) {
        if (v.type == VLS_JSON_OBJECT)
            hash = mix(hash, vls_str_hash(vls_json_str(v.members[i].key), 0));
        hash = mix(hash, hash_of(v.type == VLS_JSON_ARRAY ? v.items[i] : v.members[i].value, work,
                                 depth + 1));
    }
    return hash;
}

/* ---- numbering ---- */

/* One of the different items of a. */
typedef struct kind {
    vls_json value;
    uint32_t number;
    bool in_b;
} kind;

typedef struct probe {
    vls_json value;
    uint64_t *work;
} probe;

/* The items of one side that both have: their kinds, and where they stand in the array. */
typedef struct side {
    uint32_t *kinds, *where;
    size_t len;
} side;

typedef struct middle {
    vls_arena *scratch;
    vls_map by_value;
    kind *kinds;
    side a, b;
    uint64_t *work;
} middle;

static bool is_kind(const void *item, const void *key)
{
    const probe *p = key;

    return vls_align_same(((const kind *)item)->value, p->value, p->work);
}

static bool side_init(side *s, vls_arena *scratch, size_t count)
{
    s->kinds = vls_arena_array(scratch, count, sizeof(uint32_t));
    s->where = vls_arena_array(scratch, count, sizeof(uint32_t));
    return s->kinds && s->where;
}

static void side_add(side *s, uint32_t number, size_t where)
{
    s->kinds[s->len] = number;
    s->where[s->len++] = (uint32_t)where;
}

static int number_a(middle *m, const vls_json *items, size_t from, size_t to)
{
    uint32_t count = 0;

    for (size_t i = from; i<to && * m->work> 0; i++) {
        probe p = {items[i], m->work};
        uint64_t hash = hash_of(items[i], m->work, 0);
        kind *k = vls_map_get(&m->by_value, hash, &p);
        if (!k) {
            k = &m->kinds[count];
            *k = (kind){items[i], count++, false};
            int rc = vls_map_put(NULL, &m->by_value, hash, &p, k);
            if (rc < 0)
                return rc;
        }
        side_add(&m->a, k->number, i);
    }
    return 0;
}

static void number_b(middle *m, const vls_json *items, size_t from, size_t to)
{
    for (size_t i = from; i<to && * m->work> 0; i++) {
        probe p = {items[i], m->work};
        kind *k = vls_map_get(&m->by_value, hash_of(items[i], m->work, 0), &p);
        if (k) {
            k->in_b = true;
            side_add(&m->b, k->number, i);
        }
    }
}

static void drop_what_b_has_not(middle *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->a.len; i++) {
        if (m->kinds[m->a.kinds[i]].in_b) {
            m->a.kinds[kept] = m->a.kinds[i];
            m->a.where[kept++] = m->a.where[i];
        }
    }
    m->a.len = kept;
}

/* ---- the search ---- */

/* A triangle of rows over the grid right of and below (left, top). */
typedef struct search {
    const middle *m;
    int32_t *rows;
    size_t left, top; /* in m->a and m->b */
    int32_t width, height;
    uint32_t *match;
} search;

static int32_t *row(const search *s, int32_t d)
{
    return s->rows + (size_t)d * ((size_t)d + 1) / 2;
}

/* How far entry i of row d gets before it slides, and whether its last step goes down. */
static int32_t reach(bool *down, const search *s, int32_t d, int32_t i)
{
    const int32_t *above = row(s, d - 1);
    int32_t k = 2 * i - d;
    int32_t by_down = i < d ? above[i] : NOWHERE;
    int32_t by_right = i > 0 && above[i - 1] != NOWHERE ? above[i - 1] + 1 : NOWHERE;

    if (by_down != NOWHERE && by_down - k > s->height)
        by_down = NOWHERE;
    if (by_right > s->width)
        by_right = NOWHERE;
    *down = by_down >= by_right;
    return *down ? by_down : by_right;
}

static int32_t slide(const search *s, int32_t x, int32_t k)
{
    const uint32_t *a = s->m->a.kinds + s->left, *b = s->m->b.kinds + s->top;

    while (x < s->width && x - k < s->height && a[x] == b[x - k])
        x++;
    return x;
}

/* Walk back from entry i of row d to the start and note the diagonals. */
static void commit(const search *s, int32_t d, int32_t i)
{
    const uint32_t *a = s->m->a.where + s->left, *b = s->m->b.where + s->top;

    for (;; d--) {
        bool down = false;
        int32_t from = d > 0 ? reach(&down, s, d, i) : 0;
        for (int32_t x = from; x < row(s, d)[i]; x++)
            s->match[a[x]] = b[x - (2 * i - d)];
        if (d == 0)
            return;
        if (!down)
            i--;
    }
}

/* Fill row d; the entry that got furthest, by x + y. */
static int32_t fill_row(const search *s, int32_t d)
{
    int32_t *entries = row(s, d);
    int32_t best = 0, best_sum = NOWHERE;
    bool down;

    (void)vls_align_spend(s->m->work, (uint64_t)d + 1);
    for (int32_t i = 0; i <= d; i++) {
        int32_t k = 2 * i - d;
        int32_t from = d > 0 ? reach(&down, s, d, i) : 0;
        entries[i] = from == NOWHERE ? NOWHERE : slide(s, from, k);
        if (entries[i] == NOWHERE)
            continue;
        (void)vls_align_spend(s->m->work, (uint64_t)(entries[i] - from));
        if (2 * entries[i] - k > best_sum) {
            best_sum = 2 * entries[i] - k;
            best = i;
        }
    }
    return best;
}

/* Search as far as one triangle goes, note what matches on the way, and move there. */
static void search_on(search *s)
{
    int32_t d = 0, best, x, y;

    for (;; d++) {
        best = fill_row(s, d);
        x = row(s, d)[best];
        y = x - (2 * best - d);
        if ((x == s->width && y == s->height) || d == MAX_EDITS || *s->m->work == 0)
            break;
    }
    assert(x >= 0 && y >= 0);
    commit(s, d, best);
    s->left += (size_t)x;
    s->top += (size_t)y;
}

static int search_all(uint32_t *match, const middle *m, valise_error *err)
{
    search s = {.m = m, .match = match};
    size_t rows = VLS_MIN(MAX_EDITS, m->a.len + m->b.len) + 1;

    if (m->a.len == 0 || m->b.len == 0)
        return 0;
    s.rows = vls_arena_array(m->scratch, rows * (rows + 1) / 2, sizeof(int32_t));
    if (!s.rows)
        return vls_arena_fail(m->scratch, err);
    while (s.left < m->a.len && s.top<m->b.len && * m->work> 0) {
        s.width = (int32_t)(m->a.len - s.left);
        s.height = (int32_t)(m->b.len - s.top);
        search_on(&s);
    }
    return 0;
}

/* Match items from..a_to of a with items from..b_to of b. */
static int match_middle(uint32_t *match, vls_arena *scratch, vls_json a, vls_json b, size_t from,
                        size_t a_to, size_t b_to, uint64_t *work, valise_error *err)
{
    middle m = {.scratch = scratch, .work = work};

    m.kinds = vls_arena_array(scratch, a_to - from, sizeof(kind));
    if (!m.kinds || !side_init(&m.a, scratch, a_to - from) ||
        !side_init(&m.b, scratch, b_to - from))
        return vls_arena_fail(scratch, err);
    vls_map_init(&m.by_value, scratch->env, is_kind);
    int rc = number_a(&m, a.items, from, a_to);
    if (rc == 0)
        number_b(&m, b.items, from, b_to);
    vls_map_release(&m.by_value);
    if (rc < 0)
        return vls_fail_memory(err);
    drop_what_b_has_not(&m);
    return search_all(match, &m, err);
}

int vls_align_arrays(const uint32_t **match, vls_arena *scratch, vls_json a, vls_json b,
                     uint64_t *work, valise_error *err)
{
    uint32_t *found = vls_arena_array(scratch, a.len, sizeof(uint32_t));
    size_t from = 0, a_to = a.len, b_to = b.len;

    if (!found)
        return vls_arena_fail(scratch, err);
    for (size_t i = 0; i < a.len; i++)
        found[i] = VLS_ALIGN_NONE;

    for (; from < a_to && from < b_to && vls_align_same(a.items[from], b.items[from], work); from++)
        found[from] = (uint32_t)from;
    for (; a_to > from && b_to > from && vls_align_same(a.items[a_to - 1], b.items[b_to - 1], work);
         a_to--, b_to--)
        found[a_to - 1] = (uint32_t)(b_to - 1);

    if (from < VLS_MIN(a_to, b_to) && work[0] > 0 && a_to - from + b_to - from <= MAX_ITEMS) {
        int rc = match_middle(found, scratch, a, b, from, a_to, b_to, work, err);
        if (rc < 0)
            return rc;
    }
    *match = found;
    return 0;
}
