/* bus_fault.c -- every allocation and every file call of a dispatch fails in turn. [Q18] */
#include "harness/fault.h"
#include "kit/bus.h"

#include <errno.h>

TEST_PARAMS(fault, "memory", "sqlite")

static int change_payload(void *self, valise_pass *pass, valise_error *err)
{
    int rc = valise_pass_add(pass, true, "counter:add", VLS_STR("{\"name\":\"more\"}"),
                             VLS_STR("helper"), err);

    (void)self;
    if (rc < 0)
        return rc;
    return valise_pass_change(pass, VLS_STR("{\"name\":\"a\",\"note\":\"changed\"}"), err);
}

typedef struct plan {
    const char *type, *payload;
    bool middleware, dry_run, typed, batch, follow;
} plan;

static void committed(void *self, const vls_commit *commits, size_t count)
{
    (void)commits;
    *(size_t *)self += count;
}

static int dispatch(fault *f, kit *k, const plan *p)
{
    valise_call call = VALISE_CALL_INIT;
    valise_reply replies[2] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT};
    int rc;

    call.flags = p->dry_run ? VALISE_CALL_DRY_RUN : 0;
    if (p->typed) {
        add_args args = {.name = VLS_STR("a"), .note = {.bytes = VLS_STR("note")}};
        VLS_AUTO(memory) vls_memory memory = {0};
        add_result result;
        return vls_run(k->v, &counter_add, &args, &result, &memory, &call, NULL, &f->err);
    }
    if (p->batch) {
        valise_command commands[2] = {{valise_str_of(p->type), valise_str_of(p->payload), NULL},
                                      {valise_str_of(p->type), valise_str_of(p->payload), NULL}};
        rc = valise_dispatch_batch(replies, k->v, commands, 2, &call, &f->err);
    } else {
        rc = valise_dispatch(&replies[0], k->v, p->type, p->payload, &call, &f->err);
    }
    valise_reply_release(&replies[0]);
    valise_reply_release(&replies[1]);
    return rc;
}

/* The state before or after, nothing else; and the handle still works. */
static int run_plan(fault *f, void *arg)
{
    static const vls_feed_ops feed = {.committed = committed};
    static const valise_middleware m = {.size = sizeof(m), .name = "m", .before = change_payload};
    static const valise_middleware *const list[] = {&m, NULL};
    const plan *p = arg;
    kit k = {.t = f->t};
    size_t told = 0;
    int64_t before, after;
    int rc;

    fault_off(f);
    rc = kit_try_open(&k,
                      &(kit_options){.env = f->env,
                                     .backend = f->t->param,
                                     .dir = f->dir,
                                     .middleware = p->middleware ? list : NULL},
                      &f->err);
    CHECK_INT(0, rc);
    k.t = f->t;
    if (p->follow)
        vls_bus_follow(k.v, &feed, &told);
    before = kit_value(&k, "a", "");
    fault_on(f);
    rc = dispatch(f, &k, p);
    fault_off(f);
    after = kit_value(&k, "a", "");
    if (rc == 0 && strcmp(p->type, "counter:add") == 0)
        CHECK_INT(p->dry_run ? -1 : p->batch ? 2 : 1, after);
    else
        CHECK_INT(before, after);
    CHECK_INT(kit_seq(&k) > 0, after > 0);
    if (p->follow)
        CHECK_INT(kit_seq(&k), told);
    kit_run(&k, "counter:add", "{\"name\":\"z\"}");
    kit_validate(&k);
    kit_close(&k);
    if (rc == 0 && f->nth > 0)
        f->recovered = true;
    return rc;
}

static const char full[] = "{\"name\":\"a\",\"note\":\"words\",\"tags\":[\"x\"],\"meta\":{\"a\":1},"
                           "\"parts\":[{\"label\":\"x\",\"body\":\"c2VjcmV0IGJ5dGVz\"}]}";

TEST(fault, memory_of_a_command)
{
    fault_each_alloc(t, 0, run_plan, &(plan){.type = "counter:add", .payload = full});
    fault_each_alloc(t, FAULT_ONWARD, run_plan, &(plan){.type = "counter:add", .payload = full});
}

TEST(fault, memory_of_a_command_with_all_that_follows)
{
    fault_each_alloc(
        t, 0, run_plan,
        &(plan){.type = "counter:add", .payload = full, .middleware = true, .follow = true});
    fault_each_alloc(
        t, 0, run_plan,
        &(plan){.type = "counter:add", .payload = full, .batch = true, .follow = true});
    fault_each_alloc(t, 0, run_plan,
                     &(plan){.type = "counter:add",
                             .payload = full,
                             .batch = true,
                             .follow = true,
                             .middleware = true});
}

TEST(fault, memory_of_other_ways)
{
    fault_each_alloc(t, 0, run_plan, &(plan){.type = "counter:add", .typed = true});
    fault_each_alloc(t, 0, run_plan,
                     &(plan){.type = "counter:add", .payload = full, .dry_run = true});
    fault_each_alloc(t, 0, run_plan, &(plan){.type = "counter:list", .payload = "{}"});
    fault_each_alloc(t, 0, run_plan,
                     &(plan){.type = "counter:hello", .payload = "{\"name\":\"x\"}"});
}

TEST(fault, disk)
{
    plan one = {.type = "counter:add", .payload = full};
    plan two = {.type = "counter:add", .payload = full, .batch = true};

    if (strcmp(t->param, "memory") == 0)
        SKIP("no disk");
    fault_each_io(t, FAULT_ALL & ~FAULT_CLOSE, EIO, run_plan, &one);
    fault_each_io(t, FAULT_WRITE | FAULT_SYNC | FAULT_TRUNCATE, ENOSPC, run_plan, &two);
}
