export type { AnswerView } from './answer-job.ts'
export { type AnswerWork, createAnswerWork } from './answer-work.ts'
