/* speak.c -- runs policies on what it reads, for reference.py, which does the same by the book.
 *
 *     case:    policy (1 byte, its place in vls_policies) | budget | count | inputs
 *     input:   kind (1 byte, 1: directory) | name | type | agent | content
 *     answer:  frame
 *
 * Numbers have 4 bytes, the highest first; strings are their length and their bytes. */
#include "base/buf.h"
#include "base/str.h"
#include "derive/making.h"
#include "derive/policy.h"

#define INPUTS_MAX 4096u
#define TEXT_MAX ((size_t)1 << 26)

typedef struct inputs {
    valise_policy_input list[INPUTS_MAX];
    valise_str contents[INPUTS_MAX];
} inputs;

static int content(valise_str *out, void *self, size_t i, valise_error *err)
{
    const inputs *in = self;

    (void)err;
    *out = in->contents[i];
    return 0;
}

static bool read_number(uint32_t *out)
{
    uint8_t bytes[4];

    if (fread(bytes, 1, sizeof(bytes), stdin) != sizeof(bytes))
        return false;
    *out = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    return true;
}

static bool read_string(valise_str *out, vls_arena *arena)
{
    uint32_t len;
    char *room = read_number(&len) && len < TEXT_MAX ? vls_arena_alloc(arena, len + 1u) : NULL;

    if (!room || fread(room, 1, len, stdin) != len)
        return false;
    *out = vls_str(room, len);
    return true;
}

static bool read_input(valise_policy_input *out, valise_str *text, vls_arena *arena)
{
    int kind = getchar();

    *out = (valise_policy_input){.directory = kind == 1};
    if (kind == EOF || !read_string(&out->name, arena) || !read_string(&out->type, arena) ||
        !read_string(&out->agent, arena) || !read_string(text, arena))
        return false;
    out->size = (int64_t)text->len;
    return true;
}

static bool answer(const valise_policy *policy, inputs *in, vls_arena *arena)
{
    VLS_AUTO(buf) vls_buf out = {0};
    vls_policy_params params;
    valise_making making = {.inputs = in->list, .content = content, .self = in, .arena = arena};
    uint32_t budget, count;

    if (!read_number(&budget) || !read_number(&count) || count > INPUTS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_input(&in->list[i], &in->contents[i], arena))
            return false;
    }
    vls_buf_init(&out, valise_env_default(), TEXT_MAX);
    params.budget = budget;
    making.count = count;
    making.out = &out;
    if (policy->make(&making, &params, NULL) < 0)
        return false;
    for (int shift = 24; shift >= 0; shift -= 8)
        (void)putchar((int)(out.len >> shift & 255));
    return fwrite(out.ptr, 1, out.len, stdout) == out.len;
}

int main(void)
{
    static inputs in;
    int which;

    while ((which = getchar()) != EOF) {
        VLS_AUTO(arena) vls_arena arena = {0};
        vls_arena_init(&arena, valise_env_default(), (size_t)1 << 30);
        if (which > 2 || !answer(vls_policies[which], &in, &arena))
            return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
