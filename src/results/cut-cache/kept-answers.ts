import { type CacheLimits, ENTRY_OVERHEAD_BYTES } from './cache-limits.ts'

/** Where the content of an answer is: here, or in a file of that name. */
export type Place = { in: 'memory'; content: Buffer } | { in: 'file'; name: string }

export type KeptAnswer = {
  key: string
  serverId: string
  holder: string
  /** Whose limits it counts towards. */
  caller: string
  /** Of the content. */
  bytes: number
  /** What is said of it, as JSON. */
  about: string
  place: Place
  /** Milliseconds since 1970. */
  usedAt: number
  /** Whether this process got the answer; else it was found in the database. */
  isOwn: boolean
}

/** Why an answer is let go. */
export type LetGo = 'full' | 'expired' | 'lost' | 'server_removed'

type Group = { answers: Set<KeptAnswer>; bytes: number }

const costOf = ({ bytes }: Pick<KeptAnswer, 'bytes'>): number => bytes + ENTRY_OVERHEAD_BYTES

/** Idle time × size. One millisecond more than it is, so that what was used just now counts by its size. */
const weigh = (bytes: number, usedAt: number, at: number): number => (Math.max(0, at - usedAt) + 1) * bytes

/** What goes first stands first: the heaviest, of equals the one that was used longest ago. */
const inOrderOfLeaving = (answers: Iterable<KeptAnswer>, at: number): KeptAnswer[] =>
  Array.from(answers, answer => ({ answer, weight: weigh(costOf(answer), answer.usedAt, at) }))
    .sort((a, b) => b.weight - a.weight || a.answer.usedAt - b.answer.usedAt)
    .map(({ answer }) => answer)

export type KeptAnswersOptions = {
  limits: CacheLimits
  /** Milliseconds since 1970. */
  now: () => number
  /** Told of each answer that is let go, once, when it is not among them any more. */
  onLetGo: (answer: KeptAnswer, why: LetGo) => void
}

/** What is kept and who has how much of it. Bounds hold at every moment; where the content lies is others' work. */
export const createKeptAnswers = ({ limits, now, onLetGo }: KeptAnswersOptions) => {
  const answers = new Map<string, KeptAnswer>()
  const callers = new Map<string, Group>()
  let bytes = 0
  let memoryBytes = 0

  /** Also by a clock that was set back: else an answer would be kept for as much longer. */
  const isExpired = ({ usedAt }: KeptAnswer, at: number): boolean => Math.abs(at - usedAt) >= limits.ttlMs

  const letGo = (answer: KeptAnswer, why: LetGo): void => {
    if (answers.get(answer.key) !== answer) return
    answers.delete(answer.key)
    bytes -= costOf(answer)
    if (answer.place.in === 'memory') memoryBytes -= answer.bytes
    const group = callers.get(answer.caller)
    if (group !== undefined) {
      group.answers.delete(answer)
      group.bytes -= costOf(answer)
      if (group.answers.size === 0) callers.delete(answer.caller)
    }
    onLetGo(answer, why)
  }

  const letGoUntil = (candidates: Iterable<KeptAnswer>, at: number, isEnough: () => boolean): void => {
    if (isEnough()) return
    for (const answer of inOrderOfLeaving(candidates, at)) {
      letGo(answer, 'full')
      if (isEnough()) return
    }
  }

  const letGoOfACaller = (at: number): void => {
    const weightOf = (group: Group): number => {
      const lastUse = Array.from(group.answers, ({ usedAt }) => usedAt).reduce((a, b) => Math.max(a, b))
      return weigh(group.bytes, lastUse, at)
    }
    const [first, ...rest] = callers.values()
    if (first === undefined) return
    const start = { group: first, weight: weightOf(first) }
    const { group } = rest.reduce((heaviest, one) => {
      const weight = weightOf(one)
      return weight > heaviest.weight ? { group: one, weight } : heaviest
    }, start)
    for (const answer of [...group.answers]) letGo(answer, 'full')
  }

  /** Lets go of what a new answer needs the room of; all that is expired goes first. */
  const makeRoom = (caller: string, cost: number, at: number): void => {
    const group = () => callers.get(caller)
    const fitsCaller = (): boolean =>
      (group()?.answers.size ?? 0) < limits.maxEntriesPerCaller &&
      (group()?.bytes ?? 0) + cost <= limits.maxBytesPerCaller
    const fitsAll = (): boolean => answers.size < limits.maxEntries && bytes + cost <= limits.maxBytes
    const fitsCallers = (): boolean => group() !== undefined || callers.size < limits.maxCallers
    if (!(fitsCaller() && fitsAll() && fitsCallers())) removeExpired()
    letGoUntil(group()?.answers ?? [], at, fitsCaller)
    if (!fitsCallers()) letGoOfACaller(at)
    letGoUntil(answers.values(), at, fitsAll)
  }

  const removeExpired = (): void => {
    const at = now()
    for (const answer of [...answers.values()]) if (isExpired(answer, at)) letGo(answer, 'expired')
  }

  return {
    /** Whether an answer of this size could be kept at all. */
    fits: (size: number): boolean => {
      const cost = costOf({ bytes: size })
      return cost <= Math.min(limits.maxBytesPerCaller, limits.maxBytes) && limits.maxEntries > 0
    },
    hasRoomInMemory: (size: number): boolean =>
      size <= limits.maxBytesInMemory && memoryBytes + size <= limits.maxMemoryBytes,
    /** Takes an answer in, in place of what is under its key; it goes last of all, whatever has to go for it. */
    add: (answer: KeptAnswer): void => {
      const before = answers.get(answer.key)
      if (before !== undefined) letGo(before, 'lost')
      makeRoom(answer.caller, costOf(answer), answer.usedAt)
      answers.set(answer.key, answer)
      const group = callers.get(answer.caller) ?? { answers: new Set(), bytes: 0 }
      callers.set(answer.caller, group)
      group.answers.add(answer)
      group.bytes += costOf(answer)
      bytes += costOf(answer)
      if (answer.place.in === 'memory') memoryBytes += answer.bytes
    },
    has: (answer: KeptAnswer): boolean => answers.get(answer.key) === answer,
    /** Begins its time to live anew. */
    use: (key: string): KeptAnswer | undefined => {
      const answer = answers.get(key)
      if (answer === undefined) return undefined
      const at = now()
      if (isExpired(answer, at)) {
        letGo(answer, 'expired')
        return undefined
      }
      answer.usedAt = at
      return answer
    },
    letGo,
    removeServer: (serverId: string): void => {
      for (const answer of [...answers.values()]) if (answer.serverId === serverId) letGo(answer, 'server_removed')
    },
    removeExpired,
    sizes: () => ({ entries: answers.size, callers: callers.size, bytes, memoryBytes }),
  }
}
