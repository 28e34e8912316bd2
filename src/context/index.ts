export { type AnswerTokensWork, createAnswerTokensWork } from './answer-tokens/index.ts'
export { type AnswerSteps, beginAnswer, parseAnswer } from './answers/index.ts'
export {
  ANSWER_TTL_MS,
  type AnswerCache,
  answerHolderOf,
  createAnswerCache,
  createSharedAnswerStore,
  type FoundAnswer,
} from './cache/index.ts'
export {
  type CatalogueReport,
  type CatalogueWork,
  createCatalogueWork,
  type FindCatalogueReport,
  findCatalogueFindings,
  findListCost,
  joinList,
  LISTED_PRESENTATIONS,
  type ListCost,
  type ListedPresentation,
} from './catalogue/index.ts'
export { createTokenWork, type TokenCounter, type TokenWork } from './counting/index.ts'
export {
  createToolEmbeddings,
  type EmbeddingLimits,
  type EmbeddingSettings,
  fuseOrders,
  NEAREST_TOOLS,
  type ToolEmbeddings,
  type ToolMeanings,
} from './embeddings/index.ts'
export { keepingRules } from './keeping-rules.ts'
export {
  type Finding,
  LINT_FIELDS,
  LINT_LEVELS,
  type LintField,
  type LintLevel,
  lintAlike,
  lintCatalogue,
  lintTool,
  lintWhoReadsAlike,
  type ShownTool,
  sortFindings,
} from './lint/index.ts'
export { createPause, mapInTurns } from './pause.ts'
export { createToolFinder, type ToolFinder, type ToolIndex, type ToolText } from './ranking/index.ts'
export { DEFAULT_RESPONSE_TOKENS, responseTokens, typedResponseTokens } from './response-tokens.ts'
export { MAX_PATTERN_CHARS } from './search/index.ts'
export { countTokens, TOKEN_ENCODING } from './tokens.ts'
export {
  type AnswerShaper,
  type AnswerShaping,
  createAnswerShaper,
  findExpressionFault,
  isShaping,
  LANGUAGE_NAMES,
  parseFieldPath,
  ResponseRules,
  responseErrors,
  type Shaped,
  type ShapingJob,
  StoredResponse,
  TRANSFORM_LANGUAGES,
  toResponseView,
} from './transform/index.ts'
export { type AnswerView, type AnswerWork, createAnswerWork } from './work/index.ts'
