/* fuzz_glob.c -- patterns: the first byte says the rules, and where the pattern ends and the text
 * begins. A pattern without stars matches itself and nothing else; ** matches everything. [B23] */
#include "base/glob.h"

#include "base/str.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const vls_glob_rules *const all[] = {&vls_glob_flat, &vls_glob_path, &vls_glob_dotted,
                                                &vls_glob_colons};

    if (size < 1 || size > 4096)
        return 0;
    const vls_glob_rules *rules = all[data[0] % VLS_COUNT(all)];
    valise_str rest = vls_str(data + 1, size - 1);
    valise_str pattern = vls_str_head(rest, data[0] / VLS_COUNT(all));
    valise_str text = vls_str_from(rest, pattern.len);
    bool valid = vls_glob_check(rules, pattern, NULL) == 0;
    bool match = vls_glob_match(rules, pattern, text);
    bool literal = vls_str_find_byte(pattern, '*') == pattern.len;

    FUZZ_CHECK(!valid || !literal || text.len == 0 || match == vls_str_equal(pattern, text));
    FUZZ_CHECK(text.len == 0 || vls_glob_match(rules, VLS_STR("**"), text));
    if (text.len > 0 && vls_str_find_byte(text, '*') == text.len)
        FUZZ_CHECK(vls_glob_match(rules, text, text));
    return 0;
}
