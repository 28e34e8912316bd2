export const TRANSFORM_LANGUAGES = ['jsonata', 'jmespath'] as const
export type TransformLanguage = (typeof TRANSFORM_LANGUAGES)[number]

export const LANGUAGE_NAMES: Readonly<Record<TransformLanguage, string>> = { jsonata: 'JSONata', jmespath: 'JMESPath' }

/** Changes made to a tool's results before they are sent, in the order in which they apply. */
export type ResultShaping = {
  /** Converts an HTML page, and each JSON string that contains HTML. */
  htmlToMarkdown?: boolean | undefined
  /** Paths to remove, such as `items[].links`. */
  dropFields?: string[] | undefined
  /** Replaces the result with the value of the expression, which is evaluated on the result's JSON. */
  transform?: { language: TransformLanguage; expression: string } | undefined
  /** Maximum length of a string in characters. Longer strings are truncated, and a note is added. */
  maxStringLength?: number | undefined
}

export const MAX_EXPRESSION_CHARACTERS = 10_000
export const MAX_DROPPED_PATHS = 100
export const MAX_PATH_CHARACTERS = 300
/** A string shorter than this would contain little but the note. */
export const MIN_STRING_LENGTH = 20
export const MAX_STRING_LENGTH = 1_000_000

export const hasShaping = (shaping: ResultShaping | undefined): shaping is ResultShaping =>
  shaping !== undefined &&
  (shaping.htmlToMarkdown === true ||
    (shaping.dropFields?.length ?? 0) > 0 ||
    shaping.transform !== undefined ||
    shaping.maxStringLength !== undefined)
