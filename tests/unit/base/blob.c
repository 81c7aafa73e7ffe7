/* blob.c -- shared immutable bytes. */
#include "base/blob.h"

#include "harness/counting_env.h"
#include "harness/test.h"

TEST(blob, new_copies)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    char text[] = "some\0bytes";

    CHECK_OK(vls_blob_new(&blob, t->env, (valise_str){text, 10}, &t->err));
    text[0] = 'x';
    CHECK_STR(((valise_str){"some\0bytes", 10}), vls_blob_bytes(blob));
    CHECK_INT(sizeof(valise_blob) + 10 + 1, test_bytes_in_use(t)); /* one block, and its NUL */
}

TEST(blob, empty)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(blob) valise_blob *draft = NULL;

    CHECK_OK(vls_blob_new(&blob, t->env, (valise_str){NULL, 0}, &t->err));
    CHECK_INT(0, vls_blob_bytes(blob).len);
    CHECK_OK(vls_blob_new_draft(&draft, t->env, 0, &t->err));
    vls_blob_seal(draft);
    CHECK_INT(0, vls_blob_bytes(draft).len);
}

TEST(blob, lives_as_long_as_a_reference)
{
    valise_blob *blob = NULL;

    CHECK_OK(vls_blob_new(&blob, t->env, VLS_STR("abc"), &t->err));
    valise_blob *other = valise_blob_ref(blob);
    CHECK(other == blob);
    CHECK(!valise_blob_unref(blob));
    CHECK_STR(VLS_STR("abc"), vls_blob_bytes(other));
    CHECK(valise_blob_bytes(other).ptr == vls_blob_bytes(other).ptr);
    CHECK_INT(3, valise_blob_bytes(other).len);
    CHECK(!valise_blob_unref(other));
    CHECK(!valise_blob_unref(NULL));
    CHECK_INT(0, test_bytes_in_use(t));
}

TEST(blob, draft_is_filled_and_sealed)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(blob) valise_blob *given_up = NULL;

    CHECK_OK(vls_blob_new_draft(&blob, t->env, 1000, &t->err));
    memset(vls_blob_draft(blob), 'q', 1000);
    vls_blob_seal(blob);
    CHECK_INT(1000, vls_blob_bytes(blob).len);
    CHECK(vls_blob_bytes(blob).ptr[999] == 'q');
    CHECK_OK(vls_blob_new_draft(&given_up, t->env, 1000, &t->err));
}

/* What hosts print with "%s", and hand to whoever wants C strings. */
TEST(blob, a_nul_stands_behind_the_bytes)
{
    VLS_AUTO(blob) valise_blob *blob = NULL, *empty = NULL, *draft = NULL;

    CHECK_OK(vls_blob_new(&blob, t->env, VLS_STR("abc"), &t->err));
    CHECK_OK(vls_blob_new(&empty, t->env, (valise_str){NULL, 0}, &t->err));
    CHECK_OK(vls_blob_new_draft(&draft, t->env, 64, &t->err));
    memset(vls_blob_draft(draft), 'q', 64);
    vls_blob_seal(draft);
    CHECK_TEXT("abc", valise_blob_text(blob));
    CHECK_TEXT("", valise_blob_text(empty));
    CHECK_INT(64, strlen(valise_blob_text(draft)));
    CHECK(valise_blob_text(blob) == valise_blob_bytes(blob).ptr);
    CHECK_TEXT("", valise_blob_text(NULL)); /* of a value that was not there */
    CHECK_INT(0, valise_blob_bytes(NULL).len);
}

TEST(blob, out_of_memory)
{
    valise_blob *blob = NULL;
    counting_env c;

    counting_env_init(&c);
    counting_env_fail_at(&c, 0);
    CHECK_RC(VALISE_E_NO_MEMORY, vls_blob_new(&blob, &c.env, VLS_STR("abc"), &t->err));
    counting_env_fail_at(&c, 0);
    CHECK_RC(VALISE_E_NO_MEMORY, vls_blob_new_draft(&blob, &c.env, 7, &t->err));
    CHECK_RC(VALISE_E_NO_MEMORY, vls_blob_new_draft(&blob, &c.env, SIZE_MAX, &t->err));
    CHECK_RC(VALISE_E_NO_MEMORY,
             vls_blob_new_draft(&blob, &c.env, SIZE_MAX - sizeof(valise_blob) + 1, &t->err));
    CHECK_RC(VALISE_E_NO_MEMORY, vls_blob_new_draft(&blob, &c.env, SIZE_MAX, NULL));
    CHECK(!blob);
    CHECK_INT(0, counting_env_in_use(&c));
}
