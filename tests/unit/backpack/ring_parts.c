/* ring_parts.c -- what a ring is made of: values, labels, namespaces, reads, and what it takes. */
#include "backpack/ring_impl.h"
#include "harness/test.h"
#include "kit/ledger.h"
#include "kit/ring_check.h"

static vls_ring *open_ring(test *t)
{
    vls_ring_options options = {.id = ledger_uuid(1), .name = VLS_STR("bag")};
    vls_ring *ring = NULL;

    CHECK_OK(vls_ring_new(&ring, t->env, &options, &t->err));
    return ring;
}

/* [B9] */
TEST(ring_parts, keep_a_value_once)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);

    for (int i = 0; i < 40; i++)
        ledger_pack(&ledger, t->env, test_format("k%d", i % 7), "\"one\"");
    CHECK_INT(1, ring->values.len);
    CHECK_INT(5, ring->sums.state_values);
    CHECK_INT(0, ring->sums.history_values);
    ring_check(ring);
}

/* Commits of one node, namespace and set of tags have one label. */
TEST(ring_parts, share_labels)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);
    const ledger_write writes[] = {
        {.key = "a", .value = "1", .space = "s", .tags = "x y"},
        {.key = "b", .value = "1", .space = "s", .tags = "x y"},
        {.key = "c", .value = "1", .space = "s", .tags = "xy"},
        {.key = "d", .value = "1", .space = "s", .tags = "x y", .readers = "n"},
        {.key = "e", .value = "1", .space = "s", .tags = "x y", .readers = ""},
        {.key = "f", .value = "1", .tags = "x y"},
        {.key = "g", .value = "1", .space = "s", .tags = "x y", .node = "m"},
        {.key = "h", .value = "1", .space = "s", .tags = "x y"},
    };

    for (size_t i = 0; i < VLS_COUNT(writes); i++)
        ledger_put(&ledger, t->env, &writes[i]);
    CHECK_INT(6, ring->labels.len);
    CHECK_INT(1, ring->space_map.len);
    CHECK_TEXT("a@1=1 b@2=1 c@3=1 d@4=1 e@5=1 g@7=1 h@8=1 ", ledger_named(&ledger, "s"));
}

/* [B24] keys move between namespaces all the time; the lists stay right and small. */
TEST(ring_parts, keep_namespaces_in_order)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 3000; i++) {
        const char *key = test_format("k%02d", (int)test_random_below(&rng, 60));
        const char *space = test_format("s%d", (int)test_random_below(&rng, 3));
        ledger_put(&ledger, t->env,
                   &(ledger_write){.key = key,
                                   .value = "1",
                                   .space = space,
                                   .action = test_random_below(&rng, 9) ? VALISE_ACTION_PACK
                                                                        : VALISE_ACTION_DELETE});
        if (i % 50 == 0) {
            VLS_AUTO(ledger_text) ledger_text all = {0};
            VLS_AUTO(ledger_text) ledger_text named = {0};
            ledger_text_init(&all, t->env, true);
            ledger_text_init(&named, t->env, true);
            ledger_show_items(&all, &ledger);
            ledger_show_named(&named, &ledger, "*");
            CHECK_STR(vls_buf_str(&all.buf), vls_buf_str(&named.buf));
            ring_check(ring);
        }
    }
    for (size_t i = 0; i < ring->spaces.len; i++)
        CHECK(((const vls_ring_space *)ring->spaces.ptr[i])->keys.len <= 130);
}

/* Prefixes of a pattern narrow the search, but never too much. */
TEST(ring_parts, match_namespaces_of_states_and_forks)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    VLS_AUTO(ring) vls_ring *fork = NULL;
    vls_ring_options options = {.id = ledger_uuid(2), .name = VLS_STR("f")};
    vls_ledger ledger = vls_ring_ledger(ring), frozen, forked;
    const char *const spaces[] = {"a", "a.b", "ab", "a.b.c", "b.a", "a.c"};

    for (size_t i = 0; i < VLS_COUNT(spaces); i++)
        ledger_put(
            &ledger, t->env,
            &(ledger_write){.key = test_format("k%zu", 9 - i), .value = "1", .space = spaces[i]});
    frozen = ledger_freeze(&ledger, 6);
    CHECK_TEXT("k4@6=1 k8@2=1 ", ledger_named(&frozen, "a.*"));
    CHECK_TEXT("k4@6=1 k6@4=1 k8@2=1 k9@1=1 ", ledger_named(&frozen, "a.**"));
    CHECK_TEXT("k7@3=1 ", ledger_named(&frozen, "a*"));
    CHECK_OK(vls_ring_fork(&fork, &frozen, &options, &t->err));
    forked = vls_ring_ledger(fork);
    ledger_put(&forked, t->env, &(ledger_write){.key = "k8", .value = "2", .space = "z"});
    ledger_put(&forked, t->env, &(ledger_write){.key = "k5x", .value = "2", .space = "a.b"});
    CHECK_TEXT("k4@6=1 k5x@2=2 ", ledger_named(&forked, "a.*"));
    ledger_release_frozen(&frozen);
}

