/* access.c -- the access check against its specification, word by word. [B18] [B19] */
#include "kit.h"

#include "base/hex.h"
#include "base/uuid.h"

/* ---- the specification ---- */

typedef struct world {
    valise_permissions set;
    bool any_set;
    int rule;       /* of the tag "pii": see rule_names */
    bool workspace; /* whose rule it is */
} world;

/* What the rule says: nothing; read is ours; read is somebody else's; the same for write. */
enum { NO_RULE, OUR_READ, THEIR_READ, OUR_WRITE, THEIR_WRITE, RULES };

/* The only globs and patterns of these tests. */
static bool lists(valise_list list, const char *what)
{
    const valise_str *p = list.items;

    for (size_t i = 0; i < list.count; i++) {
        if (vls_str_equal(p[i], valise_str_of(what)))
            return true;
    }
    return false;
}

static bool key_listed(valise_list list, valise_str key)
{
    return vls_str_starts(key, VLS_STR("al")) && lists(list, "al*");
}

static bool name_listed(valise_list list, valise_str name)
{
    return name.ptr && vls_str_starts(name, VLS_STR("sales.")) && lists(list, "sales.*");
}

static bool spec_allows_node(valise_list nodes)
{
    return !nodes.items || lists(nodes, "me");
}

static bool spec_rule(const world *w, const valise_commit *c, bool write)
{
    if (!lists(c->tags, "pii"))
        return true;
    return w->rule != (write ? THEIR_WRITE : THEIR_READ);
}

static bool spec_permissions(const world *w, valise_str key, bool write, valise_str name,
                             const valise_commit *item)
{
    const valise_permissions *p = &w->set;

    if (!w->any_set)
        return true;
    /* (1) a deny glob matches the key: denied. */
    if (key_listed(p->deny, key))
        return false;
    /* (2) No allow list at all in the set: allowed. */
    if (!p->read.items && !p->write.items && !p->namespace_read.items && !p->namespace_write.items)
        return true;
    /* (3) Read. */
    if (!write && (key_listed(p->read, key) || name_listed(p->namespace_read, name)))
        return true;
    /* (4) Write. */
    if (write && key_listed(p->write, key))
        return true;
    if (write && name_listed(p->namespace_write, name) &&
        (!item || name_listed(p->namespace_write, item->namespace_name)))
        return true;
    /* (5) Denied. */
    return false;
}

static bool spec_read(const world *w, valise_str key, const valise_commit *version,
                      const valise_commit *present)
{
    valise_str none = {NULL, 0};

    return spec_permissions(w, key, false, version ? version->namespace_name : none, NULL) &&
           (!version || (spec_allows_node(version->read) && spec_rule(w, version, false))) &&
           (!present || spec_allows_node(present->read));
}

static bool spec_write(const world *w, valise_str key, const valise_commit *present,
                       valise_str name)
{
    const valise_commit *item = present && present->action == VALISE_ACTION_PACK ? present : NULL;

    return spec_permissions(w, key, true, name, item) &&
           (!item || (spec_allows_node(item->write) && spec_rule(w, item, true)));
}

/* ---- all of it ---- */

/* Not given, given without a match, given with one. */
static valise_list list_of(unsigned state, const char *pattern)
{
    return state == 0 ? UNSAID : state == 1 ? NAMES("zzz") : NAMES("zzz", pattern);
}

static valise_commit commit_for(unsigned i)
{
    valise_commit c = {.key = VLS_STR("alpha"), .action = VALISE_ACTION_PACK};
    valise_list acl[] = {UNSAID, NAMES("me", "you"), NAMES("you")};

    c.read = acl[i % 3];
    c.write = acl[i / 3 % 3];
    c.tags = i / 9 % 2 ? NAMES("a", "pii") : UNSAID;
    c.namespace_name = i / 18 % 2 ? VLS_STR("sales.chat") : VLS_STR("hr.chat");
    if (i / 36 % 3 == 2)
        c.namespace_name = (valise_str){NULL, 0};
    return c;
}

static void check_reads(vls_scope *scope, const world *w)
{
    for (unsigned i = 0; i < 109; i++) {
        for (unsigned k = 0; k < 4; k++) {
            valise_commit version = commit_for(i), present = commit_for(k);
            const valise_commit *v = i < 108 ? &version : NULL, *p = k < 3 ? &present : NULL;
            valise_str key = i % 2 ? VLS_STR("alpha") : VLS_STR("beta");
            CHECK_INT(spec_read(w, key, v, p), vls_scope_may_read(scope, key, v, p));
        }
    }
}

