/* schema_uri.c -- URI references, mostly the examples of RFC 3986, 5.4. */
#include "harness/test.h"

#include "json/schema_impl.h"

TEST(schema_uri, references_resolve_as_rfc_3986_says)
{
    static const struct {
        const char *base, *reference, *result;
    } cases[] = {
        {"http://a/b/c/d;p?q", "g:h", "g:h"},
        {"http://a/b/c/d;p?q", "g", "http://a/b/c/g"},
        {"http://a/b/c/d;p?q", "./g", "http://a/b/c/g"},
        {"http://a/b/c/d;p?q", "g/", "http://a/b/c/g/"},
        {"http://a/b/c/d;p?q", "/g", "http://a/g"},
        {"http://a/b/c/d;p?q", "//g", "http://g"},
        {"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"},
        {"http://a/b/c/d;p?q", "g?y", "http://a/b/c/g?y"},
        {"http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q"},
        {"http://a/b/c/d;p?q", "g?y#s", "http://a/b/c/g?y"},
        {"http://a/b/c/d;p?q", ";x", "http://a/b/c/;x"},
        {"http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q"},
        {"http://a/b/c/d;p?q", ".", "http://a/b/c/"},
        {"http://a/b/c/d;p?q", "./", "http://a/b/c/"},
        {"http://a/b/c/d;p?q", "..", "http://a/b/"},
        {"http://a/b/c/d;p?q", "../g", "http://a/b/g"},
        {"http://a/b/c/d;p?q", "../..", "http://a/"},
        {"http://a/b/c/d;p?q", "../../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "../../../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "../../../../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "/./g", "http://a/g"},
        {"http://a/b/c/d;p?q", "/../g", "http://a/g"},
        {"http://a/b/c/d;p?q", "g.", "http://a/b/c/g."},
        {"http://a/b/c/d;p?q", "..g", "http://a/b/c/..g"},
        {"http://a/b/c/d;p?q", "./../g", "http://a/b/g"},
        {"http://a/b/c/d;p?q", "./g/.", "http://a/b/c/g/"},
        {"http://a/b/c/d;p?q", "g/./h", "http://a/b/c/g/h"},
        {"http://a/b/c/d;p?q", "g/../h", "http://a/b/c/h"},
        {"http://a/b/c/d;p?q", "g;x=1/../y", "http://a/b/c/y"},
        {"http://a/b/c/d;p?q", "g?y/../x", "http://a/b/c/g?y/../x"},
        {"http://a", "b", "http://a/b"},
        {"http://a?q", "b", "http://a/b"},
        {"", "b.json", "b.json"},
        {"", "", ""},
        {"a/b.json", "c.json", "a/c.json"},
        {"a/b.json", "../c.json", "c.json"},
        {"b.json", "?q", "b.json?q"},
        {"urn:x:y", "#z", "urn:x:y"},
        {"urn:x:y", "urn:p:q", "urn:p:q"},
        {"file:///a/b", "c", "file:///a/c"},
        {"/a/b", "c", "/a/c"},
    };
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 200);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_buf_clear(&out);
        vls_uri_resolve(&out, valise_str_of(cases[i].base), valise_str_of(cases[i].reference));
        CHECK_OK(vls_buf_check(&out, &t->err));
        CHECK_STR(valise_str_of(cases[i].result), vls_buf_str(&out));
    }
}

TEST(schema_uri, percent_signs_are_decoded)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 200);
    CHECK(vls_uri_decode(&out, VLS_STR("a%25%C3%a9/%00")));
    CHECK_STR(VLS_STR("a%\xc3\xa9/\0"), vls_buf_str(&out));
    CHECK(!vls_uri_decode(&out, VLS_STR("%")));
    CHECK(!vls_uri_decode(&out, VLS_STR("%4")));
    CHECK(!vls_uri_decode(&out, VLS_STR("%4g")));
    CHECK(vls_uri_decode(&out, VLS_STR("%41")));
}