/* [B8] reads have a ring of their own. */
TEST(ring_parts, keep_the_newest_reads)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    vls_ledger ledger = vls_ring_ledger(ring), frozen;
    valise_usage usage = {0};
    size_t lines = 0;

    ledger_pack(&ledger, t->env, "a", "1");
    for (int i = 0; i < VLS_RING_READS + 500; i++) {
        const char *node = test_format("n%d", i / 1000);
        vls_ledger_read read = {
            .node_id = valise_str_of(node), .key = VLS_STR("a"), .time = i, .seq = 1};
        ledger.ops->enter(ledger.self);
        ledger.ops->read_add(ledger.self, &read);
        ledger.ops->leave(ledger.self);
    }
    CHECK_OK(ledger.ops->usage(&usage, ledger.self, &t->err));
    CHECK_INT(VLS_RING_READS, usage.reads);
    CHECK_INT(1, usage.commits);
    ledger_text_init(&text, t->env, true);
    ledger_show_reads(&text, &ledger);
    for (size_t i = 0; i < text.buf.len; i++)
        lines += text.buf.ptr[i] == '\n';
    CHECK_INT(VLS_RING_READS, lines);
    CHECK(vls_str_starts(vls_buf_str(&text.buf), VLS_STR("n10/  a 0 1 v0 0 t10499\n")));
    CHECK_INT(12, ring->labels.len);

    /* Through a state as well. A key that is too long is not kept. */
    char long_key[VLS_BAG_KEY_MAX + 1];
    memset(long_key, 'k', sizeof(long_key));
    vls_ledger_read read = {.key = {long_key, sizeof(long_key)}};
    int64_t last = ring->reads.last;
    frozen = ledger_freeze(&ledger, 1);
    frozen.ops->enter(frozen.self);
    frozen.ops->read_add(frozen.self, &read);
    frozen.ops->leave(frozen.self);
    CHECK_INT(last, ring->reads.last);
    ledger_release_frozen(&frozen);
}

/* Hostile keys: long ones, and many that begin alike. */
TEST(ring_parts, take_keys_of_any_kind)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);
    char key[VLS_BAG_KEY_MAX + 1];

    memset(key, 'x', VLS_BAG_KEY_MAX);
    key[VLS_BAG_KEY_MAX] = 0;
    for (int i = 0; i < 300; i++) {
        key[VLS_BAG_KEY_MAX - 1] = (char)('0' + i % 10);
        key[VLS_BAG_KEY_MAX - 2] = (char)('a' + i / 10 % 26);
        ledger_pack(&ledger, t->env, key, test_format("%d", i));
    }
    CHECK_INT(260, ring->items);
    ring_check(ring);
}

/* Whoever gave a key may use its memory for another one. */
TEST(ring_parts, do_not_trust_the_memory_of_a_key)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);
    char key[2] = "a";
    valise_commit commit = {.key = {key, 1}, .version = 1}, found;

    ledger.ops->enter(ledger.self);
    CHECK_INT(0, ledger.ops->newest(&found, ledger.self, (valise_str){key, 1}, &t->err));
    key[0] = 'b';
    CHECK_OK(ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    CHECK_INT(1, ledger.ops->newest(&found, ledger.self, VLS_STR("b"), &t->err));
    key[0] = 'c';
    CHECK_INT(0, ledger.ops->newest(&found, ledger.self, (valise_str){key, 1}, &t->err));
    CHECK_INT(0, ledger.ops->newest(&found, ledger.self, VLS_STR("a"), &t->err));
    ledger.ops->leave(ledger.self);
}

