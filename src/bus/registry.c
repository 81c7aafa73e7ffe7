/* registry.c -- the lists behind registry.h.
 *
 * All lists together are one small struct of pointers into the arena. A package is added to a copy
 * of that struct, which replaces the old one only when everything was right; when it was not, the
 * arena goes back to where it was. So a package is in it wholly or not at all.
 *
 * Tables that are as long as ours, or longer, are used where they are. A shorter one (of an older
 * header) is copied into a full one. Whoever has the pointer to a short collection is then not
 * holding the registered one: indexers and processors get theirs replaced here, the store finds
 * such a collection by its name.
 *
 * What is built in is not checked by itself at every start of every program, only against what else
 * there is: a test checks each of its tables (tests/unit/engine/open.c). */
#include "bus/registry.h"

#include "base/near.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/registry_check.h"
#include "field/field.h"
#include "store/coll.h"

#define ARENA_MAX ((size_t)64 << 20)
#define MAX_OPS 4096u
#define MAX_COLLS (VLS_COLL_MAX - 16u) /* the store has its own */
#define MAX_OTHERS 256u                /* of middleware, ..., orders, packages each */
#define MAX_SOURCES 32u                /* of an indexer */

/* The first words of a command line and the operation they mean. */
typedef struct command_line {
    valise_str words; /* "pin add" */
    const valise_op *op;
} command_line;

/* A NULL-ended list of pointers to tables. */
typedef struct table_list {
    const void **ptr;
    size_t len, cap;
} table_list;

typedef struct registry_lists {
    table_list ops; /* by name */
    table_list colls, middleware, indexers, processors, policies, orders, retrievers, node_types,
        packages;
    command_line *lines; /* by words */
    size_t line_count, line_cap;
} registry_lists;

struct vls_registry {
    const valise_env *env;
    vls_arena arena;
    registry_lists lists;
};

/* A package on its way in. */
typedef struct adding {
    vls_arena *arena;
    registry_lists *lists;
    const valise_extension *package; /* full size */
    bool builtin;
} adding;

static const void *const empty_list[1] = {NULL};

int vls_registry_new(vls_registry **out, const valise_env *env, valise_error *err)
{
    vls_registry *registry = vls_mem_zalloc(env, sizeof(*registry));

    if (!registry)
        return vls_fail_memory(err);
    registry->env = env;
    vls_arena_init(&registry->arena, env, ARENA_MAX);
    *out = registry;
    return 0;
}

void vls_registry_free(vls_registry *registry)
{
    if (!registry)
        return;
    vls_arena_release(&registry->arena);
    vls_mem_free(registry->env, registry, sizeof(*registry));
}

/* ---- lists ---- */

/* A larger copy of the array whose address is in slot. The old one stays as it is. */
static int grow(void *slot, size_t *cap, size_t len, size_t need, size_t size, vls_arena *arena,
                valise_error *err)
{
    size_t next = vls_mem_grow(len, need, 16); /* not from cap: every package copies the lists */
    void *larger = vls_arena_array(arena, next, size);
    void *old;

    if (!larger)
        return vls_arena_fail(arena, err);
    memcpy(&old, slot, sizeof(old)); /* whatever its type */
    if (len > 0)
        memcpy(larger, old, len * size);
    memcpy(slot, &larger, sizeof(larger));
    *cap = next;
    return 0;
}

/* Put a table at a place of the list (which is the package's own: see own_lists). */
static int insert(table_list *list, size_t at, const void *table, vls_arena *arena,
                  valise_error *err)
{
    if (list->len + 2 > list->cap) {
        int rc = grow(&list->ptr, &list->cap, list->len, list->len + 2, sizeof(void *), arena, err);
        if (rc < 0)
            return rc;
    }
    memmove(list->ptr + at + 1, list->ptr + at, (list->len - at) * sizeof(void *));
    list->ptr[at] = table;
    list->ptr[++list->len] = NULL;
    return 0;
}

static int append(table_list *list, const void *table, vls_arena *arena, valise_error *err)
{
    return insert(list, list->len, table, arena, err);
}

