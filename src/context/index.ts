export {
  ANSWER_TTL_MS,
  type AnswerCache,
  answerHolderOf,
  createAnswerCache,
  createSharedAnswerStore,
  type FoundAnswer,
} from './cache/index.ts'
export {
  type Finding,
  LINT_FIELDS,
  LINT_LEVELS,
  type LintField,
  type LintLevel,
  lintAlike,
  lintCatalogue,
  lintTool,
  type ShownTool,
} from './lint/index.ts'
export { countTokens, TOKEN_ENCODING } from './tokens.ts'
