export { type AnswerShaper, createAnswerShaper } from './answer-shaper.ts'
export {
  type AnswerShaping,
  isShaping,
  LANGUAGE_NAMES,
  TRANSFORM_LANGUAGES,
} from './answer-shaping.ts'
export { findExpressionFault } from './expression-faults.ts'
export { parseFieldPath } from './field-path.ts'
export { ResponseRules, responseErrors, StoredResponse, toResponseView } from './response-rules.ts'
export type { Shaped, ShapingJob } from './shaping-job.ts'
