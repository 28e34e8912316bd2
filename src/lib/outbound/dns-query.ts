import type { LookupAddress, RecordWithTtl } from 'node:dns'
import { Resolver } from 'node:dns/promises'

/** How often c-ares repeats a question: about every second, at the next server if there are several, beyond any deadline. */
const REPEATS = { timeout: 500, maxTimeout: 1_000, tries: 8 }
/** How long to wait for the other family when one has answered (RFC 8305 §3), so that one lost packet may be late. */
const RESOLUTION_DELAY_MS = 200
/** Maximum addresses of each family that are used. Over TCP, a name server can send thousands. */
const MAX_ADDRESSES = 32
const MISSING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA'])

export type DnsAnswer =
  /** `isComplete`: the servers have said which addresses of both families there are, or that there are none. */
  | { kind: 'addresses'; addresses: LookupAddress[]; ttlMs: number; isComplete: boolean }
  /** The servers say that there is no such name, or, if it exists, that it has no addresses. */
  | { kind: 'missing'; exists: boolean }
  | { kind: 'silent' }
  /** `code` is that of c-ares, such as ESERVFAIL. */
  | { kind: 'failed'; code: string }

export type DnsQueryOptions = {
  /** Addresses of name servers, with a port if it is not 53. Default: those of the system. */
  servers: readonly string[] | undefined
  deadlineMs: number
}

type FamilyAnswer = { family: 4 | 6; records: readonly RecordWithTtl[]; code?: string }

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const toAnswer = (answers: readonly FamilyAnswer[]): DnsAnswer => {
  const isComplete = answers.length === 2 && answers.every(({ code }) => code === undefined || MISSING.has(code))
  // IPv4 first: it works nearly everywhere, and connecting tries the families in turn.
  const found = answers.toSorted((one, other) => one.family - other.family)
  const addresses = found.flatMap(({ family, records }) => records.map(({ address }) => ({ address, family })))
  if (addresses.length > 0) {
    const ttls = found.flatMap(({ records }) => records.map(({ ttl }) => ttl))
    return { kind: 'addresses', addresses, ttlMs: Math.min(...ttls) * 1_000, isComplete }
  }
  const codes = answers.flatMap(({ code }) => code ?? [])
  const failed = codes.find(code => code !== 'ETIMEOUT' && !MISSING.has(code))
  if (failed !== undefined) return { kind: 'failed', code: failed }
  if (!isComplete) return { kind: 'silent' }
  return { kind: 'missing', exists: !codes.includes('ENOTFOUND') }
}

/**
 * Asks the name servers for the addresses of a name, of both families. Never rejects. Each query has a resolver of its
 * own, which costs less than 0.1 ms, because only a whole resolver can be cancelled.
 */
export const queryAddresses = (name: string, { servers, deadlineMs }: DnsQueryOptions): Promise<DnsAnswer> =>
  new Promise(resolve => {
    const resolver = new Resolver(REPEATS)
    if (servers !== undefined) resolver.setServers(servers)
    const startedAt = performance.now()
    const answers: FamilyAnswer[] = []

    const finish = (): void => {
      clearTimeout(timer)
      resolve(toAnswer(answers))
      resolver.cancel()
    }
    let timer = setTimeout(finish, deadlineMs)

    const receive = (answer: FamilyAnswer): void => {
      answers.push(answer)
      if (answers.length === 2) finish()
      if (answers.length === 2 || answer.records.length === 0) return
      clearTimeout(timer)
      timer = setTimeout(finish, Math.min(RESOLUTION_DELAY_MS, deadlineMs - (performance.now() - startedAt)))
    }

    const ask = (family: 4 | 6, records: Promise<RecordWithTtl[]>): void => {
      records.then(
        found => receive({ family, records: found.slice(0, MAX_ADDRESSES) }),
        (error: unknown) => receive({ family, records: [], code: codeOf(error) }),
      )
    }
    ask(4, resolver.resolve4(name, { ttl: true }))
    ask(6, resolver.resolve6(name, { ttl: true }))
  })
