/** Longest URL template in characters; common servers reject request lines above 8 KiB. */
export const MAX_URL_TEMPLATE_CHARS = 8_192
/** Longest header value template in characters; Node limits all headers together to 16 KiB. */
export const MAX_HEADER_TEMPLATE_CHARS = 8_192
/** Longest HTTP method in characters; the longest registered one has 17. */
export const MAX_METHOD_CHARS = 20
/** Headers of one tool; real APIs need a handful. */
export const MAX_TEMPLATE_HEADERS = 64
/** Longest body template in characters, without values. */
export const MAX_BODY_TEMPLATE_CHARS = 262_144
/** Most placeholders of a tool. The metadata of more would be larger than the tool. */
export const MAX_PLACES = 1_000
export const MAX_TEMPLATE_ERRORS = 100
/** Longest URL or header value after rendering, in characters; servers reject longer ones. */
export const MAX_RENDERED_LINE_CHARS = 65_536
/** Longest body after rendering, in characters. Limited because a template can repeat a value many times. */
export const MAX_RENDERED_BODY_CHARS = 16_777_216
/** Longest parameter name in characters; model providers limit property names to this. */
export const MAX_PARAMETER_NAME_CHARS = 64
/** Parameters of one tool; models cannot fill in more. */
export const MAX_PARAMETERS = 256
/** Longest `pattern` of a parameter, in characters. */
export const MAX_PATTERN_CHARS = 1_000
/** Largest compiled `pattern`, in instructions; `^[a-z]{1,1000}$` has 2,003. */
export const MAX_PATTERN_INSTRUCTIONS = 2_500
/**
 * Characters of a value times instructions of its pattern, up to which matching has no time limit.
 * It then takes 50 ms at worst.
 */
export const FREE_PATTERN_STEPS = 250_000
/** Time limit for matching one value, in milliseconds; it blocks the event loop. */
export const MAX_MATCH_MS = 50
/** Time limit for checking the patterns, defaults and examples of one tool, in milliseconds. */
export const MAX_PARAMETERS_MS = 1_000
/** Longest value that is matched against a pattern, in characters; matching takes linear time. */
export const MAX_PATTERN_INPUT_CHARS = 10_000
/** Values of an `enum` listed in an error message. */
export const MAX_LISTED_ENUM_VALUES = 20
