/** The frozen results with a token budget: the first reply, whether every question can be answered, and at what cost. */

import { createJobPool } from '../../src/jobs/job-pool.ts'
import { JOBS } from '../../src/jobs/jobs.ts'
import { shareMemory } from '../../src/lib/process/memory-budget.ts'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import { ANSWERS, type FrozenAnswer, readAnswer } from '../answers/answers.ts'
import { askQuestion, MAX_FACT_TOKENS } from '../answers/asking.ts'
import { openTools } from '../answers/open-tools.ts'
import { QUESTIONS } from '../answers/questions.ts'
import { UNSEEN_ANSWERS } from '../answers/unseen-answers.ts'
import { UNSEEN_QUESTIONS } from '../answers/unseen-questions.ts'
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'

const BUDGET_TOKENS = 1_000
const MIN_SAVED = 0.95
/** Generous, because the benchmark's machine is busy. */
const TIME_LIMIT_MS = 60_000
const MEMORY = shareMemory(8_192)

type Tools = ReturnType<typeof openTools>

type Question = Parameters<typeof askQuestion>[2]
type FrozenSet = {
  title: string
  answers: readonly FrozenAnswer[]
  questions: Readonly<Record<string, readonly Question[]>>
}

const SETS: readonly FrozenSet[] = [
  { title: 'frozen results', answers: ANSWERS, questions: QUESTIONS },
  { title: 'unseen results', answers: UNSEEN_ANSWERS, questions: UNSEEN_QUESTIONS },
]

const askAbout = async (
  tools: Tools,
  { name, ...answer }: FrozenAnswer,
  questions: readonly Question[] | undefined,
) => {
  if (questions === undefined) throw new Error(`there are no questions about ${name}`)
  const bytes = readAnswer({ name, ...answer })
  const first = await tools.callFirst(bytes, answer.mediaType)
  const asked = []
  for (const question of questions) asked.push(await askQuestion(tools.call, first, question))
  return { name, bytes: bytes.length, tokens: first.tokens, shown: await countTokens(first.text), asked }
}
type AskedAbout = Awaited<ReturnType<typeof askAbout>>

const savedOf = ({ tokens, shown }: AskedAbout): number => 1 - shown / tokens

const reportSet = (bench: Bench, title: string, all: readonly AskedAbout[]): void => {
  bench.addTable({
    title: `${title}, with a budget of ${BUDGET_TOKENS} tokens`,
    columns: ['', 'bytes', 'tokens, about', 'in the first reply', 'saved', 'facts found', 'tokens of each fact'],
    rows: all.map(each => [
      each.name,
      String(each.bytes),
      String(each.tokens),
      String(each.shown),
      savedOf(each).toFixed(4),
      `${each.asked.filter(({ isFound }) => isFound).length} of ${each.asked.length}`,
      each.asked.map(({ tokens }) => tokens).join(', '),
    ]),
  })
  const asked = all.flatMap(each => each.asked.map(one => ({ name: each.name, ...one })))
  const missed = asked.filter(({ isFound }) => !isFound)
  if (missed.length > 0) {
    const rows = missed.map(({ name, ask }) => [name, ask])
    bench.addTable({ title: `${title}: facts that were not found`, columns: ['', 'question'], rows })
  }
  const costs = asked.map(({ tokens }) => tokens)
  const addFigure = (what: string, required: { atLeast: number } | { atMost: number }, measured: number) =>
    bench.addFigure({ title: `${title}: ${what}`, required, measured, unit: '' })
  addFigure('saved in the first reply, median', { atLeast: MIN_SAVED }, median(all.map(savedOf)))
  addFigure('facts found', { atLeast: 1 }, (asked.length - missed.length) / asked.length)
  addFigure('tokens of a fact, median', { atMost: MAX_FACT_TOKENS.median }, median(costs))
  addFigure('tokens of a fact, p90', { atMost: MAX_FACT_TOKENS.p90 }, quantile(costs, 0.9))
  bench.log(`${title}: ${asked.length} questions about ${all.length} results, ${show(missed.length)} missed`)
}

export const measureFrozen = async (bench: Bench): Promise<void> => {
  const jobs = { ...JOBS, 'inspect-result': { ...JOBS['inspect-result'], timeLimitMs: TIME_LIMIT_MS } }
  const workers = createJobPool({ jobs, memory: MEMORY })
  const tools = openTools(workers, BUDGET_TOKENS, MEMORY.inFlightBytes)
  try {
    for (const { title, answers, questions } of SETS) {
      const all: AskedAbout[] = []
      for (const answer of answers) all.push(await askAbout(tools, answer, questions[answer.name]))
      reportSet(bench, title, all)
    }
  } finally {
    await tools.close()
    await workers.close()
  }
}