static void check_writes(vls_scope *scope, const world *w)
{
    static const valise_str names[] = {{NULL, 0}, {"sales.chat", 10}, {"hr.chat", 7}};

    for (unsigned i = 0; i < 110; i++) {
        for (unsigned k = 0; k < 6; k++) {
            valise_commit present = commit_for(i);
            valise_str key = k % 2 ? VLS_STR("alpha") : VLS_STR("beta");
            if (i == 109) /* nothing, or only the trace of something */
                present.action = VALISE_ACTION_DELETE;
            const valise_commit *p = i == 108 ? NULL : &present;
            CHECK_INT(spec_write(w, key, p, names[k / 2]),
                      vls_scope_may_write(scope, key, p, names[k / 2]));
        }
    }
}

static void set_rule(test *t, bag *b, const world *w)
{
    static const valise_list none = {NULL, 0};
    bool ours = w->rule == OUR_READ || w->rule == OUR_WRITE;
    bool read = w->rule == OUR_READ || w->rule == THEIR_READ;
    valise_list nodes = ours ? NAMES("x", "me") : NAMES("x");
    vls_rule_row row = {
        .tag = VLS_STR("pii"), .read = read ? nodes : none, .write = read ? none : nodes};

    if (w->rule == NO_RULE)
        return;
    if (!w->workspace) {
        CHECK_OK(vls_bag_tag_rule(&b->ledger, row.tag, row.read, row.write, &b->arena, &t->err));
        return;
    }
    b->ledger.ops->enter(b->ledger.self);
    CHECK_OK(b->ledger.ops->row_put(b->ledger.self, &vls_bag_rules, &row, &t->err));
    b->ledger.ops->leave(b->ledger.self);
}

/* Every set of permissions by every rule. Registered and given with the node in turn. */
TEST(access, is_as_it_is_written)
{
    for (unsigned s = 0; s <= 243; s++) {
        for (int r = 0; r < RULES; r++) {
            VLS_AUTO(scope) vls_scope *scope = NULL;
            bag b;
            world w = {.rule = r, .workspace = (s + (unsigned)r) % 2, .any_set = s < 243};
            w.set = (valise_permissions){.read = list_of(s % 3, "al*"),
                                         .write = list_of(s / 3 % 3, "al*"),
                                         .deny = list_of(s / 9 % 3, "al*"),
                                         .namespace_read = list_of(s / 27 % 3, "sales.*"),
                                         .namespace_write = list_of(s / 81 % 3, "sales.*")};
            valise_node node = {.id = VLS_STR("me"),
                                .permissions = w.any_set && s % 2 ? &w.set : NULL};
            CHECK_OK(bag_init(&b, t->env, NULL, &t->err));
            if (w.any_set && s % 2 == 0)
                CHECK_OK(vls_bag_permit(&b.ledger, VLS_STR("me"), &w.set, &t->err));
            set_rule(t, &b, &w);
            CHECK_OK(vls_scope_new(&scope, t->env, &b.ledger, &node, &t->err));
            check_reads(scope, &w);
            check_writes(scope, &w);
            vls_scope_free(VLS_TAKE(scope));
            bag_release(&b);
        }
    }
}

/* ---- what is remembered ---- */

/* Verdicts are those of the key itself, however many keys there are and however long. */
TEST(access, remembered_verdicts_are_never_those_of_others)
{
    bag *b = bag_open(t, NULL);
    valise_permissions p = {
        .read = NAMES("*7", "x*3"), .deny = NAMES("*77"), .namespace_read = NAMES("n*5.*")};
    vls_scope *n = bag_node(t, b, "n", "", &p);

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20000; i++) {
            const char *key = test_format(i % 100 == 7 ? "%080d" : "%d", i);
            valise_commit c = {.namespace_name = valise_str_of(test_format("n%d.x", i))};
            bool expected = i % 100 != 77 && (i % 10 == 7 || (i % 10 == 5 && i > 5));
            CHECK_INT(expected, vls_scope_may_read(n, valise_str_of(key), &c, &c));
        }
    }
}

