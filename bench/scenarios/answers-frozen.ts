/** The frozen results with a token budget: the size of the first reply, and whether every question can be answered. */

import { createJobPool } from '../../src/jobs/job-pool.ts'
import { JOBS } from '../../src/jobs/jobs.ts'
import type { PipelineSteps } from '../../src/lib/json/pipeline.ts'
import { shareMemory } from '../../src/lib/process/memory-budget.ts'
import { type CutResultToolName, readInspectionRequest } from '../../src/results/budget/cut-result-tool-params.ts'
import { createResultInspector } from '../../src/results/budget/result-inspector.ts'
import { ANSWERS, type FrozenAnswer, readAnswer } from '../answers/answers.ts'
import { type AnswerCall, type AnswerQuestion, QUESTIONS } from '../answers/questions.ts'
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'

const BUDGET_TOKENS = 1_000
const MIN_SAVED = 0.95
/** Generous, because the benchmark's machine is busy. */
const TIME_LIMIT_MS = 60_000

type Work = ReturnType<typeof createResultInspector>
type Source = { bytes: Uint8Array; mediaType: string; key?: string }

const TOOLS: Record<string, CutResultToolName> = {
  search: 'proxy_search',
  filter: 'proxy_filter',
  explore: 'proxy_explore',
}

/** Returns the pipeline steps that a call to one of the three tools requests. */
const stepsOf = (call: AnswerCall): PipelineSteps => {
  const [[name, args] = ['', {}]] = Object.entries(call)
  const tool = TOOLS[name]
  const input = tool && readInspectionRequest(tool, false, { ...JSON.parse(JSON.stringify(args)), cache_id: 'x' })
  if (!input?.ok) throw new Error(`${JSON.stringify(call)}: ${input?.error ?? 'no such tool'}`)
  return input.value.steps
}

const read = async (work: Work, source: Source, steps: PipelineSteps = {}) => {
  const seen = await work.inspect({
    owner: 'bench',
    group: 'bench',
    ...source,
    steps,
    budgetTokens: BUDGET_TOKENS,
    keepsWhole: true,
  })
  if (!seen.ok) throw new Error(seen.error)
  return seen.value
}

/** Returns whether the result of the last call contains the fact. */
const isFound = async (work: Work, answer: Source, { calls, fact }: AnswerQuestion): Promise<boolean> => {
  let source = answer
  let shown = ''
  for (const call of calls) {
    const { text, outline, notes, isCut, whole } = await read(work, source, stepsOf(call))
    shown = [text, outline, ...notes].join('\n')
    if (isCut && whole !== undefined) source = { bytes: whole.utf8, mediaType: whole.mediaType }
  }
  return shown.includes(fact)
}

const MEMORY = shareMemory(8_192)

const askAbout = async (work: Work, answer: FrozenAnswer) => {
  const bytes = readAnswer(answer)
  const source = { bytes, mediaType: answer.mediaType, key: answer.name }
  const { tokensBefore, tokensShown } = await read(work, source)
  const questions = QUESTIONS[answer.name] ?? []
  const missed: string[] = []
  for (const question of questions) if (!(await isFound(work, source, question))) missed.push(question.ask)
  return { name: answer.name, bytes: bytes.length, tokensBefore, tokensShown, asked: questions.length, missed }
}

export const measureFrozen = async (bench: Bench): Promise<void> => {
  const jobs = { ...JOBS, 'inspect-result': { ...JOBS['inspect-result'], timeLimitMs: TIME_LIMIT_MS } }
  const workers = createJobPool({ jobs, memory: MEMORY })
  const work = createResultInspector(workers.job('inspect-result'), MEMORY.inFlightBytes)
  try {
    const all: Awaited<ReturnType<typeof askAbout>>[] = []
    for (const answer of ANSWERS) all.push(await askAbout(work, answer))
    const savedOf = ({ tokensBefore, tokensShown }: (typeof all)[number]) => 1 - tokensShown / tokensBefore
    bench.addTable({
      title: `Frozen results, with a budget of ${BUDGET_TOKENS} tokens`,
      columns: ['', 'bytes', 'tokens', 'in the first reply', 'saved', 'facts found'],
      rows: all.map(each => [
        each.name,
        String(each.bytes),
        String(each.tokensBefore),
        String(each.tokensShown),
        savedOf(each).toFixed(4),
        `${each.asked - each.missed.length} of ${each.asked}`,
      ]),
    })
    const missed = all.flatMap(({ name, missed: asks }) => asks.map(ask => [name, ask]))
    if (missed.length > 0)
      bench.addTable({ title: 'Facts that were not found', columns: ['', 'question'], rows: missed })
    const asked = all.reduce((sum, each) => sum + each.asked, 0)
    bench.addFigure({
      title: 'tokens saved in the first reply, median of the frozen results',
      required: { atLeast: MIN_SAVED },
      measured: median(all.map(savedOf)),
      unit: '',
    })
    bench.addFigure({
      title: 'facts of the frozen results that can be found',
      required: { atLeast: 1 },
      measured: (asked - missed.length) / asked,
      unit: '',
    })
    bench.log(`${asked} questions about ${all.length} results, ${show(missed.length)} missed`)
  } finally {
    await workers.close()
  }
}
