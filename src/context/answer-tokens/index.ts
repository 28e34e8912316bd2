export { type AnswerTokensWork, createAnswerTokensWork } from './answer-tokens-work.ts'
