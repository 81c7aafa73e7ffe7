/* schema_impl.h -- the compiled form of a schema; for schema_*.c only.
 *
 * Every object or boolean in the place of a schema becomes a node. A node has its rules in groups,
 * by the type of instance that they concern. Absent groups are NULL, so a check looks only at what
 * can matter:
 *
 *     node --> types, const, enum
 *          --> number {minimum, ...}         --> array  {items, contains, ...} --> nodes
 *          --> text   {pattern, ...}         --> object {properties, ...}      --> nodes
 *          --> apply  {$ref, allOf, if, ...} --> nodes
 *
 * Nodes know the way back to the top of their document, from which messages make the names of
 * places. A node belongs to a resource: the piece of a document that one "$id" names, with its
 * anchors. References are pointers to nodes. A dynamic reference also has a name, which is looked
 * up in the resources that the check has come through, outermost first.
 *
 * Everything lives in the arena of the schema and never changes once vls_schema_compile returns.
 *
 * Threads: what is compiled is immutable; vls_schema_compiler and vls_schema_run are single. */
#ifndef VLS_SCHEMA_IMPL_H
#define VLS_SCHEMA_IMPL_H

#include "base/map.h"
#include "base/vec.h"
#include "json/schema.h"
#include "json/schema_pattern.h"

/* ---- numbers (schema_number.c) ---- */

/* Whether a JSON number is mathematically an integer: 1e300 is, although it is a REAL. */
bool vls_schema_is_integer(vls_json v);

/* v, which is not zero, as something to divide by. VALISE_E_LIMIT for too many digits. */
typedef struct vls_divisor vls_divisor;
int vls_divisor_new(const vls_divisor **out, vls_arena *arena, vls_json v, valise_error *err);

/* Whether v is an integer times the divisor, exactly, by the decimal digits both are written with
 * (0.3 is a multiple of 0.1). */
bool vls_divisor_divides(const vls_divisor *divisor, vls_json v);

/* ---- finding equal values (schema_value.c) ---- */

/* How much there is in v, in the unit of work that hashing counts. */
uint64_t vls_schema_weight(vls_json v);

/* An index of some values. Equal values have equal hashes, so a lookup compares one value. */
typedef struct vls_value_index {
    const vls_json *items;
    struct vls_value_slot *slots; /* a power of two of them */
    size_t cap;
    uint64_t seed;
} vls_value_index;

#define VLS_VALUE_NONE UINT32_MAX

/* An empty index with room for count of the items. VALISE_E_TOO_LARGE, VALISE_E_NO_MEMORY. */
int vls_value_index_init(vls_value_index *index, vls_arena *arena, const vls_json *items,
                         size_t count, uint64_t seed, valise_error *err);

/* Enter items[at], or say which item that was entered before is equal to it. The work of hashing
 * is added to *work. */
uint32_t vls_value_index_add(vls_value_index *index, uint32_t at, uint64_t *work);
uint32_t vls_value_index_find(const vls_value_index *index, vls_json v, uint64_t *work);

/* ---- URIs (schema_uri.c) ---- */

#define VLS_URI_MAX_BYTES 4096u

/* Append what reference means seen from base (RFC 3986, 5.2), without a fragment. base may be
 * empty or relative; the result is then what can be known. */
void vls_uri_resolve(vls_buf *out, valise_str base, valise_str reference);

/* Append s with its %XX decoded; false when one is malformed. */
bool vls_uri_decode(vls_buf *out, valise_str s);

/* ---- the compiled form ---- */

typedef struct vls_schema_node vls_schema_node;

typedef struct vls_schema_anchor {
    const struct vls_schema_resource *home;
    valise_str name;
    const vls_schema_node *node;
    bool dynamic;
    struct vls_schema_anchor *next; /* dynamic anchors of the same resource */
} vls_schema_anchor;

typedef struct vls_schema_resource {
    valise_str uri;          /* absolute if anything on the way was; "" when nothing has a name */
    valise_str document_uri; /* of the document it is in */
    const vls_schema_node *root;
    vls_schema_anchor *dynamic; /* its dynamic anchors */
} vls_schema_resource;

