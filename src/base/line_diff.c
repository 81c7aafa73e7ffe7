/* line_diff.c -- see line_diff.h.
 *
 * From texts to changes:
 *
 *     1. lines at both ends that are equal are left out
 *     2. each line gets a number, the same for the same text
 *     3. lines that only one side has are changed in any case: they are left out as well
 *     4. what is left: boxes on a stack. A box is a range of either side; it is split where the
 *        shortest way through it is half done (split_box), until one of the ranges is empty
 *     5. changes slide down as far as they can, where several places are right: so those that are
 *        near each other become one
 *
 *            new  0   1   2   3        a way goes right (delete), down (insert), or both at once
 *       old  +---+---+---+             where the lines are equal, which costs nothing. Diagonal
 *         0  | \ |   |   |             k is where old - new = k; reach[k] is how far along it one
 *         1  |   | \ |   |             gets with so many steps that cost something. */
#include "base/line_diff.h"

#include "base/fast_hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define BINARY_LOOK 8000u
#define COST_MIN 1024 /* changes on either half of a way that are always looked for */

/* One side after steps 1 to 3: numbers of lines, and where they stand in the text. */
typedef struct side {
    uint32_t *class, *line;
    int32_t count;
    uint8_t *changed; /* of all lines of the text */
    size_t lines;
} side;

typedef struct box {
    int32_t x0, x1, y0, y1; /* of the old and the new side */
} box;

typedef struct differ {
    const valise_env *env;
    vls_line_diff *out;
    side old, new;
    uint32_t head, tail;     /* equal lines at both ends */
    int32_t *room;           /* of both reaches */
    size_t room_count;       /* numbers in it */
    int32_t *ahead, *behind; /* reach by diagonal, from the beginning and from the end */
    int32_t cost_max;
    uint64_t left; /* steps */
    vls_vec(box) boxes;
} differ;

/* ---- lines ---- */

static int split_lines(vls_lines *out, const valise_env *env, valise_str text, valise_error *err)
{
    size_t count = 0, at = 0;
    uint32_t *starts;

    if (text.len > VLS_DIFF_TEXT_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "a text of %zu bytes is too large to be compared",
                        text.len);
    for (const char *p = text.ptr, *end = p + text.len; at < text.len; count++) {
        const char *newline = memchr(p + at, '\n', (size_t)(end - p) - at);
        at = newline ? (size_t)(newline - p) + 1 : text.len;
    }
    if (count > VLS_DIFF_LINES_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "a text of %zu lines is too large to be compared",
                        count);
    starts = vls_mem_alloc(env, (count + 1) * sizeof(*starts));
    if (!starts)
        return vls_fail_memory(err);
    at = 0;
    for (size_t i = 0; i < count; i++) {
        const char *newline = memchr(text.ptr + at, '\n', text.len - at);
        starts[i] = (uint32_t)at;
        at = newline ? (size_t)(newline - text.ptr) + 1 : text.len;
    }
    starts[count] = (uint32_t)text.len;
    *out = (vls_lines){text, starts, (uint32_t)count};
    return 0;
}

static void find_ends(differ *d)
{
    const vls_lines *old = &d->out->old, *new = &d->out->new;
    uint32_t most = VLS_MIN(old->count, new->count);

    while (d->head < most && vls_str_equal(vls_line(old, d->head), vls_line(new, d->head)))
        d->head++;
    while (d->tail < most - d->head && vls_str_equal(vls_line(old, old->count - 1 - d->tail),
                                                     vls_line(new, new->count - 1 - d->tail)))
        d->tail++;
}

/* ---- numbers for lines ---- */

typedef struct class
{
    valise_str text;
    uint32_t number;
    bool on[2]; /* which sides have it */
} class;

static bool class_is(const void *item, const void *key)
{
    return vls_str_equal(((const class *)item)->text, *(const valise_str *)key);
}

typedef struct naming {
    vls_map map;
    vls_arena arena;
    vls_fast_key key;
    vls_vec(class *) all;
} naming;

static void vls_auto_naming(naming *n)
{
    vls_vec_release(&n->all, n->map.env);
    vls_map_release(&n->map);
    vls_arena_release(&n->arena);
}