/* Where the words are among the command lines, or would be. */
static size_t find_line(bool *found, const registry_lists *lists, valise_str words)
{
    size_t low = 0, high = lists->line_count;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = vls_str_compare(lists->lines[middle].words, words);
        if (order == 0)
            *found = true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert_line(adding *a, const valise_op *op, valise_str words, valise_error *err)
{
    registry_lists *l = a->lists;
    bool found;
    size_t at = find_line(&found, l, words);

    if (found)
        return vls_fail(err, VALISE_E_EXISTS,
                        "operation %s: the command line \"valise %.*s\" is taken by %s", op->name,
                        VALISE_STR_ARG(words), l->lines[at].op->name);
    if (l->line_count == l->line_cap) {
        int rc = grow(&l->lines, &l->line_cap, l->line_count, l->line_count + 1, sizeof(*l->lines),
                      a->arena, err);
        if (rc < 0)
            return rc;
    }
    memmove(l->lines + at + 1, l->lines + at, (l->line_count - at) * sizeof(*l->lines));
    l->lines[at] = (command_line){words, op};
    l->line_count++;
    return 0;
}

/* The operations are sorted by name. */
static size_t find_op(bool *found, const registry_lists *lists, valise_str name)
{
    size_t low = 0, high = lists->ops.len;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const valise_op *op = lists->ops.ptr[middle];
        int order = vls_str_compare(valise_str_of(op->name), name);
        if (order == 0)
            *found = true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- tables of other sizes ---- */

/* The table itself, or where it is shorter than ours a full one that begins with it. */
static int full_table(const void **table, size_t size, size_t least, const char *what, adding *a,
                      valise_error *err)
{
    size_t has;
    void *copy;

    memcpy(&has, *table, sizeof(has)); /* `size` is the first member of every table */
    if (has < least)
        return vls_fail(err, VALISE_E_INVALID,
                        "extension %s: a table of kind %s says that it has %zu bytes; it must have "
                        "at least %zu",
                        a->package->name, what, has, least);
    if (has >= size)
        return 0;
    copy = vls_arena_zalloc(a->arena, size);
    if (!copy)
        return vls_arena_fail(a->arena, err);
    memcpy(copy, *table, has);
    memcpy(copy, &size, sizeof(size));
    *table = copy;
    return 0;
}

/* What a table must have: behind it there are only members that may be missing. */
#define LEAST_OP offsetof(valise_op, example)
#define LEAST_COLL offsetof(valise_coll, check)
#define LEAST_MIDDLEWARE offsetof(valise_middleware, after)
#define LEAST_INDEXER sizeof(valise_indexer)
#define LEAST_PROCESSOR sizeof(valise_processor)
#define LEAST_POLICY sizeof(valise_policy)
#define LEAST_ORDER sizeof(valise_order)
#define LEAST_RETRIEVER sizeof(valise_retriever)
#define LEAST_NODE_TYPE sizeof(valise_node_type)
#define LEAST_PACKAGE offsetof(valise_extension, collections)

/* ---- what a package brings ---- */

/* The registered collection that this pointer means, or NULL. */
static const valise_coll *find_coll(const registry_lists *lists, const valise_coll *wanted)
{
    for (size_t i = 0; wanted && i < lists->colls.len; i++) {
        const valise_coll *coll = lists->colls.ptr[i];
        if (coll == wanted || (wanted->name && strcmp(coll->name, wanted->name) == 0))
            return coll;
    }
    return NULL;
}

/* "ext.thing" for an extension, "thing" for an area. */
static int check_coll_name(const adding *a, const valise_coll *coll, valise_error *err)
{
    /* Names the store's own tables have, and what fields refer to by name. */
    static const char *const taken[] = {"meta",  "collection", "log",      "object",
                                        "chunk", "gone",       "read_log", "cursor"};
    valise_str head, rest;
    bool dotted = vls_str_cut(&head, &rest, valise_str_of(coll->name), '.');

    if (a->builtin) {
        for (size_t i = 0; i < VLS_COUNT(taken); i++) {
            if (strcmp(coll->name, taken[i]) == 0)
                return vls_fail(err, VALISE_E_EXISTS,
                                "collection %s: the store has a table of that "
                                "name",
                                coll->name);
        }
        if (!dotted)
            return 0;
        return vls_fail(err, VALISE_E_INVALID, "collection %s: only those of extensions have a '.'",
                        coll->name);
    }
    if (dotted && vls_str_equal(head, valise_str_of(a->package->name)) &&
        vls_name_is_word(rest, "_"))
        return 0;
    return vls_fail(err, VALISE_E_INVALID,
                    "collection %s: those of the extension %s are named \"%s.thing\"", coll->name,
                    a->package->name, a->package->name);
}

static int add_coll(adding *a, const void *table, valise_error *err)
{
    const valise_coll *coll;
    int rc = full_table(&table, sizeof(*coll), LEAST_COLL, "collection", a, err);

    if (rc < 0)
        return rc;
    coll = table;
    rc = a->builtin ? 0 : vls_coll_check(coll, err);
    if (rc == 0)
        rc = check_coll_name(a, coll, err);
    if (rc < 0)
        return rc;
    if (find_coll(a->lists, coll))
        return vls_fail(err, VALISE_E_EXISTS, "collection %s: the name is already in use",
                        coll->name);
    return append(&a->lists->colls, coll, a->arena, err);
}

static int add_op(adding *a, const void *table, valise_error *err)
{
    const valise_op *op;
    valise_str name;
    char *letters;
    bool found;
    size_t at;
    int rc = full_table(&table, sizeof(*op), LEAST_OP, "operation", a, err);

    if (rc < 0)
        return rc;
    op = table;
    rc = a->builtin ? 0 : vls_op_check(op, a->arena, err);
    if (rc < 0)
        return rc;
    name = valise_str_of(op->name);
    at = find_op(&found, a->lists, name);
    if (found)
        return vls_fail(err, VALISE_E_EXISTS, "operation %s: the name is already in use", op->name);
    letters = vls_arena_alloc(a->arena, name.len);
    if (!letters)
        return vls_arena_fail(a->arena, err);
    for (size_t i = 0; i < name.len; i++)
        letters[i] = name.ptr[i] == ':' ? ' ' : name.ptr[i];
    rc = insert_line(a, op, vls_str(letters, name.len), err);
    if (rc == 0 && op->alias)
        rc = insert_line(a, op, valise_str_of(op->alias), err);
    return rc < 0 ? rc : insert(&a->lists->ops, at, op, a->arena, err);
}

/* Middleware, indexers, processors and policies: a word that no other of the kind has. Their tables
 * all begin with size and name. */
typedef struct named_table {
    size_t size;
    const char *name;
} named_table;

static int check_own_name(const table_list *list, const char *what, const char *name,
                          valise_error *err)
{
    if (!name || !vls_name_is_word(valise_str_of(name), "-_."))
        return vls_fail(err, VALISE_E_INVALID,
                        "%s \"%s\": a name is lower-case letters, digits, '-', '_' and '.'", what,
                        vls_text_short(valise_str_of(name)).s);
    for (size_t i = 0; i < list->len; i++) {
        const named_table *other = list->ptr[i];
        if (strcmp(other->name, name) == 0)
            return vls_fail(err, VALISE_E_EXISTS, "%s %s: the name is already in use", what, name);
    }
    return 0;
}

static int add_middleware(adding *a, const void *table, valise_error *err)
{
    const valise_middleware *m;
    int rc = full_table(&table, sizeof(*m), LEAST_MIDDLEWARE, "middleware", a, err);

    if (rc < 0)
        return rc;
    m = table;
    rc = check_own_name(&a->lists->middleware, "middleware", m->name, err);
    if (rc < 0)
        return rc;
    if (!m->before && !m->after)
        return vls_fail(err, VALISE_E_INVALID, "middleware %s: it has neither before nor after",
                        m->name);
    return append(&a->lists->middleware, m, a->arena, err);
}

/* The sources of an indexer with the registered collections in them. */
static int own_sources(const valise_index_source **out, adding *a, const valise_indexer *indexer,
                       valise_error *err)
{
    valise_index_source *sources;
    size_t count = 0;

    while (indexer->sources && indexer->sources[count].coll && count <= MAX_SOURCES)
        count++;
    if (count == 0 || count > MAX_SOURCES)
        return vls_fail(err, VALISE_E_INVALID, "indexer %s: it follows 1 to %u collections",
                        indexer->name, MAX_SOURCES);
    sources = vls_arena_array(a->arena, count + 1, sizeof(*sources));
    if (!sources)
        return vls_arena_fail(a->arena, err);
    memcpy(sources, indexer->sources, (count + 1) * sizeof(*sources));
    for (size_t i = 0; i < count; i++) {
        sources[i].coll = find_coll(a->lists, indexer->sources[i].coll);
        if (!sources[i].coll)
            return vls_fail(err, VALISE_E_INVALID, "indexer %s: no collection \"%s\" is known",
                            indexer->name, indexer->sources[i].coll->name);
        if (!sources[i].map)
            return vls_fail(err, VALISE_E_INVALID, "indexer %s: it has no `map` for %s",
                            indexer->name, sources[i].coll->name);
    }
    *out = sources;
    return 0;
}

static int add_indexer(adding *a, const void *table, valise_error *err)
{
    const valise_indexer *given;
    valise_indexer *indexer = vls_arena_zalloc(a->arena, sizeof(*indexer));
    int rc = full_table(&table, sizeof(*given), LEAST_INDEXER, "indexer", a, err);

    if (rc < 0)
        return rc;
    given = table;
    rc = check_own_name(&a->lists->indexers, "indexer", given->name, err);
    if (rc < 0)
        return rc;
    if (!indexer)
        return vls_arena_fail(a->arena, err);
    *indexer = *given;
    rc = own_sources(&indexer->sources, a, given, err);
    return rc < 0 ? rc : append(&a->lists->indexers, indexer, a->arena, err);
}

static int add_processor(adding *a, const void *table, valise_error *err)
{
    const valise_processor *given;
    valise_processor *processor = vls_arena_zalloc(a->arena, sizeof(*processor));
    int rc = full_table(&table, sizeof(*given), LEAST_PROCESSOR, "processor", a, err);

    if (rc < 0)
        return rc;
    given = table;
    rc = check_own_name(&a->lists->processors, "processor", given->name, err);
    if (rc < 0)
        return rc;
    if (!processor)
        return vls_arena_fail(a->arena, err);
    *processor = *given;
    processor->coll = find_coll(a->lists, given->coll);
    if (!processor->coll)
        return vls_fail(err, VALISE_E_INVALID, "processor %s: no collection \"%s\" is known",
                        given->name, given->coll && given->coll->name ? given->coll->name : "");
    if (!given->run)
        return vls_fail(err, VALISE_E_INVALID, "processor %s: it has no `run`", given->name);
    return append(&a->lists->processors, processor, a->arena, err);
}

/* What is named in recipes and in policies of compositions has the extension's name in front, so
 * that it means the same everywhere. */
static int check_full_name(const adding *a, const char *what, const char *name, valise_error *err)
{
    valise_str head, rest;

    if (a->builtin || (vls_str_cut(&head, &rest, valise_str_of(name), '.') &&
                       vls_str_equal(head, valise_str_of(a->package->name)) && rest.len > 0))
        return 0;
    return vls_fail(err, VALISE_E_INVALID, "%s %s: its name must begin with \"%s.\"", what, name,
                    a->package->name);
}

static int add_policy(adding *a, const void *table, valise_error *err)
{
    const valise_policy *policy;
    int rc = full_table(&table, sizeof(*policy), LEAST_POLICY, "policy", a, err);

    if (rc < 0)
        return rc;
    policy = table;
    rc = check_own_name(&a->lists->policies, "policy", policy->name, err);
    if (rc < 0)
        return rc;
    rc = check_full_name(a, "policy", policy->name, err);
    if (rc < 0)
        return rc;
    if (policy->version < 1 || !policy->make)
        return vls_fail(err, VALISE_E_INVALID, "policy %s: it has no `make`, or no version",
                        policy->name);
    if (policy->params)
        rc = vls_fields_check(policy->params, policy->params_size, err);
    return rc < 0 ? rc : append(&a->lists->policies, policy, a->arena, err);
}

static int add_order(adding *a, const void *table, valise_error *err)
{
    const valise_order *order;
    int rc = full_table(&table, sizeof(*order), LEAST_ORDER, "order", a, err);

    if (rc < 0)
        return rc;
    order = table;
    rc = check_own_name(&a->lists->orders, "order", order->name, err);
    if (rc < 0)
        return rc;
    rc = check_full_name(a, "order", order->name, err);
    if (rc < 0)
        return rc;
    if (!order->compare)
        return vls_fail(err, VALISE_E_INVALID, "order %s: it has no `compare`", order->name);
    return append(&a->lists->orders, order, a->arena, err);
}

static int add_retriever(adding *a, const void *table, valise_error *err)
{
    const valise_retriever *retriever;
    int rc = full_table(&table, sizeof(*retriever), LEAST_RETRIEVER, "retriever", a, err);

    if (rc < 0)
        return rc;
    retriever = table;
    rc = check_own_name(&a->lists->retrievers, "retriever", retriever->name, err);
    if (rc < 0)
        return rc;
    rc = check_full_name(a, "retriever", retriever->name, err);
    if (rc < 0)
        return rc;
    if (retriever->version < 1 || !retriever->rank)
        return vls_fail(err, VALISE_E_INVALID, "retriever %s: it has no `rank`, or no version",
                        retriever->name);
    return append(&a->lists->retrievers, retriever, a->arena, err);
}

/* "extension.Name": what other tables are called is of the extension alone, but a type's own name
 * may have capitals, as those of the library have. */
static int check_type_name(const adding *a, const char *name, valise_error *err)
{
    valise_str head, rest = {NULL, 0};
    bool fine = name && vls_str_cut(&head, &rest, valise_str_of(name), '.') &&
                vls_str_equal(head, valise_str_of(a->package->name)) && rest.len > 0 &&
                rest.len <= VLS_NAME_MAX;

    for (size_t i = 0; fine && i < rest.len; i++) {
        char c = rest.ptr[i];
        fine = vls_is_alnum(c) || c == '-' || c == '_';
    }
    if (!fine)
        return vls_fail(err, VALISE_E_INVALID,
                        "node type \"%s\": those of the extension %s are named \"%s.Name\", with "
                        "letters, digits, '-' and '_'",
                        vls_text_short(valise_str_of(name)).s, a->package->name, a->package->name);
    for (size_t i = 0; i < a->lists->node_types.len; i++) {
        const valise_node_type *other = a->lists->node_types.ptr[i];
        if (strcmp(other->name, name) == 0)
            return vls_fail(err, VALISE_E_EXISTS, "node type %s: the name is already in use", name);
    }
    return 0;
}

/* What a flow needs of it (its segment, actions, permissions) is looked at when one names it. */
static int add_node_type(adding *a, const void *table, valise_error *err)
{
    const valise_node_type *type;
    int rc = full_table(&table, sizeof(*type), LEAST_NODE_TYPE, "node type", a, err);

    if (rc < 0)
        return rc;
    type = table;
    rc = check_type_name(a, type->name, err);
    if (rc == 0 && type->params)
        rc = vls_fields_check(type->params, type->params_size, err);
    return rc < 0 ? rc : append(&a->lists->node_types, type, a->arena, err);
}

/* ---- packages ---- */

typedef int add_fn(adding *a, const void *table, valise_error *err);

/* Add each table of one of the package's lists; `all` is where they go, max how many it may be. */
static int add_each(adding *a, const void *tables, const table_list *all, size_t max,
                    const char *what, add_fn *add, valise_error *err)
{
    const void *const *list = tables ? tables : empty_list;
    int rc = 0;

    for (size_t i = 0; rc == 0 && list[i]; i++) {
        if (all->len >= max)
            return vls_fail(err, VALISE_E_LIMIT, "extension %s: there would be over %zu %s",
                            a->package->name, max, what);
        rc = add(a, list[i], err);
    }
    return rc;
}

static int check_package(const registry_lists *lists, const valise_extension *package,
                         valise_error *err)
{
    if (package->size < LEAST_PACKAGE)
        return vls_fail(err, VALISE_E_INVALID,
                        "an extension says that its description has %zu bytes; it must have at "
                        "least %zu",
                        package->size, LEAST_PACKAGE);
    if (package->abi != VALISE_EXTENSION_ABI) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                       "extension \"%s\" was built for extension ABI %u; this library has ABI %u",
                       vls_text_short(valise_str_of(package->name)).s, (unsigned)package->abi,
                       (unsigned)VALISE_EXTENSION_ABI);
        vls_hint(err, "build it with the headers of valise %s", valise_version());
        return VALISE_E_UNSUPPORTED;
    }
    if (!package->name || !vls_name_is_word(valise_str_of(package->name), "_"))
        return vls_fail(err, VALISE_E_INVALID,
                        "extension \"%s\": a name is lower-case letters, digits and '_'",
                        vls_text_short(valise_str_of(package->name)).s);
    if (!package->version || valise_str_of(package->version).len == 0 ||
        valise_str_of(package->version).len > VLS_NAME_MAX)
        return vls_fail(err, VALISE_E_INVALID, "extension %s: it has no version", package->name);
    for (size_t i = 0; i < lists->packages.len; i++) {
        const valise_extension *other = lists->packages.ptr[i];
        if (strcmp(other->name, package->name) == 0)
            return vls_fail(err, VALISE_E_EXISTS, "extension %s: the name is already in use",
                            package->name);
    }
    if (lists->packages.len >= MAX_OTHERS)
        return vls_fail(err, VALISE_E_LIMIT, "extension %s: there would be over %u extensions",
                        package->name, MAX_OTHERS);
    return 0;
}

