/* pool.c -- a pool without threads: the same order each time. Those with threads are in
 * pool_threads.c. */
#include "harness/test.h"

#include "base/pool.h"
#include "harness/fault.h"

static vls_pool *new_pool(test *t, unsigned queue_max)
{
    vls_pool_options options = {.queue_max = queue_max};
    vls_pool *pool = NULL;

    CHECK_OK(vls_pool_new(&pool, t->env, &options, &t->err));
    CHECK_INT(0, vls_pool_threads(pool));
    return pool;
}

/* What happened, one letter per event. */
static struct {
    char text[64];
    size_t len;
} story;

static void tell(char c)
{
    CHECK(story.len + 1 < sizeof(story.text));
    story.text[story.len++] = c;
    story.text[story.len] = '\0';
}

static int letter(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    const char *text = arg;

    (void)scratch;
    (void)group;
    tell(text[0]);
    return text[1] == '!' ? vls_fail(err, VALISE_E_IO, "letter %c failed", text[0]) : 0;
}

static int submit_letter(vls_pool_group *group, const char *text, valise_error *err)
{
    return vls_pool_submit(group, letter, (void *)(uintptr_t)text, err);
}

static void drop_letter(void *arg)
{
    tell('-');
    tell(*(const char *)arg);
}

TEST(pool, without_threads_tasks_run_within_submit)
{
    vls_pool *pool = new_pool(t, 1);
    vls_pool_group group;

    story.len = 0;
    vls_pool_group_init(&group, pool, drop_letter);
    CHECK_OK(submit_letter(&group, "a", &t->err));
    CHECK_TEXT("a", story.text);
    CHECK_OK(submit_letter(&group, "b", &t->err));
    CHECK_TEXT("ab", story.text);
    CHECK(vls_pool_wait_for(&group, 0));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    vls_pool_free(pool);
}

TEST(pool, the_first_error_ends_its_group_and_no_other)
{
    vls_pool *pool = new_pool(t, 4);
    vls_pool_group one, two;

    story.len = 0;
    vls_pool_group_init(&one, pool, drop_letter);
    vls_pool_group_init(&two, pool, drop_letter);
    CHECK_OK(submit_letter(&one, "a", &t->err));
    CHECK_OK(submit_letter(&one, "b!", &t->err)); /* taken in, although it fails */
    CHECK_RC(VALISE_E_CANCELLED, submit_letter(&one, "c!", &t->err));
    CHECK_OK(submit_letter(&two, "d", &t->err));
    CHECK_RC(VALISE_E_IO, vls_pool_wait(&one, &t->err));
    CHECK_TEXT("letter b failed", t->err.message);
    CHECK_RC(VALISE_E_IO, vls_pool_wait(&one, NULL));
    CHECK_OK(vls_pool_wait(&two, &t->err));
    CHECK_TEXT("abd", story.text); /* c stays the caller's: it is not dropped either */
    vls_pool_free(pool);
}

static int silent_failure(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    (void)arg;
    (void)scratch;
    (void)group;
    (void)err;
    return VALISE_E_CORRUPT;
}

TEST(pool, an_error_without_a_message_gets_one)
{
    vls_pool *pool = new_pool(t, 4);
    vls_pool_group group;

    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, silent_failure, NULL, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_pool_wait(&group, &t->err));
    CHECK_TEXT("corrupt", t->err.message);
    CHECK_INT(VALISE_E_CORRUPT, t->err.code);
    vls_pool_free(pool);
}

TEST(pool, a_cancelled_group_takes_no_more_tasks)
{
    vls_pool *pool = new_pool(t, 4);
    vls_pool_group group;

    story.len = 0;
    vls_pool_group_init(&group, pool, drop_letter);
    CHECK_OK(submit_letter(&group, "a", &t->err));
    CHECK(!vls_pool_cancelled(&group));
    vls_pool_cancel(&group);
    CHECK(vls_pool_cancelled(&group));
    CHECK_RC(VALISE_E_CANCELLED, submit_letter(&group, "b", &t->err));
    CHECK_RC(VALISE_E_CANCELLED, vls_pool_wait(&group, &t->err));
    CHECK_TEXT("a", story.text);
    vls_pool_free(pool);
}

