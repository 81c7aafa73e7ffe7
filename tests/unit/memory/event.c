/* event.c -- what is heard of roles, preferences and context entries. [W12] [W13] [K15] */
#include "memory/kit.h"

TEST_PARAMS(event, "memory", "sqlite")

#define ID "01a1e410-7146-7261-a0e0-7f52ef793de6"

static void heard(den *d, const char *type, const char *payload, int times)
{
    const char *all = den_run(d, "event:list", "{\"limit\":1000}");

    CHECK_MSG(den_times(all, test_format("\"type\":\"%s\"", type)) == times, "%s in %s", type, all);
    CHECK_MSG(times == 0 || strstr(all, payload), "no '%s' in %s", payload, all);
    CHECK_MSG(!strstr(all, "quiet words"), "contents in %s", all);
}

TEST(event, roles)
{
    den *d = den_open(t);

    (void)den_run(d, "role:add", "{\"name\":\"r\",\"persona\":\"quiet words\"}");
    heard(d, "role.added", "{\"name\":\"r\",\"version\":1}", 1);
    (void)den_run(d, "role:update", "{\"name\":\"r\",\"label\":\"quiet words\"}");
    heard(d, "role.updated", "{\"name\":\"r\",\"version\":2}", 1);
    (void)den_run(d, "workspace:erase", "{\"place\":\"role_version/r/1\"}");
    heard(d, "role.erased", "{\"name\":\"r\",\"version\":1}", 1);
    (void)den_run(d, "role:delete", "{\"name\":\"r\"}");
    heard(d, "role.removed", "{\"name\":\"r\",\"version\":2}", 1);
    heard(d, "role.added", "{\"name\":\"r\",\"version\":1}", 1);
}

TEST(event, preferences)
{
    den *d = den_open(t);

    (void)den_run(d, "preference:add",
                  "{\"id\":\"" ID "\",\"content\":\"quiet words\",\"slot\":\"tone\"}");
    heard(d, "preference.added", "\"scope\":\"workspace\",\"slot\":\"tone\",\"version\":1", 1);
    (void)den_run(d, "preference:update", "{\"id\":\"" ID "\",\"priority\":7}");
    (void)den_run(d, "preference:update", "{\"id\":\"" ID "\",\"priority\":8}");
    heard(d, "preference.updated", "\"priority\":7", 2);
    (void)den_run(d, "workspace:erase", "{\"place\":\"preference/" ID "\"}");
    heard(d, "preference.erased", ID, 1);
    heard(d, "preference.updated", "\"priority\":7", 2); /* it is still told as what it was */
    (void)den_run(d, "preference:delete", "{\"id\":\"" ID "\"}");
    heard(d, "preference.removed", ID, 1);
}

TEST(event, entries)
{
    den *d = den_open(t);

    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"quiet words\"}");
    heard(d, "context.added", "\"key\":\"k\",\"type\":\"text\",\"version\":1", 1);
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"value\":{\"a\":\"quiet words\"}}");
    heard(d, "context.updated", "\"key\":\"k\",\"type\":\"json\",\"version\":2", 1);
    (void)den_run(d, "workspace:erase", "{\"place\":\"context/k\"}");
    heard(d, "context.erased", "\"key\":\"k\"", 1);
    (void)den_run(d, "context:delete", "{\"key\":\"k\"}");
    heard(d, "context.removed", "\"key\":\"k\"", 1);
    heard(d, "context.updated", "", 1);
}