/* New permissions and rules hold from the next call on. */
TEST(access, changes_hold_at_once)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);

    CHECK_OK(put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
    CHECK_TEXT("1", get(b, n, "k"));
    CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("n"), &(valise_permissions){.deny = NAMES("k")},
                            &t->err));
    CHECK_TEXT("(denied)", get(b, n, "k"));
    CHECK_TEXT("", items(b, &b->ledger, n, NULL));
    CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("n"), NULL, &t->err));
    CHECK_TEXT("1", get(b, n, "k"));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("x"), UNSAID, &b->arena, &t->err));
    CHECK_TEXT("(denied)", get(b, n, "k"));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), UNSAID, UNSAID, &b->arena, &t->err));
    CHECK_TEXT("1", get(b, n, "k"));
}

/* A ledger of a thread that is slow: while it reads the rules, another one changes the permissions
 * and looks; when it comes back, may the node still read what it may not? */
static struct slow {
    const vls_ledger *ledger;
    vls_scope *scope;
    bool changed, allowed;
} slow;

static void enter_slowly(void *self)
{
    static const valise_commit item = {.key = {"k", 1}};

    slow.allowed |= slow.changed && vls_scope_may_read(slow.scope, VLS_STR("k"), &item, &item);
    slow.ledger->ops->enter(self);
}

static int read_slowly(void *self, const valise_coll *coll,
                       int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                       valise_error *err)
{
    vls_ledger_head head;
    int rc = slow.ledger->ops->each_row(self, coll, fn, arg, err);

    if (slow.changed || rc < 0)
        return rc;
    rc = vls_bag_permit(slow.ledger, VLS_STR("n"), &(valise_permissions){.deny = NAMES("k")}, err);
    if (rc == 0)
        rc = vls_scope_enter(&head, slow.scope, slow.ledger, err);
    if (rc == 0)
        vls_scope_leave(slow.ledger);
    slow.changed = true;
    return rc;
}

TEST(access, who_was_slow_brings_no_old_permissions_back) /* [B31] */
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    vls_ledger_ops ops = *b->ledger.ops;
    vls_ledger ledger = b->ledger;
    vls_ledger_head head;

    ops.enter = enter_slowly;
    ops.each_row = read_slowly;
    ledger.ops = &ops;
    slow = (struct slow){.ledger = &b->ledger, .scope = n};
    CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("n"), &(valise_permissions){.read = NAMES("k")},
                            &t->err));
    CHECK_OK(vls_scope_enter(&head, n, &ledger, &t->err));
    vls_scope_leave(&ledger);
    CHECK(slow.changed);
    CHECK(!slow.allowed);
    CHECK(!vls_scope_may_read(n, VLS_STR("k"), NULL, NULL));
}

/* Patterns are checked when they are set. [B23] */
TEST(access, patterns_are_checked_when_set)
{
    bag *b = bag_open(t, NULL);
    vls_scope *scope = NULL;
    valise_permissions bad = {.read = NAMES("ok"), .namespace_read = NAMES("a.*", "a..b")};
    valise_permissions empty = {.deny = NAMES("")};
    valise_permissions many = {.write = {names_of((const char *const[]){"a", NULL}).items, 1001}};
    valise_node node = {.id = VLS_STR("n"), .permissions = &bad};

    CHECK_RC(VALISE_E_INVALID, vls_bag_permit(&b->ledger, VLS_STR("n"), &bad, &t->err));
    CHECK_TEXT("namespaceRead[1]", t->err.path);
    CHECK_RC(VALISE_E_INVALID, vls_bag_permit(&b->ledger, VLS_STR("n"), &empty, &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_bag_permit(&b->ledger, VLS_STR("n"), &many, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_scope_new(&scope, t->env, &b->ledger, &node, &t->err));
    node = (valise_node){.id = VLS_STR("")};
    CHECK_RC(VALISE_E_INVALID, vls_scope_new(&scope, t->env, &b->ledger, &node, &t->err));
    node = (valise_node){.id = VLS_STR("n"), .namespace_name = VLS_STR("a.*")};
    CHECK_RC(VALISE_E_INVALID, vls_scope_new(&scope, t->env, &b->ledger, &node, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_bag_permit(&b->ledger, VLS_STR(""), NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("a\n"), UNSAID,
                                                &b->arena, &t->err));
    CHECK_RC(VALISE_E_LIMIT,
             vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), UNSAID,
                              (valise_list){many.write.items, 1001}, &b->arena, &t->err));
    CHECK(scope == NULL);
}

/* ---- old versions ---- */

/* Today's permissions and rules, the lists and tags of then, and the list of now. [B19] */
TEST(access, old_versions)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    vls_ledger one, two;

    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_OK(put_with(b, b->owner, "k", "2", (vls_pack_args){PACK_ARGS, .read = NAMES("x")}));
    CHECK_OK(put_with(b, b->owner, "k", "3", (vls_pack_args){PACK_ARGS, .read = NOBODY}));
    one = at(t, b, "1");
    two = at(t, b, "2");
    CHECK_TEXT("k=1", items(b, &one, n, NULL));
    CHECK_TEXT("", items(b, &two, n, NULL));
    CHECK_TEXT("1 pack k v1 by unknown; 3 pack k v3 by unknown", all_history(b, n));
    CHECK_TEXT("3 pack k v3 by unknown; 1 pack k v1 by unknown", blamed(b, n, "k"));
    CHECK_TEXT("~k=1>3 by unknown@3", diff(b, &one, &b->ledger, n));
    CHECK_TEXT("+k=3 by unknown@3", diff(b, &two, &b->ledger, n));
    /* The list of now holds for what was open then. */
    CHECK_OK(put_with(b, b->owner, "k", "4", (vls_pack_args){PACK_ARGS, .read = NAMES("x")}));
    CHECK_TEXT("", items(b, &one, n, NULL));
    CHECK_TEXT("", all_history(b, n));
    /* Also when the item is gone. */
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_TEXT("", items(b, &one, n, NULL));
    CHECK_TEXT("", all_history(b, n));
    CHECK_TEXT("(not found)", blamed(b, n, "k"));
}