/* What is handed out stays until leave, though it is not needed any more. */
TEST(ring_parts, keep_what_was_handed_out_until_leave)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);
    valise_commit held, commit = {.key = VLS_STR("k"),
                                  .version = 9,
                                  .seq = 50,
                                  .time = 99,
                                  .node_id = VLS_STR("another")};
    vls_ledger_head head;

    ledger_put(&ledger, t->env, &(ledger_write){.key = "k", .value = "\"v\"", .tags = "once"});
    ledger.ops->enter(ledger.self);
    CHECK_OK(ledger.ops->head(&head, ledger.self, &t->err));
    CHECK_INT(1, ledger.ops->newest(&held, ledger.self, VLS_STR("k"), &t->err));
    CHECK_OK(ledger.ops->append(ledger.self, &commit, NULL, &t->err)); /* a gap: all before goes */
    commit.seq = 0;
    CHECK_OK(ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    CHECK_OK(ledger.ops->set_edge(ledger.self, 60, &t->err));
    CHECK_STR(VLS_STR("k"), held.key);
    CHECK_STR(VLS_STR("\"v\""), held.summary);
    CHECK_STR(VLS_STR("once"), *(const valise_str *)held.tags.items);
    CHECK_STR(VLS_STR("n"), head.last_node);
    ledger.ops->leave(ledger.self);
    ring_check(ring);
}

/* [B33] all of it together is what was allocated. */
TEST(ring_parts, know_what_they_take)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring), frozen = {0};
    valise_usage u = {0};
    size_t start = test_bytes_in_use(t) - sizeof(vls_ring);

    for (int i = 0; i < 2000; i++)
        ledger_put(&ledger, t->env,
                   &(ledger_write){.key = test_format("k%d", i % 300),
                                   .value = test_format("\"value %d\"", i),
                                   .space = i % 5 ? NULL : "space",
                                   .tags = i % 7 ? NULL : "tag",
                                   .reason = i % 11 ? NULL : "why"});
    ledger_quarantine(&ledger, t->env, "k1");
    ring->max_commits = 500;
    frozen = ledger_freeze(&ledger, 100);
    ledger_pack(&ledger, t->env, "k1", "1");
    CHECK_OK(ledger.ops->usage(&u, ledger.self, &t->err));
    CHECK(u.state_bytes > 0 && u.history_bytes > 0 && u.held_bytes > 0);
    CHECK_INT(test_bytes_in_use(t) - start - sizeof(vls_ring_lens),
              u.state_bytes + u.history_bytes + u.held_bytes + u.read_bytes + u.overhead_bytes);
    ring_check(ring);
    ledger_release_frozen(&frozen);
}

/* [B14] the second time costs no new tree, and what does not differ is not looked at. */
TEST(ring_parts, share_states)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring), one, two;
    size_t before;

    for (int i = 0; i < 2000; i++)
        ledger_pack(&ledger, t->env, test_format("k%d", i % 1000), test_format("%d", i));
    one = ledger_freeze(&ledger, 777);
    before = test_bytes_in_use(t);
    two = ledger_freeze(&ledger, 777);
    CHECK_INT(before + sizeof(vls_ring_lens), test_bytes_in_use(t));
    CHECK(((vls_ring_lens *)one.self)->state == ((vls_ring_lens *)two.self)->state);
    ledger_release_frozen(&one);
    ledger_release_frozen(&two);
    CHECK(ring->roots.len >= 38); /* one per 32 commits on the way from 2,000 to 777 */
}

/* Keys of several namespaces come in order, though they differ only far behind their beginning. */
TEST(ring_parts, merge_keys_that_begin_alike)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t);
    vls_ledger ledger = vls_ring_ledger(ring);
    const char *const keys[] = {"a long way to go: 5", "a long way to go: 3", "a long way to go: 4",
                                "a long way to go: 2", "a long way",          "x"};

    for (size_t i = 0; i < VLS_COUNT(keys); i++)
        ledger_put(&ledger, t->env,
                   &(ledger_write){.key = keys[i], .value = "1", .space = i % 2 ? "s.a" : "s.b"});
    CHECK_TEXT("a long way@5=1 a long way to go: 2@4=1 a long way to go: 3@2=1 "
               "a long way to go: 4@3=1 a long way to go: 5@1=1 x@6=1 ",
               ledger_named(&ledger, "s.*"));
}