static int name_line(uint32_t *out, naming *n, valise_str text, int which, valise_error *err)
{
    uint64_t hash = vls_fast_hash64(text, &n->key);
    class *c = vls_map_get(&n->map, hash, &text);

    if (!c) {
        c = vls_arena_zalloc(&n->arena, sizeof(*c));
        if (!c)
            return vls_arena_fail(&n->arena, err);
        *c = (class){.text = text, .number = (uint32_t)n->all.len};
        if (!vls_vec_push(&n->all, n->map.env, c) || vls_map_put(NULL, &n->map, hash, &text, c) < 0)
            return vls_fail_memory(err);
    }
    c->on[which] = true;
    *out = c->number;
    return 0;
}

static int name_side(side *s, differ *d, naming *n, const vls_lines *lines, int which,
                     valise_error *err)
{
    size_t count = lines->count - d->head - d->tail;
    int rc = 0;

    s->lines = lines->count;
    s->changed = vls_mem_zalloc(d->env, s->lines + 1);
    s->class = vls_mem_alloc(d->env, (s->lines + 1) * sizeof(*s->class));
    s->line = vls_mem_alloc(d->env, (s->lines + 1) * sizeof(*s->line));
    if (!s->changed || !s->class || !s->line)
        return vls_fail_memory(err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = name_line(&s->class[i], n, vls_line(lines, d->head + i), which, err);
    s->count = (int32_t)count;
    return rc;
}

/* Leave out what the other side does not have. */
static void keep_shared(side *s, const naming *n, uint32_t head)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < s->count; i++) {
        const class *c = n->all.ptr[s->class[i]];
        if (!c->on[0] || !c->on[1]) {
            s->changed[head + (uint32_t)i] = 1;
            continue;
        }
        s->class[kept] = s->class[i];
        s->line[kept++] = head + (uint32_t)i;
    }
    s->count = kept;
}

static int name_lines(differ *d, valise_error *err)
{
    VLS_AUTO(naming) naming n = {.all = VLS_VEC_INIT};
    int rc = vls_fast_key_init(&n.key, d->env, err);

    vls_map_init(&n.map, d->env, class_is);
    vls_arena_init(&n.arena, d->env, SIZE_MAX / 2);
    if (rc == 0)
        rc = name_side(&d->old, d, &n, &d->out->old, 0, err);
    if (rc == 0)
        rc = name_side(&d->new, d, &n, &d->out->new, 1, err);
    if (rc < 0)
        return rc;
    keep_shared(&d->old, &n, d->head);
    keep_shared(&d->new, &n, d->head);
    return 0;
}

/* ---- the way through a box ---- */

/* Diagonals that were reached, and how far they may go. */
typedef struct span {
    int32_t low, high;
} span;

/* One diagonal more on either side, or one less where the box ends: every other one is looked at.
 * The neighbours of the outermost count as not reached. */
static void widen(span *s, int32_t *reach, const span *limit, int32_t none)
{
    if (s->low > limit->low)
        reach[--s->low - 1] = none;
    else
        s->low++;
    if (s->high < limit->high)
        reach[++s->high + 1] = none;
    else
        s->high--;
}

typedef struct point {
    int32_t x, y;
} point;

/* One more change from the beginning on. 1: it met the way from the end, at *out; 0; -1: that is
 * enough. */
static int go_ahead(point *out, differ *d, const box *b, const span *ahead, const span *behind)
{
    for (int32_t k = ahead->high; k >= ahead->low; k -= 2) {
        int32_t left = d->ahead[k - 1], right = d->ahead[k + 1];
        int32_t x = left >= right ? left + 1 : right, from = x, y = x - k;
        while (x < b->x1 && y < b->y1 && d->old.class[x] == d->new.class[y])
            x++, y++;
        d->ahead[k] = x;
        if (behind && k >= behind->low && k <= behind->high && d->behind[k] <= x) {
            *out = (point){x, y};
            return 1;
        }
        if (d->left <= (uint64_t)(x - from))
            return -1;
        d->left -= (uint64_t)(x - from) + 1;
    }
    return 0;
}

