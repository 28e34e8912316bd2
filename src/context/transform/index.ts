export { type AnswerShaper, createAnswerShaper } from './answer-shaper.ts'
export {
  type AnswerShaping,
  isShaping,
  LANGUAGE_NAMES,
  MAX_DROPPED_PATHS,
  MAX_EXPRESSION_CHARACTERS,
  MAX_PATH_CHARACTERS,
  MAX_STRING_LENGTH,
  MIN_STRING_LENGTH,
  TRANSFORM_LANGUAGES,
} from './answer-shaping.ts'
export { findExpressionFault } from './expression-faults.ts'
export { parseFieldPath } from './field-path.ts'
export type { Shaped, ShapingJob } from './shaping-job.ts'
