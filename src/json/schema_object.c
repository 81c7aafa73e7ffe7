/* schema_object.c -- rules about the members of an object.
 *
 * "properties", "patternProperties" and "additionalProperties" are one rule here: whether a member
 * is additional depends on the other two, and patterns should be matched once. */
#include "json/schema_impl.h"

#define KEY_BYTES_PER_STEP 64u

/* Looking for a long key costs more than a visit; for most keys this is nothing. */
static inline int pay_for_key(vls_schema_run *run, vls_json key)
{
    return key.len < KEY_BYTES_PER_STEP ? 0 : vls_schema_spend(run, key.len / KEY_BYTES_PER_STEP);
}

/* Whether the object has a member of that name: 1, 0 or a negative code. */
static int has_member(vls_schema_run *run, vls_json object, vls_json key)
{
    int rc = pay_for_key(run, key);

    return rc < 0 ? rc : vls_json_get(object, vls_json_str(key)) != NULL;
}

/* ---- members by name ---- */

/* Only the members that "properties" names matter: look up whichever side is shorter. */
static int check_named(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_table *table = &f->node->object->properties;
    vls_json v = *f->instance;
    bool by_table = table->names.len <= v.len;
    vls_json outer = by_table ? table->names : v, inner = by_table ? v : table->names;
    int bad = vls_schema_spend(run, outer.len / 4);

    for (uint32_t i = 0; bad >= 0 && i < outer.len; i++) {
        vls_json key = outer.members[i].key;
        bool found;
        int verdict = pay_for_key(run, key);
        if (verdict < 0)
            return verdict;
        uint32_t at = (uint32_t)vls_json_find(&found, inner, vls_json_str(key));
        if (!found)
            continue;
        uint32_t member = by_table ? at : i;
        const vls_schema_node *node = table->nodes[by_table ? i : at];
        verdict = vls_schema_visit(run, f, node, VLS_WAY_KEY, member, NULL);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
        vls_schema_see(seen, member);
    }
    return bad;
}

