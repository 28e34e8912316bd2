export { type AnswerCache, createAnswerCache, type FoundAnswer } from './answer-cache.ts'
export { answerHolderOf } from './answer-key.ts'
export { ANSWER_TTL_MS } from './cache-limits.ts'
export { createSharedAnswerStore } from './shared-answers.store.ts'
