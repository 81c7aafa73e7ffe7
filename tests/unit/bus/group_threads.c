/* group_threads.c -- callers that share commits. [K10 K33] */
#include "harness/test.h"

#include <sched.h>

#include "bus/group.h"

#define THREADS 16
#define ROUNDS 200

typedef struct work {
    vls_group_item item;
    int runs;
} work;

typedef struct desk {
    vls_group group;
    atomic_int inside;    /* threads that run a group now */
    size_t groups, items; /* this and the next: of whoever leads */
    size_t most;
    atomic_size_t led;
    size_t commands, bytes; /* of each item */
} desk;

static void run_group(void *self, vls_group_item *first, size_t count)
{
    desk *d = self;
    size_t n = 0;

    CHECK_INT(0, atomic_fetch_add(&d->inside, 1));
    CHECK(vls_group_is_leader(&d->group));
    for (vls_group_item *i = first; i; i = i->next, n++)
        ((work *)i)->runs++;
    CHECK_INT(count, n);
    d->groups++;
    d->items += count;
    d->most = VLS_MAX(d->most, count);
    sched_yield();
    atomic_fetch_sub(&d->inside, 1);
}

static void submit_many(size_t index, void *arg)
{
    desk *d = arg;

    for (int i = 0; i < ROUNDS; i++) {
        work w = {.item = {.commands = d->commands, .bytes = d->bytes}};
        bool led = false;
        vls_group_submit(&led, &d->group, &w.item);
        CHECK_INT(1, w.runs);
        CHECK(!vls_group_is_leader(&d->group));
        if (led)
            atomic_fetch_add(&d->led, 1);
    }
    (void)index;
}

static void submit_from_threads(test *t, desk *d, bool gather)
{
    vls_group_init(&d->group, t->env, run_group, d, gather);
    test_threads(THREADS, submit_many, d);
    CHECK_INT(THREADS * ROUNDS, d->items);
    CHECK_INT(d->groups, atomic_load(&d->led)); /* one leader for each group */
    vls_group_release(&d->group);
}

TEST(group, runs_every_item_once_and_one_group_at_a_time)
{
    desk d = {.commands = 1};

    submit_from_threads(t, &d, false);
    CHECK(d.most <= THREADS);
}

TEST(group, gathers_those_who_come_back)
{
    desk d = {.commands = 1};

    submit_from_threads(t, &d, true);
    test_note("%zu groups of up to %zu items", d.groups, d.most);
    CHECK(d.most > 1);
}

TEST(group, ends_at_its_limits)
{
    desk many = {.commands = VLS_GROUP_MAX_COMMANDS / 4};
    desk large = {.commands = 1, .bytes = VLS_GROUP_MAX_BYTES / 3};
    desk over = {.commands = 1, .bytes = VLS_GROUP_MAX_BYTES + 1};

    submit_from_threads(t, &many, true);
    CHECK(many.most <= 4);
    submit_from_threads(t, &large, true);
    CHECK(large.most <= 3);
    submit_from_threads(t, &over, true);
    CHECK_INT(1, over.most);
}

TEST(group, of_one_caller_wakes_nobody_and_never_waits)
{
    desk d = {.commands = 1};

    vls_group_init(&d.group, t->env, run_group, &d, true);
    submit_many(0, &d);
    CHECK_INT(ROUNDS, d.groups);
    CHECK_INT(ROUNDS, atomic_load(&d.led));
    CHECK_INT(VLS_GROUP_GATHER_NS, d.group.patience_ns);
    vls_group_release(&d.group);
    vls_group_release(&d.group);
}