/* A tag that is there no longer still guards what had it. [B19] */
TEST(access, old_tags)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);

    CHECK_OK(put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
    CHECK_OK(put_with(b, b->owner, "k", "2", (vls_pack_args){PACK_ARGS, .tags = NOBODY}));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("x"), UNSAID, &b->arena, &t->err));
    CHECK_TEXT("2", get(b, n, "k"));
    CHECK_TEXT("2 pack k v2 by unknown", all_history(b, n));
}

/* ---- two backpacks ---- */

enum { OPEN, DENIED, LISTED, RULED, MODES };

/* A backpack with one item, kept from n in one of the ways, or not. */
static bag *kept(test *t, int mode, const char *json)
{
    naive_options options = {.id = {{(uint8_t)(10 + mode), (uint8_t)json[0]}},
                             .name = VLS_STR("b")};
    bag *b = bag_open(t, &options);

    CHECK_OK(put_with(b, b->owner, "k", json,
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("t"),
                                      .read = mode == LISTED ? NAMES("x") : UNSAID}));
    if (mode == DENIED)
        CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("n"), &(valise_permissions){.deny = NAMES("k")},
                                &t->err));
    if (mode == RULED)
        CHECK_OK(
            vls_bag_tag_rule(&b->ledger, VLS_STR("t"), NAMES("x"), UNSAID, &b->arena, &t->err));
    return b;
}

/* A difference never shows what `get` on that side denies, whatever the other side says. */
TEST(access, each_side_of_a_difference_has_its_own_rights) /* [B31] */
{
    for (int i = 0; i < MODES * MODES; i++) {
        bag *a = kept(t, i / MODES, "7"), *b = kept(t, i % MODES, "8");
        vls_scope *in_a = bag_node(t, a, "n", "", NULL), *in_b = bag_node(t, b, "n", "", NULL);
        bool sees_a = strcmp(get(a, in_a, "k"), "7") == 0,
             sees_b = strcmp(get(b, in_b, "k"), "8") == 0;
        const char *shown =
            diff_of(&(vls_scoped){&a->ledger, in_a}, &(vls_scoped){&b->ledger, in_b}, &t->err);
        test_context("%d, %d", i / MODES, i % MODES);
        CHECK_INT(i / MODES == OPEN, sees_a);
        CHECK_INT(i % MODES == OPEN, sees_b);
        CHECK_INT(sees_a, strchr(shown, '7') != NULL);
        CHECK_INT(sees_b, strstr(shown, sees_a ? ">8" : "=8") != NULL);
        if (!sees_a && !sees_b)
            CHECK_TEXT("", shown);
    }
}

static int note_previous(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    if (commit->version == 2)
        *(valise_id *)arg = commit->previous_value;
    return 0;
}

static int note_item(void *arg, const valise_item *item, valise_error *err)
{
    return note_previous(arg, item->commit, err);
}

static int note_change(void *arg, const valise_change *change, valise_error *err)
{
    (void)note_previous(arg, change->by, err);
    return note_previous(arg, change->after, err);
}

