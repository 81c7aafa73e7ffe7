/* schema_meta.c -- the metaschemas of draft 2020-12.
 *
 * A schema may refer to them, most of all to check schemas, and nothing is ever fetched; so they
 * are here. Titles, comments and defaults are left out: they change no verdict. */
#include "json/schema_impl.h"

#define BASE "https://json-schema.org/draft/2020-12/"
#define HEAD(path, vocabulary)                                                                     \
    "{\"$schema\":\"" BASE "schema\",\"$id\":\"" BASE path "\",\"$dynamicAnchor\":\"meta\","       \
    "\"type\":[\"object\",\"boolean\"],\"$vocabulary\":{" vocabulary "},"
#define VOCABULARY(name) "\"" BASE "vocab/" name "\":true"
#define META "{\"$dynamicRef\":\"#meta\"}"
#define META_TABLE "{\"type\":\"object\",\"additionalProperties\":" META "}"
#define STRING "{\"type\":\"string\"}"
#define BOOLEAN "{\"type\":\"boolean\"}"
#define NUMBER "{\"type\":\"number\"}"
#define DEF(name) "{\"$ref\":\"#/$defs/" name "\"}"

typedef struct metaschema {
    const char *uri;
    const char *text;
} metaschema;

static const char schema_text[] = HEAD(
    "schema",
    VOCABULARY("core") "," VOCABULARY("applicator") "," VOCABULARY("unevaluated") "," VOCABULARY(
        "v"
        "a"
        "l"
        "i"
        "d"
        "a"
        "t"
        "i"
        "o"
        "n") "," VOCABULARY("meta-data") "," VOCABULARY("format-annotation") "," VOCABULARY("conten"
                                                                                            "t")) "\"allOf\":[{"
                                                                                                  "\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "core\"},{\"$"
                                                                                                  "ref\":\"meta/"
                                                                                                  "applicator\"},"
                                                                                                  "{\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "unevaluated\"}"
                                                                                                  ",{\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "validation\"},"
                                                                                                  "{\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "meta-data\"},"
                                                                                                  "{\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "format-"
                                                                                                  "annotation\"},"
                                                                                                  "{\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "content\"}],"
                                                                                                  "\"properties\""
                                                                                                  ":{"
                                                                                                  "\"definitions"
                                                                                                  "\":" META_TABLE
                                                                                                  ","
                                                                                                  "\"dependencies"
                                                                                                  "\":{\"type\":"
                                                                                                  "\"object\","
                                                                                                  "\"additionalPr"
                                                                                                  "operties\":{"
                                                                                                  "\"anyOf\":"
                                                                                                  "[" META
                                                                                                  ","
                                                                                                  "{\"$ref\":"
                                                                                                  "\"meta/"
                                                                                                  "validation#/"
                                                                                                  "$defs/"
                                                                                                  "stringArray\"}"
                                                                                                  "]}},"
                                                                                                  "\"$"
                                                                                                  "recursiveAncho"
                                                                                                  "r\":{\"$ref\":"
                                                                                                  "\"meta/core#/"
                                                                                                  "$defs/"
                                                                                                  "anchorString\""
                                                                                                  "},"
                                                                                                  "\"$"
                                                                                                  "recursiveRef\""
                                                                                                  ":{\"$ref\":"
                                                                                                  "\"meta/core#/"
                                                                                                  "$defs/"
                                                                                                  "uriReferenceSt"
                                                                                                  "ring\"}}}";

