/* retry.c -- try again where that is of use: when, how often, after how long. */
#include <inttypes.h>
#include <poll.h>

#include "client/inside.h"

#define FIRST_WAIT_NS (INT64_C(500) * 1000000)
#define LAST_WAIT_NS (INT64_C(16) * 1000000000) /* of those that nobody asked for */

int64_t vls_retry_wait_ns(const valise_env *env, int64_t attempt, int64_t asked_ns)
{
    int64_t wait = FIRST_WAIT_NS;
    uint32_t chance = 0;

    if (env->random(env->self, &chance, sizeof(chance)) < 0)
        chance = UINT32_MAX / 2;
    for (int64_t i = 1; i < attempt && wait < LAST_WAIT_NS; i++)
        wait *= 2;
    wait = VLS_MIN(wait, LAST_WAIT_NS);
    /* From three quarters of it to all of it; what was asked for, and up to a quarter second more:
     * those who were sent away together do not come back together. */
    if (asked_ns == VALISE_NONE)
        return wait - (int64_t)((double)wait * 0.25 * chance / UINT32_MAX);
    if (asked_ns == 0)
        return 0;
    return asked_ns + (int64_t)(250e6 * chance / UINT32_MAX);
}

static bool is_cancelled(const vls_trying *trying)
{
    const vls_sending *sending = trying->sending;

    return sending->cancelled && sending->cancelled(sending->arg);
}

static int wait_for(const vls_trying *trying, int64_t wait_ns, valise_error *err)
{
    const valise_env *env = trying->client->env;
    int64_t until = env->ticks_ns(env->self) + wait_ns, left = wait_ns;

    while (left > 0) {
        int64_t ms = VLS_MIN(left / 1000000 + 1, VLS_CLIENT_LOOK_MS);
        if (is_cancelled(trying))
            return vls_fail(err, VALISE_E_CANCELLED, "cancelled while waiting to try again");
        (void)poll(NULL, 0, (int)ms);
        left = until - env->ticks_ns(env->self);
    }
    return 0;
}

/* Whether to wait, and how long. What comes later than the end, or than anybody wants to wait for,
 * is told at once. */
static bool is_worth_it(int64_t *wait_ns, const vls_trying *trying, int64_t attempt,
                        valise_error *why)
{
    const valise_env *env = trying->client->env;
    int64_t retries = trying->client->provider.retries;

    if (!trying->again || attempt > retries)
        return false;
    *wait_ns = vls_retry_wait_ns(env, attempt, trying->wait_ns);
    if (*wait_ns <= VLS_CLIENT_MAX_WAIT_NS &&
        *wait_ns < trying->deadline_ns - env->ticks_ns(env->self))
        return true;
    vls_hint(why, "try again in %" PRId64 " seconds", *wait_ns / 1000000000 + 1);
    return false;
}

int vls_retry_send(vls_trying *trying, valise_error *err)
{
    const vls_sending *sending = trying->sending;
    valise_error why;

    for (int64_t attempt = 1;; attempt++) {
        int64_t wait_ns = 0;
        int rc;
        why = (valise_error)VALISE_ERROR_INIT;
        trying->again = false;
        trying->wait_ns = VALISE_NONE;
        if (is_cancelled(trying))
            return vls_fail(err, VALISE_E_CANCELLED, "cancelled before anything was sent");
        rc = trying->client->try_once(trying, &why);
        if (rc == 0)
            return 0;
        vls_key_hide_error(&why, trying->key);
        if (!is_worth_it(&wait_ns, trying, attempt, &why)) {
            if (err)
                *err = why;
            return rc;
        }
        if (sending->on_retry)
            sending->on_retry(sending->arg, attempt, wait_ns, &why);
        rc = wait_for(trying, wait_ns, err);
        if (rc < 0)
            return rc;
    }
}
