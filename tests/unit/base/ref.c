/* ref.c -- the reference count. What it promises between threads is tested in pmap_threads.c. */
#include "base/ref.h"

#include "harness/test.h"

TEST(ref, last_put_says_so)
{
    vls_ref ref;

    vls_ref_init(&ref);
    CHECK(vls_ref_single(&ref));
    vls_ref_get(&ref);
    vls_ref_get(&ref);
    CHECK(!vls_ref_single(&ref));
    CHECK(!vls_ref_put(&ref));
    CHECK(!vls_ref_single(&ref));
    CHECK(!vls_ref_put(&ref));
    CHECK(vls_ref_single(&ref));
    CHECK(vls_ref_put(&ref));
}