static const char core_text[] = HEAD(
    "meta/core",
    VOCABULARY(
        "core")) "\"properties\":{"
                 "\"$id\":{\"$ref\":\"#/$defs/"
                 "uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},"
                 "\"$schema\":" DEF("uriString") ",\"$ref\":" DEF(
                     "uriReferenceString") ","
                                           "\"$anchor\":" DEF(
                                               "anc"
                                               "hor"
                                               "Str"
                                               "in"
                                               "g") ",\"$dynamicRef\":" DEF("uriReferenceStrin"
                                                                            "g") ","
                                                                                 "\"$"
                                                                                 "dynamicAnchor"
                                                                                 "\":" DEF(
                                                                                     "anchorStr"
                                                                                     "ing") ","
                                                                                            "\""
                                                                                            "$v"
                                                                                            "oc"
                                                                                            "ab"
                                                                                            "ul"
                                                                                            "ar"
                                                                                            "y"
                                                                                            "\""
                                                                                            ":{"
                                                                                            "\""
                                                                                            "ty"
                                                                                            "pe"
                                                                                            "\""
                                                                                            ":"
                                                                                            "\""
                                                                                            "ob"
                                                                                            "je"
                                                                                            "ct"
                                                                                            "\""
                                                                                            ","
                                                                                            "\""
                                                                                            "pr"
                                                                                            "op"
                                                                                            "er"
                                                                                            "ty"
                                                                                            "Na"
                                                                                            "me"
                                                                                            "s"
                                                                                            "\""
                                                                                            ":" DEF(
                                                                                                "ur"
                                                                                                "iS"
                                                                                                "tr"
                                                                                                "in"
                                                                                                "g") ","
                                                                                                     "\"additionalProperties\":" BOOLEAN
                                                                                                     "},"
                                                                                                     "\"$comment\":" STRING
                                                                                                     ",\"$defs\":" META_TABLE
                                                                                                     "},"
                                                                                                     "\"$defs\":{"
                                                                                                     "\"anchorString\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},"
                                                                                                     "\"uriString\":{\"type\":\"string\",\"format\":\"uri\"},"
                                                                                                     "\"uriReferenceString\":{\"type\":\"string\",\"format\":\"uri-reference\"}}}";

static const char applicator_text[] = HEAD(
    "meta/applicator",
    VOCABULARY(
        "applicator")) "\"properties\":{"
                       "\"prefixItems\":" DEF(
                           "schemaArray") ",\"items\":" META ",\"contains\":" META ","
                                          "\"additionalProperties\":" META
                                          ",\"properties\":" META_TABLE ","
                                          "\"patternProperties\":{\"type\":\"object\","
                                          "\"additionalProperties\":" META ","
                                          "\"propertyNames\":{\"format\":\"regex\"}},"
                                          "\"dependentSchemas\":" META_TABLE
                                          ",\"propertyNames\":" META ","
                                          "\"if\":" META ",\"then\":" META ",\"else\":" META ","
                                          "\"allOf\":" DEF("schemaArray") ",\"anyOf\":" DEF(
                                              "schemaArray") ","
                                                             "\"oneOf\":" DEF(
                                                                 "schemaArray") ",\"not\":" META
                                                                                "},"
                                                                                "\"$defs\":{"
                                                                                "\"schemaArray\":{"
                                                                                "\"type\":"
                                                                                "\"array\","
                                                                                "\"minItems\":1,"
                                                                                "\"items\":" META
                                                                                "}}}";

static const char unevaluated_text[] =
    HEAD("meta/unevaluated", VOCABULARY("unevaluated")) "\"properties\":{\"unevaluatedItems\":" META
                                                        ",\"unevaluatedProperties\":" META "}}";

