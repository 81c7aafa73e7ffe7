/* durable_kit.c -- see durable_kit.h. */
#include "durable_kit.h"

#include <valise/sys/view.h>

#include "bus/bus.h"
#include "flow/rows.h"

site *site_of(test *t)
{
    site *s = test_alloc(sizeof(*s));

    s->d = script_desk(t);
    s->k = (talk){.t = t, .v = s->d->v, .path = s->d->dir};
    return s;
}

static void close_it(void *arg)
{
    valise_close(arg);
}

site *site_at(test *t, const char *dir)
{
    site *s = test_alloc(sizeof(*s));

    s->d = test_alloc(sizeof(*s->d));
    *s->d = (desk){.t = t, .err = &t->err, .dir = dir, .durable = true};
    CHECK_OK(script_try_open(&s->d->v, t->env, dir, &t->err));
    test_defer(close_it, s->d->v);
    s->k = (talk){.t = t, .v = s->d->v, .path = dir};
    return s;
}

int try_run_on(site *s, const char *bag, const char *config)
{
    return talk_try(&s->k, "flow:run", "{\"backpack\":\"%s\",\"flow\":%s}", bag, quoted(config));
}

const char *run_on(site *s, const char *bag, const char *config)
{
    return talk_run(&s->k, "flow:run", "{\"backpack\":\"%s\",\"flow\":%s}", bag, quoted(config));
}

int try_resume(site *s, const char *run)
{
    return talk_try(&s->k, "flow:resume", "{\"run\":\"%s\"}", run);
}

const char *resume(site *s, const char *run)
{
    return talk_run(&s->k, "flow:resume", "{\"run\":\"%s\"}", run);
}

const char *rerun(site *s, const char *run, const char *more)
{
    return talk_run(&s->k, "flow:rerun", "{\"run\":\"%s\",%s}", run, quoted(more));
}

int try_rerun(site *s, const char *run, const char *more)
{
    return talk_try(&s->k, "flow:rerun", "{\"run\":\"%s\",%s}", run, quoted(more));
}

const char *runs_of(site *s)
{
    const char *all = talk_run(&s->k, "flow:runs", "{}"), *out = "";

    for (int i = 0; i < 100; i++) {
        const char *status = talk_member(&s->k, all, test_format("items.%d.status", i));

        if (!*status)
            break;
        out = test_format("%s%s%s %s %s %s %s", out, i > 0 ? "; " : "", status,
                          talk_member(&s->k, all, test_format("items.%d.steps", i)),
                          talk_member(&s->k, all, test_format("items.%d.action", i)),
                          talk_member(&s->k, all, test_format("items.%d.node", i)),
                          talk_member(&s->k, all, test_format("items.%d.code", i)));
    }
    return out;
}

typedef struct listing {
    valise_uuid run;
    const char *text;
} listing;

static int newest_run(void *arg, valise_view *view, valise_error *err)
{
    const valise_select select = {.index = "started", .flags = VALISE_SCAN_REVERSE};
    listing *l = arg;
    vls_flow_run_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_runs, &select, err);

    if (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        l->run = row.id;
    valise_scan_close(scan);
    return rc < 0 ? rc : 0;
}

static int list_steps(void *arg, valise_view *view, valise_error *err)
{
    listing *l = arg;
    vls_flow_step_row row = {.run = l->run};
    const valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (row.visit < 0) /* a failure that nobody took: not a step */
            continue;
        l->text =
            test_format("%s%s%.*s#%lld>%.*s", l->text, *l->text ? " " : "",
                        VALISE_STR_ARG(row.path), (long long)row.visit, VALISE_STR_ARG(row.next));
    }
    valise_scan_close(scan);
    return rc;
}

const char *steps_of_run(site *s)
{
    test *t = s->d->t;
    listing l = {.text = ""};

    CHECK_OK(vls_with_view(s->d->v, NULL, newest_run, &l, &t->err));
    CHECK_OK(vls_with_view(s->d->v, NULL, list_steps, &l, &t->err));
    return l.text;
}

static valise_backpack *open_known(site *s, const char *name)
{
    test *t = s->d->t;
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *bag = NULL;

    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_KNOWN;
    CHECK_OK(valise_backpack_open(&bag, s->d->v, name, &options, &t->err));
    return bag;
}

const char *holds(site *s, const char *name)
{
    valise_backpack *bag = open_known(s, name);
    const char *text = items(bag);

    valise_backpack_close(bag);
    return text;
}

const char *commits(site *s, const char *name)
{
    valise_backpack *bag = open_known(s, name);
    const char *text = all_history(bag);

    valise_backpack_close(bag);
    return text;
}

void check_site(site *s)
{
    talk_check(&s->k, true);
}