/* Copies of all lists, so that the registry's own stay as they are until the end. */
static int own_lists(registry_lists *l, vls_arena *arena, valise_error *err)
{
    table_list *all[] = {&l->ops,      &l->colls,  &l->middleware, &l->indexers,   &l->processors,
                         &l->policies, &l->orders, &l->packages,   &l->retrievers, &l->node_types};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(all); i++) {
        rc = grow(&all[i]->ptr, &all[i]->cap, all[i]->len, all[i]->len + 1, sizeof(void *), arena,
                  err);
        if (rc == 0)
            all[i]->ptr[all[i]->len] = NULL;
    }
    if (rc == 0)
        rc = grow(&l->lines, &l->line_cap, l->line_count, l->line_count + 1, sizeof(*l->lines),
                  arena, err);
    return rc;
}

static int add_package(adding *a, const valise_extension *given, valise_error *err)
{
    registry_lists *l = a->lists;
    const valise_extension *p;
    const void *table = given;
    int rc = check_package(l, given, err);

    a->package = given; /* for messages */
    if (rc == 0)
        rc = full_table(&table, sizeof(*p), LEAST_PACKAGE, "extension", a, err);
    if (rc == 0)
        rc = own_lists(l, a->arena, err);
    if (rc < 0)
        return rc;
    a->package = p = table;
    rc = add_each(a, p->collections, &l->colls, MAX_COLLS, "collections", add_coll, err);
    if (rc == 0)
        rc = add_each(a, p->operations, &l->ops, MAX_OPS, "operations", add_op, err);
    if (rc == 0)
        rc = add_each(a, p->middleware, &l->middleware, MAX_OTHERS, "middleware", add_middleware,
                      err);
    if (rc == 0)
        rc = add_each(a, p->indexers, &l->indexers, MAX_OTHERS, "indexers", add_indexer, err);
    if (rc == 0)
        rc = add_each(a, p->processors, &l->processors, MAX_OTHERS, "processors", add_processor,
                      err);
    if (rc == 0)
        rc = add_each(a, p->policies, &l->policies, MAX_OTHERS, "policies", add_policy, err);
    if (rc == 0)
        rc = add_each(a, p->orders, &l->orders, MAX_OTHERS, "orders", add_order, err);
    if (rc == 0)
        rc = add_each(a, p->retrievers, &l->retrievers, MAX_OTHERS, "retrievers", add_retriever,
                      err);
    if (rc == 0)
        rc = add_each(a, p->node_types, &l->node_types, MAX_OTHERS, "node types", add_node_type,
                      err);
    return rc < 0 ? rc : append(&l->packages, p, a->arena, err);
}