/* Apply everything that is about the at-th member; *matched says whether anything was. */
static int check_member(bool *matched, vls_schema_run *run, const vls_schema_frame *f, uint32_t at)
{
    const vls_schema_object *object = f->node->object;
    vls_json key = f->instance->members[at].key;
    int bad = pay_for_key(run, key), verdict;

    *matched = false;
    if (bad < 0)
        return bad;
    if (object->properties.names.type == VLS_JSON_OBJECT) {
        size_t index = vls_json_find(matched, object->properties.names, vls_json_str(key));
        if (*matched)
            bad = vls_schema_visit(run, f, object->properties.nodes[index], VLS_WAY_KEY, at, NULL);
        if (vls_schema_ends(run, bad))
            return bad;
    }
    for (uint32_t i = 0; i < object->pattern_properties.count; i++) {
        bool matches;
        int rc = vls_schema_matches(&matches, run, object->pattern_properties.patterns[i],
                                    vls_json_str(key));
        if (rc < 0)
            return rc;
        if (!matches)
            continue;
        *matched = true;
        verdict =
            vls_schema_visit(run, f, object->pattern_properties.nodes[i], VLS_WAY_KEY, at, NULL);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}

static int check_all_members(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_node *additional = f->node->object->additional;
    int bad = vls_schema_spend(run, f->instance->len / 4);

    for (uint32_t i = 0; bad >= 0 && i < f->instance->len; i++) {
        bool matched;
        int verdict = check_member(&matched, run, f, i);
        if (verdict >= 0 && !matched && additional)
            verdict = vls_schema_visit(run, f, additional, VLS_WAY_KEY, i, NULL);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
        if (matched || additional)
            vls_schema_see(seen, i);
    }
    return bad;
}

static int check_members(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_object *object = f->node->object;

    if (object->additional || object->pattern_properties.count > 0)
        return check_all_members(run, f, seen);
    if (object->properties.names.type == VLS_JSON_OBJECT)
        return check_named(run, f, seen);
    return 0;
}

static int check_names(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_node *names = f->node->object->property_names;
    int bad = 0;

    for (uint32_t i = 0; names && i < f->instance->len; i++) {
        int verdict = vls_schema_visit(run, f, names, VLS_WAY_NAME, i, NULL);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}

/* ---- which members there must be ---- */

static int check_member_count(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_object *object = f->node->object;
    uint32_t len = f->instance->len;

    if (object->min_properties.set && len < object->min_properties.n)
        return vls_schema_bad(run, f, "minProperties", NULL,
                              "must have at least %llu properties, has %u",
                              (unsigned long long)object->min_properties.n, len);
    if (object->max_properties.set && len > object->max_properties.n)
        return vls_schema_bad(run, f, "maxProperties", NULL,
                              "must have at most %llu properties, has %u",
                              (unsigned long long)object->max_properties.n, len);
    return 0;
}

static int bad_missing(vls_schema_run *run, const vls_schema_frame *f, vls_json name,
                       const vls_json *because)
{
    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    vls_buf_add(&run->reason, VLS_STR("must have the property "));
    vls_schema_describe(&run->reason, name);
    if (because) {
        vls_buf_add(&run->reason, VLS_STR(" because it has "));
        vls_schema_describe(&run->reason, *because);
    }
    return vls_schema_bad_finish(run, f, because ? "dependentRequired" : "required");
}

static int check_present(vls_schema_run *run, const vls_schema_frame *f, vls_json names,
                         const vls_json *because)
{
    int bad = vls_schema_spend(run, names.len / 4);

    for (uint32_t i = 0; bad >= 0 && i < names.len; i++) {
        int verdict = has_member(run, *f->instance, names.items[i]);
        if (verdict == 1)
            continue;
        if (verdict == 0)
            verdict = bad_missing(run, f, names.items[i], because);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}

static int check_dependent_required(vls_schema_run *run, const vls_schema_frame *f)
{
    vls_json table = *f->node->object->dependent_required;
    int bad = vls_schema_spend(run, table.len / 4);

    for (uint32_t i = 0; bad >= 0 && i < table.len; i++) {
        const vls_member *rule = &table.members[i];
        int verdict = has_member(run, *f->instance, rule->key);
        if (verdict == 0)
            continue;
        if (verdict == 1)
            verdict = check_present(run, f, rule->value, &rule->key);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}

static int check_dependent_schemas(vls_schema_run *run, const vls_schema_frame *f,
                                   vls_schema_seen *seen)
{
    const vls_schema_table *table = &f->node->object->dependent_schemas;
    int bad = vls_schema_spend(run, table->names.len / 4);

    for (uint32_t i = 0; bad >= 0 && i < table->names.len; i++) {
        int verdict = has_member(run, *f->instance, table->names.members[i].key);
        if (verdict == 0)
            continue;
        if (verdict == 1)
            verdict = vls_schema_visit(run, f, table->nodes[i], VLS_WAY_SAME, 0, seen);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}

static int check_dependents(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_object *object = f->node->object;
    int bad = 0;

    if (object->dependent_required)
        bad = check_dependent_required(run, f);
    if (!vls_schema_ends(run, bad) && object->dependent_schemas.names.type == VLS_JSON_OBJECT)
        bad = vls_schema_both(bad, check_dependent_schemas(run, f, seen));
    return bad;
}

int vls_schema_check_object(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_object *object = f->node->object;
    int bad = check_member_count(run, f);

    if (!vls_schema_ends(run, bad) && object->required)
        bad = vls_schema_both(bad, check_present(run, f, *object->required, NULL));
    if (!vls_schema_ends(run, bad))
        bad = vls_schema_both(bad, check_names(run, f));
    if (!vls_schema_ends(run, bad))
        bad = vls_schema_both(bad, check_members(run, f, seen));
    if (!vls_schema_ends(run, bad))
        bad = vls_schema_both(bad, check_dependents(run, f, seen));
    return bad;
}
