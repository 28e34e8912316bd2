export const TRANSFORM_LANGUAGES = ['jsonata', 'jmespath'] as const
export type TransformLanguage = (typeof TRANSFORM_LANGUAGES)[number]

/** How people write the names of the languages. */
export const LANGUAGE_NAMES: Readonly<Record<TransformLanguage, string>> = { jsonata: 'JSONata', jmespath: 'JMESPath' }

/** What is done with a tool's answers before anybody gets them, in this order. */
export type AnswerShaping = {
  /** Of a page that is HTML, and of each string of JSON that holds some. */
  htmlToMarkdown?: boolean | undefined
  /** Paths such as `items[].links`: what is there is left out. */
  dropFields?: readonly string[] | undefined
  /** Makes the answer anew out of its JSON. */
  transform?: { language: TransformLanguage; expression: string } | undefined
  /** Characters of a string that are sent; the rest is left out, and said to be. */
  maxStringLength?: number | undefined
}

/** Longest expression, in characters: far above any that can be read. */
export const MAX_EXPRESSION_CHARACTERS = 10_000
export const MAX_DROPPED_PATHS = 100
/** Longest path of a field, in characters. */
export const MAX_PATH_CHARACTERS = 300
/** Beneath it a string says little more than that it was cut. */
export const MIN_STRING_LENGTH = 20
export const MAX_STRING_LENGTH = 1_000_000

/** Whether anything is to be done at all. */
export const isShaping = (shaping: AnswerShaping | undefined): shaping is AnswerShaping =>
  shaping !== undefined &&
  (shaping.htmlToMarkdown === true ||
    (shaping.dropFields?.length ?? 0) > 0 ||
    shaping.transform !== undefined ||
    shaping.maxStringLength !== undefined)
