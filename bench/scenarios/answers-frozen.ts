/** The frozen answers under a budget: what the first reply takes, and whether every fact asked for can be found. */
import { type AnswerSteps, createAnswerWork } from '../../src/context/index.ts'
import { type AnswerToolName, readAnswerWish } from '../../src/execution/budget/answer-tool-params.ts'
import { ANSWERS, type FrozenAnswer, readAnswer } from '../answers/answers.ts'
import { type AnswerCall, type AnswerQuestion, QUESTIONS } from '../answers/questions.ts'
import type { Bench } from '../bench.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'

const BUDGET_TOKENS = 1_000
const MIN_SAVED = 0.95
/** What the loaded machine of a benchmark may take, far above what an answer takes by itself. */
const TIME_LIMIT_MS = 60_000

type Work = ReturnType<typeof createAnswerWork>
type Source = { bytes: Uint8Array; mediaType: string; key?: string }

const TOOLS: Record<string, AnswerToolName> = {
  search: 'proxy_search',
  filter: 'proxy_filter',
  explore: 'proxy_explore',
}

/** The steps that a call of one of the three tools asks for. */
const stepsOf = (call: AnswerCall): AnswerSteps => {
  const [[name, args] = ['', {}]] = Object.entries(call)
  const tool = TOOLS[name]
  const wish = tool && readAnswerWish(tool, false, { ...JSON.parse(JSON.stringify(args)), cache_id: 'x' })
  if (!wish?.ok) throw new Error(`${JSON.stringify(call)}: ${wish?.error ?? 'no such tool'}`)
  return wish.value.steps
}

const look = async (work: Work, source: Source, steps: AnswerSteps = {}) => {
  const seen = await work.look({ owner: 'bench', ...source, steps, budgetTokens: BUDGET_TOKENS, keepsWhole: true })
  if (!seen.ok) throw new Error(seen.error.message)
  return seen.value
}

/** Whether the last of its calls shows the fact. */
const isFound = async (work: Work, answer: Source, { calls, fact }: AnswerQuestion): Promise<boolean> => {
  let source = answer
  let shown = ''
  for (const call of calls) {
    const { text, outline, notes, isCut, whole } = await look(work, source, stepsOf(call))
    shown = [text, outline, ...notes].join('\n')
    if (isCut && whole !== undefined) source = { bytes: whole.utf8, mediaType: whole.mediaType }
  }
  return shown.includes(fact)
}

const askAbout = async (work: Work, answer: FrozenAnswer) => {
  const bytes = readAnswer(answer)
  const source = { bytes, mediaType: answer.mediaType, key: answer.name }
  const { tokensBefore, tokensShown } = await look(work, source)
  const questions = QUESTIONS[answer.name] ?? []
  const missed: string[] = []
  for (const question of questions) if (!(await isFound(work, source, question))) missed.push(question.ask)
  return { name: answer.name, bytes: bytes.length, tokensBefore, tokensShown, asked: questions.length, missed }
}

export const measureFrozen = async (bench: Bench): Promise<void> => {
  const work = createAnswerWork({ timeLimitMs: TIME_LIMIT_MS })
  try {
    const all: Awaited<ReturnType<typeof askAbout>>[] = []
    for (const answer of ANSWERS) all.push(await askAbout(work, answer))
    const savedOf = ({ tokensBefore, tokensShown }: (typeof all)[number]) => 1 - tokensShown / tokensBefore
    bench.addTable({
      title: `Frozen answers, with a budget of ${BUDGET_TOKENS} tokens`,
      columns: ['', 'bytes', 'tokens', 'shown first', 'saved', 'facts found'],
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
      title: 'tokens saved in the first reply, median of the frozen answers',
      required: { atLeast: MIN_SAVED },
      measured: median(all.map(savedOf)),
      unit: '',
    })
    bench.addFigure({
      title: 'facts of the frozen answers that can be found',
      required: { atLeast: 1 },
      measured: (asked - missed.length) / asked,
      unit: '',
    })
    bench.say(`${asked} questions about ${all.length} answers, ${show(missed.length)} missed`)
  } finally {
    await work.close()
  }
}
