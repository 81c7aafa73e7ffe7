/* find.c -- nodes by their paths, dependencies by their names. [F19] */
#include "base/text.h"
#include "flow/flow.h"

#define TOLD_MAX 3u /* of several that it may be */

const vls_flow_dependency *vls_flow_dependency_find(const valise_flow *flow, valise_str name)
{
    while (flow->outer)
        flow = flow->outer;
    for (size_t i = 0; i < flow->dependency_count; i++)
        if (vls_str_equal(flow->dependencies[i].name, name))
            return &flow->dependencies[i];
    return NULL;
}

/* Step by step; NULL: it is no path from here. */
static vls_flow_node *walk(const valise_flow *flow, valise_str path)
{
    valise_str rest = path, id;
    bool more;

    do {
        vls_flow_node *node;
        more = vls_str_cut(&id, &rest, rest, '/');
        node = vls_flow_find(flow, id);
        if (!node || !more)
            return node;
        flow = node->inner;
    } while (flow);
    return NULL;
}

typedef struct ending {
    valise_str path;
    vls_flow_node *found[TOLD_MAX];
    size_t count;
} ending;

/* The depth is limited. */
static void look(ending *e, const valise_flow *flow)
{
    for (size_t i = 0; i < flow->nodes.len; i++) {
        vls_flow_node *node = flow->nodes.ptr[i];
        const size_t more = node->path.len - VLS_MIN(e->path.len, node->path.len);
        if (vls_str_ends(node->path, e->path) && (more == 0 || node->path.ptr[more - 1] == '/')) {
            if (e->count < TOLD_MAX)
                e->found[e->count] = node;
            e->count++;
        }
        if (node->inner)
            look(e, node->inner);
    }
}

int vls_flow_find_path(vls_flow_node **out, const valise_flow *flow, valise_str path,
                       valise_error *err)
{
    ending e = {.path = path};
    vls_flow_node *node = path.len > 0 ? walk(flow, path) : NULL;

    if (!node && path.len > 0)
        look(&e, flow);
    if (!node && e.count == 1)
        node = e.found[0];
    if (node) {
        *out = node;
        return 0;
    }
    if (e.count == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the flow has no node '%s'",
                        vls_text_short(path).s);
    assert(e.found[0] && e.found[1]); /* more than one */
    (void)vls_fail(err, VALISE_E_CONFLICT, "there are %zu nodes '%s'", e.count,
                   vls_text_short(path).s);
    vls_hint(err, "say which: %s, %s%s", vls_text_short(e.found[0]->path).s,
             vls_text_short(e.found[1]->path).s, e.count > 2 ? ", ..." : "");
    return VALISE_E_CONFLICT;
}
