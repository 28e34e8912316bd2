export type { AnswerTokens, AnswerTokensJob } from './answer-tokens-job.ts'
export { type AnswerTokensWork, createAnswerTokensWork } from './answer-tokens-work.ts'