/* How a node is reached from its parent: "/raw" or "/raw/key" or "/raw/index". */
typedef struct vls_schema_step {
    valise_str raw;      /* pointer text that needs no escaping: a keyword; NUL-ended */
    const vls_json *key; /* or NULL */
    int64_t index;       /* or -1 */
} vls_schema_step;

typedef struct vls_schema_count {
    bool set;
    uint64_t n;
} vls_schema_count;

typedef struct vls_schema_list {
    const vls_schema_node **nodes;
    uint32_t count;
} vls_schema_list;

/* Schemas by name: nodes[i] is for the name that is the i-th key of names, an object or null. */
typedef struct vls_schema_table {
    vls_json names;
    const vls_schema_node **nodes;
} vls_schema_table;

typedef struct vls_schema_patterns {
    const vls_pattern **patterns;
    const vls_schema_node **nodes;
    uint32_t count;
} vls_schema_patterns;

typedef struct vls_schema_ref {
    const vls_schema_node *node;
    valise_str dynamic; /* the anchor to look for in the dynamic scope, or no pointer at all */
} vls_schema_ref;

typedef struct vls_schema_number {
    const vls_json *minimum, *exclusive_minimum, *maximum, *exclusive_maximum;
    const vls_json *multiple_of;
    const vls_divisor *divisor;
} vls_schema_number;

typedef struct vls_schema_text {
    vls_schema_count min_length, max_length;
    const vls_pattern *pattern;
} vls_schema_text;

typedef struct vls_schema_array {
    vls_schema_count min_items, max_items, min_contains, max_contains;
    bool unique_items;
    vls_schema_list prefix_items;
    const vls_schema_node *items, *contains, *unevaluated;
} vls_schema_array;

typedef struct vls_schema_object {
    vls_schema_count min_properties, max_properties;
    const vls_json *required;           /* array of strings */
    const vls_json *dependent_required; /* object of such arrays */
    vls_schema_table properties, dependent_schemas;
    vls_schema_patterns pattern_properties;
    const vls_schema_node *additional, *property_names, *unevaluated;
} vls_schema_object;

typedef struct vls_schema_apply {
    vls_schema_ref ref, dynamic_ref;
    vls_schema_list all_of, any_of, one_of;
    const vls_schema_node *not_, *if_, *then_, *else_;
} vls_schema_apply;

enum { VLS_SCHEMA_RULES, VLS_SCHEMA_TRUE, VLS_SCHEMA_FALSE };

/* Bits of vls_schema_node.types; 0 means any. */
enum {
    VLS_SCHEMA_NULL = 1,
    VLS_SCHEMA_BOOLEAN = 2,
    VLS_SCHEMA_OBJECT = 4,
    VLS_SCHEMA_ARRAY = 8,
    VLS_SCHEMA_NUMBER = 16,
    VLS_SCHEMA_STRING = 32,
    VLS_SCHEMA_INTEGER = 64,
};

struct vls_schema_node {
    const vls_json *value; /* the schema itself; its address identifies the node */
    vls_schema_resource *home;
    const vls_schema_node *parent; /* NULL at the top of a document */
    vls_schema_step step;
    uint8_t kind;  /* VLS_SCHEMA_RULES, or a boolean schema */
    uint8_t types; /* bits */
    const vls_json *constant;
    uint64_t constant_work;              /* the work of comparing with it */
    const vls_json *choices;             /* the array of enum */
    const vls_value_index *choice_index; /* of its items */
    vls_schema_number *number;
    vls_schema_text *text;
    vls_schema_array *array;
    vls_schema_object *object;
    vls_schema_apply *apply;
};

struct vls_schema {
    const valise_env *env;
    vls_arena arena;
    vls_pattern_pool patterns;
    vls_schema_limits limits; /* none of them 0 */
    uint64_t seed;            /* of hashes */
    const vls_schema_node *root;
};

/* ---- compiling (schema_compile.c, schema_keyword.c, schema_resource.c, schema_ref.c) ---- */

/* Where the compiler is: a keyword of a node, and its value. */
typedef struct vls_schema_site {
    vls_schema_node *node;
    valise_str keyword;
    const vls_json *value;
} vls_schema_site;

