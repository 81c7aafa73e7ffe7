/* ring_index.c -- items by namespace. [B24]
 *
 * Each distinct namespace is matched once; those that cannot match because of how the pattern
 * begins are not looked at. What matches is one run of records per namespace, each in the order of
 * keys; the runs are merged two by two:
 *
 *     a c f | b d | e g | h         four runs
 *     a b c d f | e g h
 *     a b c d e f g h
 *
 * Entries carry the eight bytes of the key that come behind what all keys have in common, so that
 * most comparisons touch no key.
 *
 * The newest state has its namespaces at hand (vls_ring_space); of others, and of the base of a
 * fork, an index is made when somebody asks first. */
#include "backpack/ring_impl.h"

#include "base/bytes.h"
#include "base/glob.h"
#include "base/mem.h"

typedef vls_ring_record record;
typedef vls_ring_state state;
typedef vls_ring_index ring_index;
typedef vls_ring_section section;

/* ---- the index of a state ---- */

void vls_ring_index_free(ring_index *index, const valise_env *env)
{
    if (!index)
        return;
    vls_mem_free(env, index->sections, index->section_count * sizeof(section));
    vls_mem_free(env, index->records, index->record_count * sizeof(record *));
    vls_mem_free(env, index, sizeof(*index));
}

/* By namespace; qsort does not keep what is equal in order, so then by key. */
static int compare_records(const void *a, const void *b)
{
    const record *x = *(record *const *)a, *y = *(record *const *)b;
    const valise_str s = x->label->traits.namespace_name, t = y->label->traits.namespace_name;
    int order = s.ptr == t.ptr ? 0 : vls_str_compare(s, t);

    return order ? order : vls_str_compare(vls_ring_key_str(x->key), vls_ring_key_str(y->key));
}

static size_t count_sections(const ring_index *index, section *sections)
{
    size_t count = 0;
    valise_str last = {NULL, 0};

    for (size_t i = 0; i < index->record_count; i++) {
        valise_str name = index->records[i]->label->traits.namespace_name;
        if (count == 0 || (name.ptr != last.ptr && !vls_str_equal(name, last))) {
            if (sections)
                sections[count] = (section){name, i, 0};
            count++;
        }
        if (sections)
            sections[count - 1].count++;
        last = name;
    }
    return count;
}

static bool has_namespace(const record *r)
{
    return vls_ring_is_item(r) && r->label->space;
}

static int fill_index(ring_index *index, const vls_pmap *map, const valise_env *env)
{
    vls_pmap_cursor cursor;
    size_t count = 0;

    for (record *r = vls_pmap_first(&cursor, map); r; r = vls_pmap_next(&cursor))
        count += has_namespace(r);
    if (count == 0)
        return 0;
    index->records = vls_mem_alloc(env, count * sizeof(record *));
    if (!index->records)
        return VALISE_E_NO_MEMORY;
    index->record_count = count;
    count = 0;
    for (record *r = vls_pmap_first(&cursor, map); r; r = vls_pmap_next(&cursor)) {
        if (has_namespace(r))
            index->records[count++] = r;
    }
    qsort(index->records, count, sizeof(record *), compare_records);
    count = count_sections(index, NULL);
    index->sections = vls_mem_alloc(env, count * sizeof(section));
    if (!index->sections)
        return VALISE_E_NO_MEMORY;
    index->section_count = count_sections(index, index->sections);
    return 0;
}

/* Made when it is asked for first. No mutex. */
static int index_of(const ring_index **out, state *s, valise_error *err)
{
    const valise_env *env = s->env;
    ring_index *made = NULL;
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    if (!s->index) {
        made = vls_mem_zalloc(env, sizeof(*made));
        rc = made ? fill_index(made, &s->map, env) : VALISE_E_NO_MEMORY;
        if (rc == 0)
            s->index = VLS_TAKE(made);
    }
    if (rc == 0)
        *out = s->index;
    pthread_mutex_unlock(&s->lock);
    vls_ring_index_free(made, env);
    return rc < 0 ? vls_fail_memory(err) : 0;
}

