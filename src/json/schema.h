/* schema.h -- JSON Schema, draft 2020-12, over the values of json.h.
 *
 * A schema is compiled once and then checks any number of instances:
 *
 *     vls_schema *schema = NULL;
 *     rc = vls_schema_compile(&schema, env, value, NULL, err);
 *     rc = vls_schema_check(schema, instance, NULL, err);
 *         -> VALISE_E_INVALID, "/turns/2/role: must be one of "user", "model", is 7 (enum)"
 *     vls_schema_free(schema);
 *
 * Supported are the vocabularies core, applicator, unevaluated and validation. Those for metadata,
 * content and format only annotate: the form of their keywords is checked, but they change no
 * verdict. Unknown keywords are ignored, as the draft demands. Patterns are ECMA-262.
 *
 * A reference leads to a place in the same document or to one of the draft's metaschemas, which are
 * built in. Nothing is ever fetched.
 *
 * Both schemas and instances may be hostile. One check does at most max_steps of work (a step is
 * about one subschema applied to one value; patterns and long texts cost more), and goes no deeper
 * than max_depth; a schema that applies itself to the same value without end is detected. All of
 * these are VALISE_E_LIMIT: an instance that was not checked completely is never called valid.
 *
 * Where to start reading: schema_impl.h has the compiled form, schema_compile.c makes it,
 * schema_check.c walks it. */
#ifndef VLS_SCHEMA_H
#define VLS_SCHEMA_H

#include "json/json.h"

#define VLS_SCHEMA_MAX_STEPS ((uint64_t)1 << 24)
#define VLS_SCHEMA_MAX_DEPTH 1024u
#define VLS_SCHEMA_MAX_BYTES ((size_t)64 << 20)

/* ---- compiling ---- */

typedef struct vls_schema_limits {
    uint64_t max_steps; /* of one check; 0: VLS_SCHEMA_MAX_STEPS */
    uint32_t max_depth; /* subschemas inside each other in a check; 0: VLS_SCHEMA_MAX_DEPTH,
                         * which is also the most */
    size_t max_bytes;   /* of the compiled schema, and of one check's notes; 0:
                         * VLS_SCHEMA_MAX_BYTES */
    bool discreet;      /* what is found says where, and what must be there, but not what is */
} vls_schema_limits;

/* Threads: immutable. One compiled schema checks from any number of threads at once. */
typedef struct vls_schema vls_schema;

/* Compile value, which is a boolean or an object. The result keeps nothing of it. limits may be
 * NULL.
 *
 * VALISE_E_INVALID: not a schema; the message starts with the place as a JSON Pointer, and names
 * a reference that leads nowhere. VALISE_E_UNSUPPORTED: another dialect ("$schema"), a pattern
 * PCRE2 cannot do. VALISE_E_LIMIT or VALISE_E_TOO_LARGE:
 * too deep, too many or too large patterns, over max_bytes. VALISE_E_NO_MEMORY. */
int vls_schema_compile(vls_schema **out, const valise_env *env, vls_json value,
                       const vls_schema_limits *limits, valise_error *err);
void vls_schema_free(vls_schema *schema); /* NULL is fine */

/* ---- checking ---- */

/* One thing that is wrong with an instance. All slices are valid during the call only. */
typedef struct vls_schema_finding {
    valise_str instance_path; /* JSON Pointer of the value; "" is the whole instance */
    valise_str schema_uri;    /* the document the schema is in; "" for one without "$id" */
    valise_str schema_path;   /* JSON Pointer of the keyword, or of a schema that is just false */
    valise_str keyword;       /* "enum"; for a false schema the one it stands under */
    valise_str reason;        /* "must be one of "user", "model", is 7" */
} vls_schema_finding;

/* Return non-zero to end the check. */
typedef int vls_schema_found(void *arg, const vls_schema_finding *finding);

/* For callers that want more than the first finding. Alternatives (anyOf, oneOf, not, if,
 * contains) are one finding each, whatever went wrong inside them. */
typedef struct vls_schema_report {
    vls_schema_found *found;
    void *arg;
    uint32_t max_findings; /* 0: no limit but the work it takes to find them */
    uint32_t count;        /* out: findings made */
} vls_schema_report;

/* 0: the instance is valid. VALISE_E_INVALID: it is not, and err says why with the first finding.
 * VALISE_E_LIMIT: nobody knows, it took too much work. VALISE_E_TOO_LARGE, VALISE_E_NO_MEMORY.
 * report may be NULL. */
int vls_schema_check(const vls_schema *schema, vls_json instance, vls_schema_report *report,
                     valise_error *err);

static inline void vls_auto_schema(vls_schema **schema)
{
    vls_schema_free(*schema);
}

#endif
