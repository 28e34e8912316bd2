/** The texts of answers, for a worker to count. */
export type AnswerTokensJob = {
  /** Of each answer, what a model reads. */
  answers: readonly (readonly string[])[]
  /** Of a core, in milliseconds: what is left when they are over is not counted. */
  timeMs: number
}

export type AnswerTokens = {
  /** In the order of the answers; undefined where time was over before. */
  tokens: (number | undefined)[]
  /** What the thread has taken of a core since the last job, its start included; milliseconds. */
  tookMs: number
}
