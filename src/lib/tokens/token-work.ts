import { findWorker } from '../worker/find-worker.ts'
import { mapInTurns } from '../worker/pause.ts'
import { createThreads } from '../worker/threads.ts'
import { createKnownTokens } from './known-tokens.ts'
import type { TokenCounter } from './token-counter.ts'
import { countTokens, TABLES_IDLE_MS } from './tokens.ts'

/** What one list of texts may take: that of 2,000 tools takes a second. */
const TIME_LIMIT_MS = 20_000
/** Memory of the thread, in MB: the tables of the encoding take 40. */
const MEMORY_LIMIT_MB = 256
/** Lists that wait for it, of all owners and of one. */
const MAX_WAITING = 200
const MAX_WAITING_OF_OWNER = 50
/** Whose the single texts are that pages count. */
const PAGES = 'pages'

/**
 * Counts tokens in a thread of its own, those of each text once: to load the encoding's tables alone takes longer than
 * calls should wait for.
 */
export const createTokenWork = () => {
  const threads = createThreads<readonly string[], number[]>({
    worker: findWorker('./count.worker', import.meta.url),
    maxThreads: 1,
    maxOfOwner: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingOfOwner: MAX_WAITING_OF_OWNER,
    timeLimitMs: TIME_LIMIT_MS,
    memoryLimitMb: MEMORY_LIMIT_MB,
    idleMs: TABLES_IDLE_MS,
  })
  const known = createKnownTokens()

  const countThere = async (owner: string, texts: readonly string[]): Promise<number[]> => {
    if (texts.length === 0) return []
    const counted = await threads.run(owner, () => texts)
    // Whoever needs the number gets it, if it has to be from here.
    return counted.ok ? counted.value : mapInTurns(texts, countTokens)
  }

  const sumTokens = async (owner: string, texts: readonly string[]): Promise<number> => {
    const found = await mapInTurns(texts, text => ({ text, ...known.find(text) }))
    const unknown = found.filter(({ tokens }) => tokens === undefined)
    const counted = await countThere(
      owner,
      unknown.map(({ text }) => text),
    )
    for (const [index, { remember }] of unknown.entries()) remember(counted[index] ?? 0)
    const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, one = 0) => all + one, 0)
    return sum(found.map(({ tokens }) => tokens)) + sum(counted)
  }

  return {
    /** Of all the texts together. `owner`: whose they are, such as a server's id. */
    sumTokens,
    /** Of one text, for a page. */
    count: (text => sumTokens(PAGES, [text])) satisfies TokenCounter,
    close: threads.close,
  }
}

export type TokenWork = ReturnType<typeof createTokenWork>