/* ---- what matches ---- */

typedef struct entry {
    uint64_t head;
    record *record; /* a reference */
} entry;

typedef struct matches {
    const valise_env *env;
    vls_vec(entry) entries;
    vls_vec(size_t) ends; /* of runs */
} matches;

static void release(matches *m)
{
    for (size_t i = 0; i < m->entries.len; i++)
        vls_ring_record_unref(m->entries.ptr[i].record);
    vls_vec_release(&m->entries, m->env);
    vls_vec_release(&m->ends, m->env);
}

static bool add(matches *m, record *r)
{
    if (!vls_vec_push(&m->entries, m->env, (entry){0, r}))
        return false;
    vls_ref_get(&r->refs);
    return true;
}

static bool end_run(matches *m)
{
    size_t last = m->ends.len > 0 ? m->ends.ptr[m->ends.len - 1] : 0;

    return m->entries.len == last || vls_vec_push(&m->ends, m->env, m->entries.len);
}

/* The first of count names, which ascend, that is not before prefix. */
static size_t seek(valise_str (*name)(const void *list, size_t at), const void *list, size_t count,
                   valise_str prefix)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (vls_str_compare(name(list, middle), prefix) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static valise_str space_name(const void *list, size_t at)
{
    return vls_ring_space_str(((void *const *)list)[at]);
}

static valise_str section_name(const void *list, size_t at)
{
    return ((const section *)list)[at].name;
}

static int match_space(matches *m, vls_ring_space *space)
{
    if (vls_ring_order_tidy(&space->keys, &vls_ring_key_order, m->env) < 0)
        return VALISE_E_NO_MEMORY;
    for (size_t i = 0; i < space->keys.len; i++) {
        if (!add(m, ((const vls_ring_key *)space->keys.ptr[i])->newest))
            return VALISE_E_NO_MEMORY;
    }
    return end_run(m) ? 0 : VALISE_E_NO_MEMORY;
}

static int match_live(matches *m, vls_ring *ring, valise_str pattern)
{
    valise_str prefix = vls_bag_pattern_prefix(pattern);
    int rc = vls_ring_order_tidy(&ring->spaces, &vls_ring_space_order, m->env);
    size_t at = rc == 0 ? seek(space_name, ring->spaces.ptr, ring->spaces.len, prefix) : 0;

    for (; rc == 0 && at < ring->spaces.len; at++) {
        vls_ring_space *space = ring->spaces.ptr[at];
        valise_str name = vls_ring_space_str(space);
        if (!vls_str_starts(name, prefix))
            break;
        if (vls_glob_match(&vls_glob_dotted, pattern, name))
            rc = match_space(m, space);
    }
    return rc;
}

/* hidden_by: a ring whose own keys hide those of the index; NULL: none. */
static int match_index(matches *m, const ring_index *index, valise_str pattern, vls_ring *hidden_by)
{
    valise_str prefix = vls_bag_pattern_prefix(pattern);

    for (size_t at = seek(section_name, index->sections, index->section_count, prefix);
         at < index->section_count; at++) {
        const section *r = &index->sections[at];
        if (!vls_str_starts(r->name, prefix))
            break;
        if (!vls_glob_match(&vls_glob_dotted, pattern, r->name))
            continue;
        for (size_t i = r->first; i < r->first + r->count; i++) {
            record *found = index->records[i];
            if (hidden_by && vls_ring_find(hidden_by, vls_ring_key_str(found->key)))
                continue;
            if (!add(m, found))
                return VALISE_E_NO_MEMORY;
        }
        if (!end_run(m))
            return VALISE_E_NO_MEMORY;
    }
    return 0;
}

static int match_newest(matches *m, vls_ring *ring, valise_str pattern, valise_error *err)
{
    const ring_index *index = NULL;
    int rc = 0;

    if (ring->base)
        rc = index_of(&index, ring->base, err);
    if (rc < 0)
        return rc;
    vls_ring_lock(ring);
    rc = match_live(m, ring, pattern);
    if (rc == 0 && index)
        rc = match_index(m, index, pattern, ring);
    vls_ring_unlock(ring);
    return rc < 0 ? vls_fail_memory(err) : 0;
}

static int match_frozen(matches *m, const vls_ring_lens *lens, valise_str pattern,
                        valise_error *err)
{
    const ring_index *index = NULL;
    int rc = index_of(&index, lens->state, err);

    if (rc == 0 && match_index(m, index, pattern, NULL) < 0)
        rc = vls_fail_memory(err);
    return rc;
}

/* ---- merging ---- */

static valise_str key_of(const entry *e)
{
    return vls_ring_key_str(e->record->key);
}

static size_t common(valise_str a, valise_str b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

/* Runs are sorted: what their first and last keys have in common with the first of all, all have.
 */
static void set_heads(matches *m)
{
    valise_str first = key_of(&m->entries.ptr[0]);
    size_t skip = first.len;

    for (size_t i = 0, start = 0; i < m->ends.len; start = m->ends.ptr[i++]) {
        size_t of_first = common(first, key_of(&m->entries.ptr[start]));
        size_t of_last = common(first, key_of(&m->entries.ptr[m->ends.ptr[i] - 1]));
        skip = VLS_MIN(skip, VLS_MIN(of_first, of_last));
    }
    for (size_t i = 0; i < m->entries.len; i++) {
        valise_str rest = vls_str_from(key_of(&m->entries.ptr[i]), skip);
        uint8_t head[8] = {0};
        if (rest.len > 0)
            memcpy(head, rest.ptr, VLS_MIN(rest.len, sizeof(head)));
        m->entries.ptr[i].head = vls_bytes_load_u64(head);
    }
}

static bool is_before(const entry *a, const entry *b)
{
    if (a->head != b->head)
        return a->head < b->head;
    return vls_str_compare(key_of(a), key_of(b)) < 0;
}

static void merge_two(entry *to, const entry *a, const entry *a_end, const entry *b,
                      const entry *b_end)
{
    while (a < a_end && b < b_end)
        *to++ = is_before(b, a) ? *b++ : *a++;
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

/* One round: half as many runs. */
static void merge_round(entry *to, const entry *from, size_t *ends, size_t *count)
{
    size_t start = 0, kept = 0;

    for (size_t i = 0; i < *count; i += 2) {
        size_t middle = ends[i], end = i + 1 < *count ? ends[i + 1] : middle;
        merge_two(to + start, from + start, from + middle, from + middle, from + end);
        ends[kept++] = start = end;
    }
    *count = kept;
}

static int merge(matches *m)
{
    size_t count = m->ends.len, bytes = m->entries.len * sizeof(entry);
    entry *spare, *from = m->entries.ptr, *to;

    if (count < 2)
        return 0;
    spare = vls_mem_alloc(m->env, bytes);
    if (!spare)
        return VALISE_E_NO_MEMORY;
    set_heads(m);
    to = spare;
    while (count > 1) {
        entry *done = to;
        merge_round(to, from, m->ends.ptr, &count);
        to = from;
        from = done;
    }
    if (from == spare)
        memcpy(m->entries.ptr, spare, bytes);
    vls_mem_free(m->env, spare, bytes);
    return 0;
}

int vls_ring_op_each_named(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                           valise_error *err)
{
    vls_ring_lens *lens = self;
    matches m = {.env = lens->ring->env, .entries = VLS_VEC_INIT, .ends = VLS_VEC_INIT};
    int rc = lens->state ? match_frozen(&m, lens, pattern, err)
                         : match_newest(&m, lens->ring, pattern, err);

    if (rc == 0 && merge(&m) < 0)
        rc = vls_fail_memory(err);
    for (size_t i = 0; i < m.entries.len && rc == 0; i++) {
        valise_commit commit;
        vls_ring_fill(&commit, m.entries.ptr[i].record);
        rc = fn(arg, &commit, err);
    }
    release(&m);
    return rc;
}
