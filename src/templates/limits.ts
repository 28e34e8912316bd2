/** Maximum length of a URL template, in characters. Common servers reject request lines above 8 KiB. */
export const MAX_URL_TEMPLATE_CHARS = 8_192
/** Maximum length of a header value template, in characters. Node limits all headers together to 16 KiB. */
export const MAX_HEADER_TEMPLATE_CHARS = 8_192
/** Maximum length of an HTTP method, in characters. The longest registered method has 17. */
export const MAX_METHOD_CHARS = 20
/** Maximum number of headers in a tool. Real APIs need only a handful. */
export const MAX_TEMPLATE_HEADERS = 64
/** Maximum length of a body template, in characters, without values. */
export const MAX_BODY_TEMPLATE_CHARS = 262_144
/** Maximum number of placeholders in a tool. The metadata for more would be larger than the tool itself. */
export const MAX_PLACES = 1_000
export const MAX_TEMPLATE_ERRORS = 100
/** Maximum length of a URL or header value after rendering, in characters. Servers reject longer ones. */
export const MAX_RENDERED_LINE_CHARS = 65_536
/** Maximum length of a body after rendering, in characters. Needed because a template can repeat a value many times. */
export const MAX_RENDERED_BODY_CHARS = 16_777_216
/**
 * Maximum length of a value that is a whole XML document, in characters. Parsing it blocks the event loop for at most
 * about 0.1 s.
 */
export const MAX_XML_DOCUMENT_CHARS = 262_144
/**
 * Maximum number of pairs that `spread` and `brackets` send in a query, form or the like. Comparing their keys blocks the
 * event loop for at most about 0.1 s. Many servers read only 1,000.
 */
export const MAX_LIST_PAIRS = 10_000
/** Maximum length of a parameter name, in characters. Model providers limit property names to this length. */
export const MAX_PARAMETER_NAME_CHARS = 64
/** Maximum number of parameters in a tool. Models cannot fill in more. */
export const MAX_PARAMETERS = 256
/** Maximum length of a parameter's `pattern`, in characters. */
export const MAX_PATTERN_CHARS = 1_000
/** Maximum size of a compiled `pattern`, in instructions. `^[a-z]{1,1000}$` has 2,003. */
export const MAX_PATTERN_INSTRUCTIONS = 2_500
/**
 * Maximum product of a value's characters and its pattern's instructions for matching without a time limit. Matching
 * then takes at most 50 ms.
 */
export const FREE_PATTERN_STEPS = 250_000
/** Time limit for matching one value, in milliseconds, because matching blocks the event loop. */
export const MAX_MATCH_MS = 50
/** Time limit for checking the patterns, defaults and examples of one tool, in milliseconds. */
export const MAX_PARAMETERS_MS = 1_000
/** Maximum length of a value that is matched against a pattern, in characters. Matching takes linear time. */
export const MAX_PATTERN_INPUT_CHARS = 10_000
/** Maximum number of `enum` values listed in an error message. */
export const MAX_LISTED_ENUM_VALUES = 20
