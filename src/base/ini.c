/* ini.c -- reading entries. */
#include "base/ini.h"

#include "base/ini_scan.h"

int vls_ini_read(const valise_env *env, valise_str file, valise_str text, vls_ini_fn *fn, void *arg,
                 valise_error *err)
{
    VLS_AUTO(ini_scan) vls_ini_scan scan = {0};
    vls_ini_item item = {.kind = VLS_INI_HEADER};
    int rc = vls_ini_scan_init(&scan, env, file, text, err);

    while (rc == 0 && item.kind != VLS_INI_END) {
        rc = vls_ini_scan_next(&item, &scan, err);
        if (rc == 0 && item.kind == VLS_INI_ENTRY)
            rc = fn(arg, &item.entry, err);
    }
    return rc;
}