/* ---- nesting ---- */

typedef struct chain {
    unsigned left;      /* tasks still to be submitted, each by the one before */
    unsigned depth;     /* nested now */
    unsigned max_depth; /* and at most */
    unsigned ran;
} chain;

static int link_of_chain(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    chain *c = arg;
    int rc = 0;

    (void)scratch;
    c->ran++;
    c->depth++;
    c->max_depth = VLS_MAX(c->max_depth, c->depth);
    if (c->left > 0) {
        c->left--;
        rc = vls_pool_submit(group, link_of_chain, c, err);
    }
    c->depth--;
    return rc;
}

TEST(pool, nested_tasks_do_not_use_up_the_stack)
{
    vls_pool *pool = new_pool(t, 1);
    vls_pool_group group;
    chain c = {.left = 100000};

    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, link_of_chain, &c, &t->err));
    CHECK_INT(100001, c.ran);
    CHECK_INT(VLS_POOL_MAX_DEPTH, c.max_depth);
    CHECK_OK(vls_pool_wait(&group, &t->err));
    vls_pool_free(pool);
}

static int outer(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    chain *c = arg;
    vls_pool_group inner;
    int rc;

    (void)scratch;
    vls_pool_group_init(&inner, group->pool, NULL);
    rc = vls_pool_submit(&inner, link_of_chain, c, err);
    if (rc == 0)
        rc = vls_pool_wait(&inner, err);
    return rc == 0 && c->left > 0 ? vls_fail(err, VALISE_E_INVALID, "came back too early") : rc;
}

TEST(pool, a_task_can_wait_for_a_group_of_its_own)
{
    vls_pool *pool = new_pool(t, 1);
    vls_pool_group group;
    chain c = {.left = 1000};

    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, outer, &c, &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    CHECK_INT(1001, c.ran);
    vls_pool_free(pool);
}

/* Sixteen deep the tasks are queued; a failure then drops what is in the queue. */
static int fan(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    chain *c = arg;
    int rc;

    (void)scratch;
    if (++c->depth < VLS_POOL_MAX_DEPTH) {
        rc = vls_pool_submit(group, fan, c, err);
        c->depth--;
        return rc;
    }
    for (const char *text = "abc"; *text; text++) {
        rc = submit_letter(group, text, err);
        if (rc < 0)
            return rc;
    }
    c->depth--;
    return vls_fail(err, VALISE_E_IO, "enough");
}

TEST(pool, tasks_that_were_queued_are_dropped_in_order)
{
    vls_pool *pool = new_pool(t, 2);
    vls_pool_group group;
    chain c = {0};

    story.len = 0;
    vls_pool_group_init(&group, pool, drop_letter);
    CHECK_OK(vls_pool_submit(&group, fan, &c, &t->err));
    CHECK_RC(VALISE_E_IO, vls_pool_wait(&group, &t->err));
    CHECK_TEXT("enough", t->err.message);
    CHECK_TEXT("-a-b-c", story.text);
    vls_pool_free(pool);
}

/* ---- scratch, limits, memory ---- */

typedef struct scratch_log {
    int inits, releases;
    int fail_at; /* the init that fails; 0: none */
} scratch_log;

static int scratch_init(void **scratch, void *arg, valise_error *err)
{
    scratch_log *log = arg;

    if (log->inits + 1 == log->fail_at)
        return vls_fail(err, VALISE_E_BUSY, "no scratch");
    log->inits++;
    *scratch = arg;
    return 0;
}

static void scratch_release(void *scratch, void *arg)
{
    CHECK(scratch == arg);
    ((scratch_log *)arg)->releases++;
}