/* The same from the end back. */
static int go_back(point *out, differ *d, const box *b, const span *behind, const span *ahead)
{
    for (int32_t k = behind->high; k >= behind->low; k -= 2) {
        int32_t left = d->behind[k - 1], right = d->behind[k + 1];
        int32_t x = left < right ? left : right - 1, from = x, y = x - k;
        while (x > b->x0 && y > b->y0 && d->old.class[x - 1] == d->new.class[y - 1])
            x--, y--;
        d->behind[k] = x;
        if (ahead && k >= ahead->low && k <= ahead->high && x <= d->ahead[k]) {
            *out = (point){x, y};
            return 1;
        }
        if (d->left <= (uint64_t)(from - x))
            return -1;
        d->left -= (uint64_t)(from - x) + 1;
    }
    return 0;
}

/* The point that is farthest from where its way began, in the box. */
static point farthest(const differ *d, const box *b, const span *ahead, const span *behind)
{
    point best = {b->x0, b->y0};
    int64_t most = 0;

    for (int32_t k = ahead->high; k >= ahead->low; k -= 2) {
        int32_t x = VLS_MIN(d->ahead[k], b->x1), y = x - k;
        if (y > b->y1) {
            y = b->y1;
            x = y + k;
        }
        if ((int64_t)x + y - b->x0 - b->y0 > most) {
            most = (int64_t)x + y - b->x0 - b->y0;
            best = (point){x, y};
        }
    }
    for (int32_t k = behind->high; k >= behind->low; k -= 2) {
        int32_t x = VLS_MAX(d->behind[k], b->x0), y = x - k;
        if (y < b->y0) {
            y = b->y0;
            x = y + k;
        }
        if ((int64_t)b->x1 + b->y1 - x - y > most) {
            most = (int64_t)b->x1 + b->y1 - x - y;
            best = (point){x, y};
        }
    }
    return best;
}

/* Where the shortest way through the box is half done: 1; 2: where some way is; 0: it would take
 * too long. Neither the first lines of the box are equal, nor the last: two changes at least. */
static int split_box(point *out, differ *d, const box *b)
{
    const span limit = {b->x0 - b->y1, b->x1 - b->y0};
    int32_t first = b->x0 - b->y0, last = b->x1 - b->y1;
    span ahead = {first, first}, behind = {last, last};
    bool odd = (first - last) & 1;
    int met = 0;

    d->ahead[first] = b->x0;
    d->behind[last] = b->x1;
    for (int32_t cost = 1; cost <= d->cost_max && met == 0; cost++) {
        widen(&ahead, d->ahead, &limit, -1);
        met = go_ahead(out, d, b, &ahead, odd ? &behind : NULL);
        if (met != 0)
            break;
        widen(&behind, d->behind, &limit, INT32_MAX);
        met = go_back(out, d, b, &behind, odd ? NULL : &ahead);
    }
    if (met != 0)
        return met > 0;
    *out = farthest(d, b, &ahead, &behind);
    return 2;
}

/* ---- boxes ---- */

static void mark(side *s, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        s->changed[s->line[i]] = 1;
}

static int push(differ *d, box b, valise_error *err)
{
    return vls_vec_push(&d->boxes, d->env, b) ? 0 : vls_fail_memory(err);
}

static int do_box(differ *d, box b, valise_error *err)
{
    point p = {0, 0};
    int found, rc;

    while (b.x0 < b.x1 && b.y0 < b.y1 && d->old.class[b.x0] == d->new.class[b.y0])
        b.x0++, b.y0++;
    while (b.x0 < b.x1 && b.y0 < b.y1 && d->old.class[b.x1 - 1] == d->new.class[b.y1 - 1])
        b.x1--, b.y1--;
    found = b.x0 < b.x1 && b.y0 < b.y1 ? split_box(&p, d, &b) : 0;
    if (b.x0 < b.x1 && b.y0 < b.y1 && found != 1)
        d->out->exact = false;
    /* A point in a corner leaves a box as large as this one. */
    if (found == 0 || (p.x == b.x0 && p.y == b.y0) || (p.x == b.x1 && p.y == b.y1)) {
        mark(&d->old, b.x0, b.x1);
        mark(&d->new, b.y0, b.y1);
        return 0;
    }
    rc = push(d, (box){p.x, b.x1, p.y, b.y1}, err);
    return rc < 0 ? rc : push(d, (box){b.x0, p.x, b.y0, p.y}, err);
}

