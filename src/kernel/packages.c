/* packages.c -- see packages.h. */
#include "kernel/packages.h"

#include "bus/bus.h"

int vls_packages_collect(valise *v, valise_error *err)
{
    const valise_extension *const *package = vls_registry_packages(v->registry);
    int rc = 0;

    for (; rc == 0 && *package; package++)
        rc = (*package)->collect ? (*package)->collect(v, err) : 0;
    return rc;
}

int vls_packages_forget(valise *v, valise_error *err)
{
    const valise_extension *const *package = vls_registry_packages(v->registry);
    int rc = 0;

    for (; rc == 0 && *package; package++)
        rc = (*package)->forget ? (*package)->forget(v, err) : 0;
    return rc;
}

int vls_packages_verify(valise *v, bool mend, vls_projection_fn *fn, void *arg, valise_error *err)
{
    const valise_extension *const *package = vls_registry_packages(v->registry);
    int rc = 0;

    for (; rc == 0 && *package; package++) {
        valise_projection p = {.size = sizeof(p)};
        if (!(*package)->verify)
            continue;
        rc = (*package)->verify(&p, v, mend, err);
        if (rc == 0)
            rc = fn(arg, &p, err);
    }
    return rc;
}

bool vls_projection_is_wrong(vls_projection_problem *out, const valise_projection *p)
{
    if (p->differences == 0 && !p->damage[0])
        return false;
    (void)snprintf(out->place, sizeof(out->place), "index %s", p->name);
    if (p->damage[0])
        (void)snprintf(out->text, sizeof(out->text), "it cannot be read: %s", p->damage);
    else
        (void)snprintf(out->text, sizeof(out->text),
                       "%lld of what it holds is not what the rows say, such as \"%s\"",
                       (long long)p->differences, p->example);
    return true;
}
