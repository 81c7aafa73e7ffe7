/* inspect.c -- `validate` where the damage is such that the workspace cannot be opened. */
#include "cli/call.h"

#include "cli/print.h"
#include "engine/engine.h"

static int add_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    const struct {
        const char *name, *text;
    } members[] = {{"kind", "problem"},
                   {"place", finding->place},
                   {"problem", finding->problem},
                   {"remedy", finding->remedy}};
    VLS_AUTO(buf) vls_buf json = {0};
    int rc;

    vls_buf_init(&json, valise_env_default(), (size_t)1 << 20);
    for (size_t i = 0; i < VLS_COUNT(members); i++) {
        vls_buf_printf(&json, "%c\"%s\":", i == 0 ? '{' : ',', members[i].name);
        vls_json_write_string(&json, valise_str_of(members[i].text));
    }
    vls_buf_add_byte(&json, '}');
    rc = vls_buf_check(&json, err);
    return rc < 0 ? rc : cli_rows_add(arg, vls_buf_str(&json), err);
}

bool cli_can_inspect(const valise_op *op)
{
    return strcmp(op->name, "workspace:validate") == 0;
}

int cli_inspect(cli *c, const valise_op *op, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    const char *path;
    cli_rows *rows = NULL;
    int rc, shown;

    if (cli_find(&path, c, NULL) < 0 || cli_rows_new(&rows, c, op, NULL) < 0)
        return VALISE_E_CORRUPT;
    rc = vls_engine_inspect(c->env, path, add_finding, rows, &why);
    shown = cli_rows_end(rows, rc < 0 ? NULL : &why);
    cli_rows_free(rows);
    rc = rc < 0 ? rc : shown;
    if (rc < 0)
        *err = why;
    return VALISE_E_CORRUPT;
}