static int32_t root_of(size_t n)
{
    int32_t root = 1;

    while ((size_t)root * (size_t)root < n)
        root *= 2;
    return root;
}

static int do_boxes(differ *d, valise_error *err)
{
    size_t diagonals = (size_t)d->old.count + (size_t)d->new.count + 3;
    int32_t root = root_of(diagonals);
    int rc;

    d->room_count = 2 * diagonals;
    d->room = vls_mem_alloc(d->env, d->room_count * sizeof(*d->room));
    if (!d->room)
        return vls_fail_memory(err);
    d->ahead = d->room + d->new.count + 1;
    d->behind = d->ahead + diagonals;
    d->cost_max = VLS_MAX(root, COST_MIN);
    rc = push(d, (box){0, d->old.count, 0, d->new.count}, err);
    while (rc == 0 && d->boxes.len > 0) {
        box b = d->boxes.ptr[--d->boxes.len];
        rc = do_box(d, b, err);
    }
    return rc;
}

/* ---- changes ---- */

static int list_changes(differ *d, valise_error *err)
{
    size_t x = 0, y = 0;

    while (x < d->old.lines || y < d->new.lines) {
        vls_line_change c = {.old_at = (uint32_t)x, .new_at = (uint32_t)y};
        while (x < d->old.lines && d->old.changed[x])
            x++;
        while (y < d->new.lines && d->new.changed[y])
            y++;
        c.old_count = (uint32_t)(x - c.old_at);
        c.new_count = (uint32_t)(y - c.new_at);
        if (c.old_count + c.new_count > 0 && !vls_vec_push(&d->out->changes, d->env, c))
            return vls_fail_memory(err);
        x++, y++; /* what is not changed stands on both sides */
    }
    return 0;
}

/* How far a change that only deletes, or only inserts, can go down before it meets the next. */
static uint32_t slide_of(const vls_lines *lines, uint32_t at, uint32_t count, uint32_t end)
{
    uint32_t by = 0;

    while (at + by + count < end &&
           vls_str_equal(vls_line(lines, at + by), vls_line(lines, at + by + count)))
        by++;
    return by;
}

/* From the last to the first; what meets the next one becomes a part of it. */
static void slide_changes(vls_line_diff *out)
{
    vls_line_change *all = out->changes.ptr;
    size_t last = out->changes.len; /* all from here on are in their place */

    for (size_t i = out->changes.len; i-- > 0;) {
        vls_line_change c = all[i];
        bool next = last < out->changes.len;
        uint32_t by = 0;
        if (c.new_count == 0)
            by = slide_of(&out->old, c.old_at, c.old_count,
                          next ? all[last].old_at : out->old.count);
        else if (c.old_count == 0)
            by = slide_of(&out->new, c.new_at, c.new_count,
                          next ? all[last].new_at : out->new.count);
        c.old_at += by;
        c.new_at += by;
        if (next && c.old_at + c.old_count == all[last].old_at &&
            c.new_at + c.new_count == all[last].new_at) {
            c.old_count += all[last].old_count;
            c.new_count += all[last].new_count;
            last++;
        }
        all[--last] = c;
    }
    out->changes.len -= last;
    if (last > 0 && out->changes.len > 0)
        memmove(all, all + last, out->changes.len * sizeof(*all));
}

static void release_side(side *s, const valise_env *env)
{
    vls_mem_free(env, s->changed, s->lines + 1);
    vls_mem_free(env, s->class, (s->lines + 1) * sizeof(*s->class));
    vls_mem_free(env, s->line, (s->lines + 1) * sizeof(*s->line));
}

static void vls_auto_differ(differ *d)
{
    release_side(&d->old, d->env);
    release_side(&d->new, d->env);
    vls_mem_free(d->env, d->room, d->room_count * sizeof(*d->room));
    vls_vec_release(&d->boxes, d->env);
}