/* A reference that waits until all nodes of its document are known. */
typedef struct vls_schema_pending {
    vls_schema_site site;
    vls_schema_ref *ref;
} vls_schema_pending;

typedef struct vls_schema_compiler {
    vls_schema *schema;
    vls_map resources; /* names (schema_resource.c) by URI */
    vls_map anchors;   /* vls_schema_anchor by resource and name */
    vls_map nodes;     /* vls_schema_node by the address of its value */
    vls_vec(vls_schema_pending) pending;
    vls_buf uri;  /* of the reference being resolved */
    vls_buf text; /* of the message being made */
    uint32_t depth;
    valise_error *err;
} vls_schema_compiler;

/* The node for a value, made with all below it if it is new. parent is NULL for a document, which
 * is then the resource document_uri. */
int vls_schema_add_node(const vls_schema_node **out, vls_schema_compiler *c,
                        const vls_schema_node *parent, vls_schema_step step, const vls_json *value,
                        valise_str document_uri);

/* The node that was made for a value before, or NULL. */
const vls_schema_node *vls_schema_find_node(const vls_schema_compiler *c, const vls_json *value);

/* Compile one member of a schema object; unknown keywords are nothing. */
int vls_schema_add_keyword(vls_schema_compiler *c, vls_schema_node *node, const vls_member *member);

/* Give a document's or node's resource its name and the node its anchors. */
int vls_schema_enter_resource(vls_schema_compiler *c, vls_schema_node *node,
                              valise_str document_uri);
int vls_schema_add_anchors(vls_schema_compiler *c, vls_schema_node *node);

/* What has that name, or NULL. */
const vls_schema_resource *vls_schema_find_resource(const vls_schema_compiler *c, valise_str uri);
const vls_schema_anchor *vls_schema_find_anchor(const vls_schema_compiler *c,
                                                const vls_schema_resource *home, valise_str text);

/* Find what all references lead to, loading metaschemas as they are met. */
int vls_schema_resolve_pending(vls_schema_compiler *c);

void vls_schema_maps_init(vls_schema_compiler *c, const valise_env *env);

/* Refuse the schema: "place/keyword: reason". */
int vls_schema_refuse(vls_schema_compiler *c, const vls_schema_site *site, int code,
                      const char *format, ...) VALISE_PRINTF(4, 5);

/* The same with what the keyword's value is behind it: "must be a boolean, is 7". */
int vls_schema_refuse_value(vls_schema_compiler *c, const vls_schema_site *site, const char *must);

/* ---- metaschemas (schema_meta.c) ---- */

/* The metaschema of the draft with that URI; *found says whether there is one. */
int vls_schema_meta_load(bool *found, vls_json *out, vls_arena *arena, valise_str uri,
                         valise_error *err);

/* ---- checking (schema_check.c, and a file for each kind of rule) ---- */

/* Which members or items of one container have been evaluated. */
typedef struct vls_schema_seen {
    uint64_t *bits;
    uint32_t count;
    bool all;
} vls_schema_seen;

typedef enum vls_schema_way {
    VLS_WAY_SAME, /* the same instance, or the whole one */
    VLS_WAY_REF,  /* the same, through a reference */
    VLS_WAY_KEY,  /* a member */
    VLS_WAY_ITEM, /* an item */
    VLS_WAY_NAME, /* the key of a member */
} vls_schema_way;

/* One node being applied to one value. Frames are on the C stack, innermost first. */
typedef struct vls_schema_frame {
    const struct vls_schema_frame *up;
    const vls_schema_node *node;
    const vls_json *instance;
    vls_schema_way way; /* from the instance of up to this one */
    const vls_json *key;
    uint32_t index;
    size_t scope_before; /* length of the dynamic scope when it was entered */
} vls_schema_frame;

typedef enum vls_schema_mode {
    VLS_MODE_LOUD,  /* findings are reported */
    VLS_MODE_QUIET, /* only the verdict matters */
    VLS_MODE_PROBE, /* remember the finding that came furthest */
} vls_schema_mode;