static const char
    validation_text[] = HEAD("meta/validation",
                             VOCABULARY("validation")) "\"properties\":{"
                                                       "\"type\":{\"anyOf\":[" DEF("simpleTypes") ",{\"type\":\"array\",\"items\":" DEF(
                                                           "simpleTypes") ","
                                                                          "\"minItems\":1,"
                                                                          "\"uniqueItems\":true}]"
                                                                          "},"
                                                                          "\"const\":true,"
                                                                          "\"enum\":{\"type\":"
                                                                          "\"array\",\"items\":"
                                                                          "true},"
                                                                          "\"multipleOf\":{"
                                                                          "\"type\":\"number\","
                                                                          "\"exclusiveMinimum\":"
                                                                          "0},"
                                                                          "\"maximum\":" NUMBER
                                                                          ",\"exclusiveMaximum\""
                                                                          ":" NUMBER ","
                                                                          "\"minimum\":" NUMBER
                                                                          ",\"exclusiveMinimum\""
                                                                          ":" NUMBER ","
                                                                          "\"maxLength\":" DEF(
                                                                              "n"
                                                                              "o"
                                                                              "n"
                                                                              "N"
                                                                              "e"
                                                                              "g"
                                                                              "a"
                                                                              "t"
                                                                              "i"
                                                                              "v"
                                                                              "e"
                                                                              "I"
                                                                              "n"
                                                                              "t"
                                                                              "e"
                                                                              "g"
                                                                              "e"
                                                                              "r") ",\"minLength\""
                                                                                   ":" DEF("nonNega"
                                                                                           "tiveInt"
                                                                                           "ege"
                                                                                           "r") ","
                                                                                                "\""
                                                                                                "pa"
                                                                                                "tt"
                                                                                                "er"
                                                                                                "n"
                                                                                                "\""
                                                                                                ":{"
                                                                                                "\""
                                                                                                "ty"
                                                                                                "pe"
                                                                                                "\""
                                                                                                ":"
                                                                                                "\""
                                                                                                "st"
                                                                                                "ri"
                                                                                                "ng"
                                                                                                "\""
                                                                                                ","
                                                                                                "\""
                                                                                                "fo"
                                                                                                "rm"
                                                                                                "at"
                                                                                                "\""
                                                                                                ":"
                                                                                                "\""
                                                                                                "re"
                                                                                                "ge"
                                                                                                "x"
                                                                                                "\""
                                                                                                "},"
                                                                                                "\""
                                                                                                "ma"
                                                                                                "xI"
                                                                                                "te"
                                                                                                "ms"
                                                                                                "\""
                                                                                                ":" DEF("nonNe"
                                                                                                        "gativ"
                                                                                                        "eInte"
                                                                                                        "ger") ",\"minItems\":" DEF("nonNegati"
                                                                                                                                    "veIntege"
                                                                                                                                    "r") ","
                                                                                                                                         "\"un"
                                                                                                                                         "ique"
                                                                                                                                         "Item"
                                                                                                                                         "s\""
                                                                                                                                         ":" BOOLEAN
                                                                                                                                         ","
                                                                                                                                         "\"ma"
                                                                                                                                         "xCon"
                                                                                                                                         "tain"
                                                                                                                                         "s\""
                                                                                                                                         ":" DEF("nonNegativeInteger") ",\"minContains\":" DEF(
                                                                                                                                             "nonNegativeInteger") ","
                                                                                                                                                                   "\"maxProperties\":" DEF("nonNegativeInteger") ","
                                                                                                                                                                                                                  "\"minProperties\":" DEF("nonNegativeInteger") ",\"required\":" DEF("stringArray") ","
                                                                                                                                                                                                                                                                                                     "\"dependentRequired\":{\"type\":\"object\",\"additionalProperties\":" DEF(
                                                                                                                                                                                                                                                                                                         "stringArray") "}},"
                                                                                                                                                                                                                                                                                                                        "\"$defs\":{\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},"
                                                                                                                                                                                                                                                                                                                        "\"simpleTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\","
                                                                                                                                                                                                                                                                                                                        "\"string\"]},"
                                                                                                                                                                                                                                                                                                                        "\"stringArray\":{\"type\":\"array\",\"items\":" STRING
                                                                                                                                                                                                                                                                                                                        ",\"uniqueItems\":true}}}";

static const char meta_data_text[] = HEAD(
    "meta/meta-data", VOCABULARY("meta-data")) "\"properties\":{\"title\":" STRING
                                               ",\"description\":" STRING ",\"default\":true,"
                                               "\"deprecated\":" BOOLEAN ",\"readOnly\":" BOOLEAN
                                               ",\"writeOnly\":" BOOLEAN ","
                                               "\"examples\":{\"type\":\"array\",\"items\":true}}}";

static const char format_annotation_text[] =
    HEAD("meta/format-annotation",
         VOCABULARY("format-annotation")) "\"properties\":{\"format\":" STRING "}}";

static const char format_assertion_text[] =
    HEAD("meta/format-assertion",
         VOCABULARY("format-assertion")) "\"properties\":{\"format\":" STRING "}}";

static const char content_text[] =
    HEAD("meta/content", VOCABULARY("content")) "\"properties\":{\"contentEncoding\":" STRING
                                                ",\"contentMediaType\":" STRING ","
                                                "\"contentSchema\":" META "}}";

static const metaschema metaschemas[] = {
    {BASE "schema", schema_text},
    {BASE "meta/core", core_text},
    {BASE "meta/applicator", applicator_text},
    {BASE "meta/unevaluated", unevaluated_text},
    {BASE "meta/validation", validation_text},
    {BASE "meta/meta-data", meta_data_text},
    {BASE "meta/format-annotation", format_annotation_text},
    {BASE "meta/format-assertion", format_assertion_text},
    {BASE "meta/content", content_text},
};

valise_str vls_schema_meta_text(valise_str uri)
{
    for (size_t i = 0; i < VLS_COUNT(metaschemas); i++) {
        if (vls_str_equal(uri, valise_str_of(metaschemas[i].uri)))
            return valise_str_of(metaschemas[i].text);
    }
    return (valise_str){NULL, 0};
}