/* The hash of the value before, by every way to see a commit; all of them must agree. */
static const char *previous_of(test *t, bag *b, vls_scope *scope)
{
    enum { WAYS = 6 };
    const valise_str all = {NULL, 0}, key = VLS_STR("k");
    valise_history filter = VALISE_HISTORY_INIT;
    vls_ledger one = at(t, b, "1");
    valise_commit commit = {0};
    valise_id found[WAYS];
    vls_look look = {.arena = &b->arena, .commit = &commit};
    valise_blob *value = NULL;

    memset(found, 0xee, sizeof(found));
    CHECK_OK(vls_bag_history(&b->ledger, scope, &filter, note_previous, &found[0], &t->err));
    CHECK_OK(vls_bag_blame(&b->ledger, scope, key, 1, note_previous, &found[1], &t->err));
    CHECK_OK(vls_bag_each(&b->ledger, scope, all, true, note_item, &found[2], &t->err));
    CHECK_OK(vls_bag_diff(&(vls_scoped){&one, scope}, &(vls_scoped){&b->ledger, scope}, false,
                          note_change, &found[3], &t->err));
    CHECK_OK(vls_bag_commit(&commit, &b->ledger, scope, 2, &b->arena, &t->err));
    found[4] = commit.previous_value;
    CHECK_INT(1, vls_bag_get(&value, &b->ledger, scope, key, &look, &t->err));
    found[5] = commit.previous_value;
    valise_blob_unref(value);
    for (int i = 1; i < WAYS; i++) {
        test_context("way %d", i);
        CHECK(vls_id_equal(&found[0], &found[i]));
    }
    return test_format("%s", vls_id_hex(&found[0]).s);
}

/* A hash of what may not be read says which guess at it is right. */
TEST(access, the_hash_of_what_was_before_is_part_of_it)
{
    static const valise_id none;
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    valise_commit first;
    const char *hex;

    CHECK_OK(put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
    first = commit_of(t, b, 1);
    hex = test_format("%s", vls_id_hex(&first.value).s);
    CHECK_OK(put_with(b, b->owner, "k", "2", (vls_pack_args){PACK_ARGS, .tags = NOBODY}));
    CHECK_TEXT(hex, previous_of(t, b, n));
    CHECK(strstr(exported(b, &b->ledger, n, -1), hex));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("x"), UNSAID, &b->arena, &t->err));
    CHECK_TEXT(vls_id_hex(&none).s, previous_of(t, b, n));
    CHECK(!strstr(exported(b, &b->ledger, n, -1), hex));
    CHECK_TEXT(hex, previous_of(t, b, b->owner));
}

/* Who may neither read nor write a key learns no version of it, nor whether it is there. */
TEST(access, a_version_is_for_who_may_write)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n =
        bag_node(t, b, "n", "", &(valise_permissions){.read = NAMES("r"), .write = NAMES("w")});
    int64_t version = 0;

    CHECK_OK(put(b, b->owner, "r", "1"));
    CHECK_OK(put(b, b->owner, "w", "1"));
    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_INT(1, vls_bag_version(&version, &b->ledger, n, VLS_STR("r"), &t->err));
    CHECK_INT(1, vls_bag_version(&version, &b->ledger, n, VLS_STR("w"), &t->err));
    CHECK_RC(VALISE_E_DENIED, vls_bag_version(&version, &b->ledger, n, VLS_STR("k"), &t->err));
    CHECK_RC(VALISE_E_DENIED, vls_bag_version(&version, &b->ledger, n, VLS_STR("zz"), &t->err));
    CHECK_INT(1, vls_bag_version(&version, &b->ledger, b->owner, VLS_STR("k"), &t->err));
    CHECK_INT(0, vls_bag_version(&version, &b->ledger, b->owner, VLS_STR("zz"), &t->err));
}

/* What cannot be changed says so. */
TEST(access, snapshots_cannot_be_changed)
{
    bag *b = bag_open(t, NULL);
    vls_ledger live = b->ledger;

    CHECK_OK(put(b, b->owner, "k", "1"));
    b->ledger = at(t, b, "now");
    CHECK_RC(VALISE_E_INVALID, put(b, b->owner, "k", "2"));
    CHECK_RC(VALISE_E_INVALID, drop(b, b->owner, "k"));
    CHECK_RC(VALISE_E_INVALID, vls_bag_permit(&b->ledger, VLS_STR("n"), NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("c"), VLS_STR("a"), 1, &t->err));
    b->ledger = live;
}
