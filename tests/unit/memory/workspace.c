/* workspace.c -- the collections of a workspace, and what it is called. [W18] */
#include "memory/kit.h"

#include "bus/bus.h"

TEST_PARAMS(workspace, "memory", "sqlite")

TEST(workspace, has_the_collections_of_the_specification)
{
    static const struct {
        const char *name, *key[3];
    } wanted[] = {
        {"workspace", {"id"}},        {"role", {"name"}},  {"preference", {"id"}},
        {"context", {"key"}},         {"session", {"id"}}, {"turn", {"id", "version"}},
        {"blob_records", {"sha256"}},
    };
    den *d = den_open(t);

    for (size_t i = 0; i < VLS_COUNT(wanted); i++) {
        const vls_coll *coll = vls_store_coll_named(d->v->store, valise_str_of(wanted[i].name));
        size_t keys = 0;
        CHECK_MSG(coll, "%s", wanted[i].name);
        for (; wanted[i].key[keys]; keys++)
            CHECK_TEXT(wanted[i].key[keys], coll->desc->fields[keys].name);
        CHECK_INT(keys, coll->key_count);
    }
}

TEST(workspace, knows_its_id_and_what_it_is_called)
{
    den *d = den_open(t);
    const char *status = den_run(d, "workspace:status", "{}");
    const char *id = den_member(status, "workspace"), *row;
    int64_t seq;

    CHECK(!strstr(status, "\"label\""));
    row = den_run(d, "workspace:show", test_format("{\"target\":\"workspace/%s\"}", id));
    CHECK(strstr(row, "\"created\":"));
    CHECK(strstr(row, "\"actor\":\"local\""));
    CHECK_TEXT(test_format("{\"id\":\"%s\"}", id),
               den_run(d, "workspace:update", "{\"label\":\"Mine\",\"metadata\":{\"a\":1}}"));
    status = den_run(d, "workspace:status", "{}");
    CHECK_TEXT("Mine", den_member(status, "label"));
    CHECK(strstr(status, "\"metadata\":{\"a\":1}"));
    seq = den_seq(d);
    (void)den_run(d, "workspace:update", "{\"label\":\"Mine\"}");
    CHECK_INT(seq, den_seq(d));
    (void)den_run(d, "workspace:update", "{\"unset\":[\"label\",\"metadata\"]}");
    CHECK(!strstr(den_run(d, "workspace:status", "{}"), "\"label\""));
    CHECK_TEXT("Mine", den_member(den_at(d, "workspace:status", "{}", "2"), "label"));
    den_refused(d, VALISE_E_INVALID, "label", "workspace:update", "{\"label\":\"\"}");
    den_check(d);
    (void)den_run(d, "agent:add", "{\"id\":\"eve\",\"role\":\"reader\"}");
    CHECK_RC(VALISE_E_DENIED, den_try_as(d, "eve", "workspace:update", "{\"label\":\"x\"}"));
}
