/* consent.c -- may what a flow names run, and may it know what it refers to? [K34]
 *
 * Somebody vouched for the flow: the host, or who named its file on the command line, for that path
 * whatever it names; or who trusted its file, for bytes. Then bytes are asked for all the way: a
 * program that the flow names by its path must be trusted as well, each time it is started, or who
 * can write that file would decide what a trusted flow does. One that is looked for in PATH is the
 * system's. */
#include <limits.h>
#include <stdlib.h>

#include "base/sealed.h"
#include "base/text.h"
#include "flow/level.h"

/* The run has the word of who started its flow; a flow of the host has that of the host alone. */
static bool is_vouched_for(const valise_node_run *at, valise_flow *flow)
{
    const valise_flow *outermost = vls_flow_outermost(flow);

    return outermost == vls_flow_outermost(at->run->flow) ? at->run->programs
                                                          : outermost->flags & VALISE_FLOW_PROGRAMS;
}

int vls_node_may_resolve(const valise_node_run *at, valise_error *err)
{
    if (is_vouched_for(at, at->node->flow))
        return 0;
    (void)vls_fail(err, VALISE_E_DENIED,
                   "the flow refers to variables or credentials, which a flow alone must not read");
    vls_hint(err, "name the flow's file on the command line, or trust it: valise trust FLOW.json");
    return VALISE_E_DENIED;
}

/* The bytes that lie there now. */
static int check_file(const valise *v, const char *path, valise_error *err)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    int rc = vls_sealed_open(&sealed, path, err);

    if (rc == 0)
        rc = v->place.may_run(v, path, &sealed.id, err);
    if (rc != VALISE_E_DENIED)
        return rc;
    (void)vls_fail(err, rc, "%s is not trusted, and trust in the flow that names it is not enough",
                   path);
    vls_hint(err, "valise trust %s, or name the flow's file on the command line", path);
    return rc;
}

/* A vls_tool_may: it starts in the folder, and is looked for there. */
static int may_start(void *arg, const char *folder, const char *file, valise_error *err)
{
    const valise *v = arg;
    char path[PATH_MAX], real[PATH_MAX];
    int len;

    if (!strchr(file, '/'))
        return 0;
    len = snprintf(path, sizeof(path), "%s%s%s", file[0] != '/' && folder ? folder : "",
                   file[0] != '/' && folder ? "/" : "", file);
    if (len < 0 || (size_t)len >= sizeof(path))
        return vls_fail(err, VALISE_E_IO, "the path of the program %s is too long",
                        vls_text_short(valise_str_of(file)).s);
    if (!realpath(path, real)) {
        (void)vls_report_errno(err, "cannot run", valise_str_of(file));
        if (err)
            err->code = VALISE_E_IO;
        return VALISE_E_IO;
    }
    return check_file(v, real, err);
}

int vls_node_may_start(vls_tool_may *may, const valise_node_run *at, valise_flow *flow,
                       valise_str what, valise_error *err)
{
    if (is_vouched_for(at, flow)) {
        const bool bytes = vls_flow_outermost(flow)->by_bytes;

        *may = (vls_tool_may){.fn = bytes ? may_start : NULL, .arg = at->run->v};
        return 0;
    }
    (void)vls_fail(err, VALISE_E_DENIED,
                   "the flow names the program '%.*s', and a flow alone cannot make programs run",
                   VALISE_STR_ARG(vls_str_head(what, 100)));
    vls_hint(err, "name the flow's file on the command line, or trust it: valise trust FLOW.json");
    return VALISE_E_DENIED;
}