static int check_scratch(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    (void)group;
    return arg == scratch ? 0 : vls_fail(err, VALISE_E_INVALID, "not my scratch");
}

TEST(pool, tasks_get_the_scratch)
{
    scratch_log log = {0};
    vls_pool_options options = {
        .scratch_init = scratch_init, .scratch_release = scratch_release, .scratch_arg = &log};
    vls_pool_group group;
    vls_pool *pool = NULL;

    CHECK_OK(vls_pool_new(&pool, t->env, &options, &t->err));
    vls_pool_group_init(&group, pool, NULL);
    CHECK_OK(vls_pool_submit(&group, check_scratch, &log, &t->err));
    CHECK_OK(vls_pool_wait(&group, &t->err));
    vls_pool_free(pool);
    CHECK_INT(1, log.inits);
    CHECK_INT(1, log.releases);

    pool = NULL;
    log = (scratch_log){.fail_at = 1};
    CHECK_RC(VALISE_E_BUSY, vls_pool_new(&pool, t->env, &options, &t->err));
    CHECK(pool == NULL);
    CHECK_INT(0, log.releases);
}

TEST(pool, refuses_sizes_out_of_proportion)
{
    vls_pool_options threads = {.threads = VLS_POOL_MAX_THREADS + 1};
    vls_pool_options queue = {.queue_max = 65537};
    vls_pool *pool = NULL;

    CHECK_RC(VALISE_E_INVALID, vls_pool_new(&pool, t->env, &threads, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_pool_new(&pool, t->env, &queue, &t->err));
    CHECK(pool == NULL);
}

TEST(pool, nothing_and_zeroed_things_can_be_released)
{
    vls_pool_group group = {0};

    vls_pool_group_release(&group);
    vls_pool_free(NULL);
    vls_pool_free(new_pool(t, 0));
    CHECK_INT(0, test_bytes_in_use(t));
}

static int run_chain(const valise_env *env, chain *c, valise_error *err)
{
    vls_pool_options options = {.queue_max = 1};
    VLS_AUTO(pool) vls_pool *pool = NULL;
    vls_pool_group group;
    int rc = vls_pool_new(&pool, env, &options, err);

    if (rc < 0)
        return rc;
    vls_pool_group_init(&group, pool, NULL);
    rc = vls_pool_submit(&group, outer, c, err);
    return rc < 0 ? rc : vls_pool_wait(&group, err);
}

/* At a depth of 16 every task submits two, and the queue has one place: the rest is allocated. */
static int bush(void *arg, void *scratch, vls_pool_group *group, valise_error *err)
{
    chain *c = arg;
    int rc = 0;

    c->ran++;
    if (c->left > 0) {
        c->left--;
        rc = vls_pool_submit(group, bush, c, err);
        if (rc == 0)
            rc = vls_pool_submit(group, link_of_chain, c, err);
    }
    (void)scratch;
    return rc;
}

static int run_bush(const valise_env *env, chain *c, valise_error *err)
{
    vls_pool_options options = {.queue_max = 1};
    VLS_AUTO(pool) vls_pool *pool = NULL;
    vls_pool_group group;
    int rc = vls_pool_new(&pool, env, &options, err);

    if (rc < 0)
        return rc;
    vls_pool_group_init(&group, pool, NULL);
    rc = vls_pool_submit(&group, bush, c, err);
    return rc < 0 ? rc : vls_pool_wait(&group, err);
}

static int chain_with_faults(fault *f, void *arg)
{
    (void)arg;
    return run_chain(f->env, &(chain){.left = 60}, &f->err);
}

static int bush_with_faults(fault *f, void *arg)
{
    (void)arg;
    return run_bush(f->env, &(chain){.left = 60}, &f->err);
}

TEST(pool, survives_every_failing_allocation)
{
    CHECK(fault_each_alloc(t, 0, chain_with_faults, NULL) >= 3);
    CHECK(fault_each_alloc(t, 0, bush_with_faults, NULL) >= 3);
}