int vls_registry_add(vls_registry *registry, const valise_extension *package, bool builtin,
                     valise_error *err)
{
    vls_arena_mark mark = vls_arena_here(&registry->arena);
    registry_lists lists = registry->lists;
    adding a = {.arena = &registry->arena, .lists = &lists, .builtin = builtin};
    int rc = add_package(&a, package, err);

    if (rc < 0)
        vls_arena_rewind(&registry->arena, mark);
    else
        registry->lists = lists;
    return rc;
}

/* ---- asking ---- */

const valise_op *vls_registry_op(const vls_registry *registry, valise_str name)
{
    bool found;
    size_t at = find_op(&found, &registry->lists, name);

    return found ? registry->lists.ops.ptr[at] : NULL;
}

const valise_op *vls_registry_near(const vls_registry *registry, valise_str name)
{
    vls_near near;

    vls_near_init(&near, name);
    for (size_t i = 0; i < registry->lists.ops.len; i++) {
        const valise_op *op = registry->lists.ops.ptr[i];
        if (!(op->flags & VALISE_OP_INTERNAL))
            vls_near_try(&near, valise_str_of(op->name));
    }
    return near.best.ptr ? vls_registry_op(registry, near.best) : NULL;
}

static const void *list_of(const table_list *list)
{
    return list->ptr ? (const void *)list->ptr : (const void *)empty_list;
}

