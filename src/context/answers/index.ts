export type { AnswerSteps } from './answer-steps.ts'
export { beginAnswer } from './begin-answer.ts'
export { parseAnswer } from './parse-answer.ts'
