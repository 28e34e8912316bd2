/** Longest URL as a builder writes it, in characters: common servers refuse a request line above 8 KiB. */
export const MAX_URL_TEMPLATE_CHARS = 8_192
/** Longest header value as a builder writes it, in characters: Node's own limit on all headers is 16 KiB. */
export const MAX_HEADER_TEMPLATE_CHARS = 8_192
/** Longest HTTP method, in characters: the longest that is registered has 17. */
export const MAX_METHOD_CHARS = 20
/** Headers of one tool; real APIs want a handful. */
export const MAX_TEMPLATE_HEADERS = 64
/** Longest body as a builder writes it, in characters; values come on top. */
export const MAX_BODY_TEMPLATE_CHARS = 262_144
/** Places of one tool: what is listed of each would outgrow the tool itself. */
export const MAX_PLACES = 1_000
/** Errors told of one template; who made more made one many times. */
export const MAX_TEMPLATE_ERRORS = 100
/** Longest URL, and header value, once filled, in characters: above it no server reads them. */
export const MAX_RENDERED_LINE_CHARS = 65_536
/** Longest body once filled, in characters: a value that stands in many places must not fill the memory. */
export const MAX_RENDERED_BODY_CHARS = 16_777_216
/** Longest name of a parameter, in characters: what model providers take as a property's name. */
export const MAX_PARAMETER_NAME_CHARS = 64
/** Parameters of one tool: above it no model fills them in, and the input schema grows past reason. */
export const MAX_PARAMETERS = 256
/** Longest `pattern` of a parameter, in characters. */
export const MAX_PATTERN_CHARS = 1_000
/** Largest program that a `pattern` may become, in instructions: `^[a-z]{1,1000}$` has 2,003. */
export const MAX_PATTERN_INSTRUCTIONS = 2_500
/** Characters of a value by instructions of its pattern that are matched without a clock: some 50 ms at the very worst. */
export const FREE_PATTERN_STEPS = 250_000
/** How long one value may take to be matched, in milliseconds; nobody else has a turn meanwhile. */
export const MAX_MATCH_MS = 50
/** How long patterns, defaults and examples of one tool may take to be read, in milliseconds. */
export const MAX_PARAMETERS_MS = 1_000
/** Longest value that is matched against a pattern, in characters: matching is linear, but still takes its time. */
export const MAX_PATTERN_INPUT_CHARS = 10_000
/** Values of an `enum` that an error message lists. */
export const MAX_LISTED_ENUM_VALUES = 20