const valise_op *const *vls_registry_ops(const vls_registry *registry)
{
    return list_of(&registry->lists.ops);
}

const valise_coll *const *vls_registry_colls(const vls_registry *registry)
{
    return list_of(&registry->lists.colls);
}

const valise_middleware *const *vls_registry_middleware(const vls_registry *registry)
{
    return list_of(&registry->lists.middleware);
}

const valise_indexer *const *vls_registry_indexers(const vls_registry *registry)
{
    return list_of(&registry->lists.indexers);
}

const valise_processor *const *vls_registry_processors(const vls_registry *registry)
{
    return list_of(&registry->lists.processors);
}

const valise_policy *vls_registry_policy(const vls_registry *registry, valise_str name)
{
    for (size_t i = 0; i < registry->lists.policies.len; i++) {
        const valise_policy *policy = registry->lists.policies.ptr[i];
        if (vls_str_equal(valise_str_of(policy->name), name))
            return policy;
    }
    return NULL;
}

const valise_order *const *vls_registry_orders(const vls_registry *registry)
{
    return list_of(&registry->lists.orders);
}

const valise_retriever *const *vls_registry_retrievers(const vls_registry *registry)
{
    return list_of(&registry->lists.retrievers);
}

const valise_node_type *const *vls_registry_node_types(const vls_registry *registry)
{
    return list_of(&registry->lists.node_types);
}

const valise_extension *const *vls_registry_packages(const vls_registry *registry)
{
    return list_of(&registry->lists.packages);
}

int vls_op_judge(const valise_op *op, int rc, valise_error *err)
{
    if (rc >= 0)
        return 0;
    if (err && err->code >= 0)
        return vls_fail(err, rc, "%s failed, and does not say why", op->name);
    return rc;
}
