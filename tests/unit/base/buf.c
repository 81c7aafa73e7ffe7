/* buf.c -- the capped buffer. */
#include "harness/test.h"

#include "base/buf.h"

TEST(buf, refuses_what_is_over_its_maximum)
{
    VLS_AUTO(buf) vls_buf buf;

    vls_buf_init(&buf, t->env, 4);
    vls_buf_add(&buf, VLS_STR("hell"));
    CHECK_OK(vls_buf_check(&buf, &t->err));
    vls_buf_add(&buf, VLS_STR("o"));
    CHECK_RC(VALISE_E_TOO_LARGE, vls_buf_check(&buf, &t->err));
}