typedef struct vls_schema_run {
    const vls_schema *schema;
    vls_arena scratch;
    vls_matcher matcher;
    vls_vec(const vls_schema_resource *) scope; /* outermost first, no resource twice */
    uint64_t steps;                             /* left */
    uint32_t depth;
    vls_schema_mode mode;
    bool more; /* go on after a finding */
    vls_schema_report *report;
    uint32_t found;
    valise_error first;            /* the first finding */
    const vls_schema_frame *probe; /* where the probe began */
    int64_t nearest_score;         /* of the probe */
    vls_buf path, place, reason, nearest;
    valise_error *err;
} vls_schema_run;

/* Verdicts are 0 for valid, VLS_BAD, or a negative code. */
enum { VLS_BAD = 1 };

/* Does this verdict end the check of the surrounding node? */
static inline bool vls_schema_ends(const vls_schema_run *run, int verdict)
{
    return verdict < 0 || (verdict > 0 && (run->mode != VLS_MODE_LOUD || !run->more));
}

/* The verdict of two rules together. */
static inline int vls_schema_both(int bad, int verdict)
{
    return verdict < 0 ? verdict : bad | verdict;
}

static inline bool vls_schema_saw(const vls_schema_seen *seen, uint32_t at)
{
    return seen->all || (seen->bits[at / 64] >> (at % 64) & 1);
}

static inline void vls_schema_see(vls_schema_seen *seen, uint32_t at)
{
    if (seen)
        seen->bits[at / 64] |= (uint64_t)1 << (at % 64);
}

static inline void vls_schema_see_all(vls_schema_seen *seen)
{
    if (seen)
        seen->all = true;
}

int vls_schema_spend(vls_schema_run *run, uint64_t steps);

/* Apply node to the same instance, to the at-th member or item, or to the key of a member. seen
 * (NULL: nobody asks) is that of the instance, and is for verdict 0 only. */
int vls_schema_visit(vls_schema_run *run, const vls_schema_frame *up, const vls_schema_node *node,
                     vls_schema_way way, uint32_t at, vls_schema_seen *seen);

/* The same, only for the verdict. *seen gets what was evaluated when it is 0. */
int vls_schema_try(vls_schema_run *run, const vls_schema_frame *up, const vls_schema_node *node,
                   vls_schema_way way, uint32_t at, vls_schema_seen *seen);

int vls_schema_matches(bool *matches, vls_schema_run *run, const vls_pattern *pattern,
                       valise_str text);

/* The rules of f's node: those about any value, about numbers, about strings, ... */
int vls_schema_check_any(vls_schema_run *run, const vls_schema_frame *f);
int vls_schema_check_number(vls_schema_run *run, const vls_schema_frame *f);
int vls_schema_check_text(vls_schema_run *run, const vls_schema_frame *f);
int vls_schema_check_array(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen);
int vls_schema_check_object(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen);
int vls_schema_check_apply(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen);

/* What unevaluatedItems or unevaluatedProperties says of what is not in seen. */
int vls_schema_check_unevaluated(vls_schema_run *run, const vls_schema_frame *f,
                                 const vls_schema_node *node, vls_schema_seen *seen);

/* ---- saying what is wrong (schema_report.c) ---- */

/* Append the JSON Pointer of a node in its document. */
void vls_schema_place(vls_buf *out, const vls_schema_node *node);

/* Append a value for a reader: short, on one line. */
void vls_schema_describe(vls_buf *out, vls_json v);
/* ", is 7" behind the reason; of a discreet schema ", is integer", where its type is what is wrong.
 */
void vls_schema_say_is(vls_schema_run *run, vls_json v, bool type);

/* A finding about f, by a keyword of its node, or for a false schema by the one it stands under.
 * is may be NULL, or a value that is described behind the reason as ", is ...".
 * Returns VLS_BAD, or a negative code. */
int vls_schema_bad(vls_schema_run *run, const vls_schema_frame *f, const char *keyword,
                   const vls_json *is, const char *format, ...) VALISE_PRINTF(5, 6);

/* The same in two steps, for reasons that are more than one format: start is false when nobody
 * wants to know; else append to run->reason, then finish. */
bool vls_schema_bad_start(vls_schema_run *run);
int vls_schema_bad_finish(vls_schema_run *run, const vls_schema_frame *f, const char *keyword);

#endif
