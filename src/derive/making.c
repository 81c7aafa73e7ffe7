/* making.c -- what a policy can do: valise/sys/policy.h. */
#include "derive/making.h"

#include "base/text.h"

size_t valise_making_count(const valise_making *making)
{
    return making ? making->count : 0;
}

const valise_policy_input *valise_making_input(const valise_making *making, size_t i)
{
    return making && i < making->count ? &making->inputs[i] : NULL;
}

int valise_making_content(valise_str *out, valise_making *making, size_t i, valise_error *err)
{
    valise_str content = {NULL, 0};
    int rc;

    VLS_ARG(out && making && i < making->count, err);
    rc = making->content(&content, making->self, i, err);
    if (rc < 0)
        return rc;
    /* Policies decide by sizes before they read: both must tell the same. */
    if (making->inputs[i].size < 0 || (uint64_t)making->inputs[i].size != content.len)
        return vls_fail(err, VALISE_E_CORRUPT, "the content of %s has %zu bytes, not %lld",
                        vls_text_short(making->inputs[i].name).s, content.len,
                        (long long)making->inputs[i].size);
    *out = content;
    return 0;
}

bool valise_making_is_empty(const valise_making *making)
{
    return making && making->is_empty;
}

int valise_making_write(valise_making *making, valise_str bytes, valise_error *err)
{
    VLS_ARG(making && (bytes.ptr || bytes.len == 0), err);
    vls_buf_add(making->out, bytes);
    if (making->out->failed == VALISE_E_TOO_LARGE)
        return vls_fail(err, VALISE_E_TOO_LARGE, "the policy wrote more than %zu bytes",
                        making->out->max);
    return vls_buf_check(making->out, err);
}

int valise_making_alloc(void **out, valise_making *making, size_t size, valise_error *err)
{
    void *room;

    VLS_ARG(out && making && size > 0, err);
    room = vls_arena_alloc(making->arena, size);
    if (!room)
        return vls_arena_fail(making->arena, err);
    *out = room;
    return 0;
}