int vls_line_diff_make(vls_line_diff *out, const valise_env *env, valise_str old, valise_str new,
                       uint64_t steps, valise_error *err)
{
    VLS_AUTO(line_diff) vls_line_diff diff = {.env = env, .exact = true};
    VLS_AUTO(differ)
    differ d = {.env = env, .out = &diff, .left = steps ? steps : VLS_DIFF_STEPS_USUAL};
    int rc = split_lines(&diff.old, env, old, err);

    if (rc == 0)
        rc = split_lines(&diff.new, env, new, err);
    if (rc < 0)
        return rc;
    find_ends(&d);
    rc = name_lines(&d, err);
    if (rc == 0)
        rc = do_boxes(&d, err);
    if (rc == 0)
        rc = list_changes(&d, err);
    if (rc < 0)
        return rc;
    slide_changes(&diff);
    *out = diff;
    diff = (vls_line_diff){.env = env};
    return 0;
}

void vls_line_diff_release(vls_line_diff *diff)
{
    if (!diff->env)
        return;
    vls_mem_free(diff->env, diff->old.starts, (diff->old.count + (size_t)1) * sizeof(uint32_t));
    vls_mem_free(diff->env, diff->new.starts, (diff->new.count + (size_t)1) * sizeof(uint32_t));
    vls_vec_release(&diff->changes, diff->env);
    *diff = (vls_line_diff){.env = NULL};
}

/* ---- hunks ---- */

static void add_lines(vls_buf *out, char sign, const vls_lines *lines, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        valise_str line = vls_line(lines, i);
        vls_buf_add_byte(out, sign);
        vls_buf_add(out, line);
        if (line.ptr[line.len - 1] != '\n')
            vls_buf_add_text(out, "\n\\ No newline at end of file\n");
    }
}

/* "12,3"; of no lines the one before them counts. */
static void add_range(vls_buf *out, uint32_t at, uint32_t count)
{
    vls_buf_add_u64(out, count == 0 ? at : (uint64_t)at + 1);
    if (count != 1)
        vls_buf_printf(out, ",%u", count);
}

/* Changes first .. end - 1 as one, with up to `around` lines before and behind them. */
static void write_hunk(vls_buf *out, const vls_line_diff *diff, size_t first, size_t end,
                       uint32_t around)
{
    const vls_line_change *top = &diff->changes.ptr[first], *last = &diff->changes.ptr[end - 1];
    uint32_t before = VLS_MIN(around, top->old_at), at = top->old_at - before;
    uint32_t old_end = last->old_at + last->old_count, new_end = last->new_at + last->new_count;
    uint32_t behind = VLS_MIN(around, diff->old.count - old_end);

    vls_buf_add_text(out, "@@ -");
    add_range(out, at, old_end + behind - at);
    vls_buf_add_text(out, " +");
    add_range(out, top->new_at - before, new_end + behind - (top->new_at - before));
    vls_buf_add_text(out, " @@\n");
    for (const vls_line_change *c = top; c <= last; c++) {
        add_lines(out, ' ', &diff->old, at, c->old_at);
        add_lines(out, '-', &diff->old, c->old_at, c->old_at + c->old_count);
        add_lines(out, '+', &diff->new, c->new_at, c->new_at + c->new_count);
        at = c->old_at + c->old_count;
    }
    add_lines(out, ' ', &diff->old, at, old_end + behind);
}

void vls_unified_write(vls_buf *out, const vls_line_diff *diff, uint32_t around)
{
    const vls_line_change *all = diff->changes.ptr;
    size_t count = diff->changes.len, end;

    for (size_t first = 0; first < count && !out->failed; first = end) {
        for (end = first + 1; end < count; end++) {
            uint32_t gap = all[end].old_at - all[end - 1].old_at - all[end - 1].old_count;
            if (gap > 2 * (uint64_t)around)
                break;
        }
        write_hunk(out, diff, first, end, around);
    }
}

bool vls_text_is_binary(valise_str bytes)
{
    return bytes.len > 0 && memchr(bytes.ptr, 0, VLS_MIN(bytes.len, BINARY_LOOK));
}
