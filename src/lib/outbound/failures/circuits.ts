import {
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  handleWhenResult,
  isBrokenCircuitError,
} from 'cockatiel'
import { LRUCache } from 'lru-cache'
import type { OutboundFault } from '../outbound-fault.ts'
import { OutboundError, type OutboundResponse } from '../outbound-request.ts'

export type CircuitOptions = {
  /** Number of failures in a row after which no more requests are sent. */
  maxFailures: number
  /** Pause before the origin is tried again. Doubles with each failed try. */
  openMs: number
  maxOpenMs: number
  /** Time that the request which tries the origin again may take before others are sent. */
  maxProbeMs: number
}

const DEFAULTS: CircuitOptions = {
  // More than the calls that one model makes at a time, so that one bad moment does not open the circuit.
  maxFailures: 10,
  openMs: 5_000,
  maxOpenMs: 60_000,
  // The timeout of a tool that sets none.
  maxProbeMs: 30_000,
}

/** Maximum number of organizations and origins whose failures are counted. The least recently used are forgotten. */
const MAX_CIRCUITS = 1_000

/** Statuses that mean that the API itself is unavailable. An error in one operation is usually a 500. */
const FAILING: ReadonlySet<number> = new Set([502, 503, 504])

/** Faults that count as a failure of the origin, in words. Others, such as an unknown name, fail at once anyway. */
const FAULTS: Partial<Record<OutboundFault, string>> = {
  refused: 'it refused the connection',
  reset: 'it closed the connection',
  connect_timeout: 'it accepted no connection in time',
  timeout: 'it did not respond in time',
  unreachable: 'it could not be reached',
}

/** The reason that an origin gets no requests for now. `retryInMs` is 0 while one request tries it. */
export type OpenCircuit = { failures: number; lastFailure: string; retryInMs: number }

/** An origin that gets no requests of an organization for now. */
export type FailingOrigin = OpenCircuit & { organizationId: string | undefined; origin: string }

/** Outcome of a request for its origin. `unknown` if it got no response for a reason of ours, such as a cancelled call. */
type Verdict = { failure: string } | 'answered' | 'unknown'

const verdictOn = ({ status }: Pick<OutboundResponse, 'status'>): Verdict =>
  FAILING.has(status) ? { failure: `it responded with ${status}` } : 'answered'

const verdictOnError = (error: unknown): Verdict => {
  const failure = error instanceof OutboundError ? FAULTS[error.fault] : undefined
  return failure === undefined ? 'unknown' : { failure }
}

type CircuitParts = CircuitOptions & { now: () => number; onWorking: () => void }

/** Counts the failures in a row of one organization's requests to an origin, and decides whether more may be sent. */
const createCircuit = ({ maxFailures, openMs, maxOpenMs, maxProbeMs, now, onWorking }: CircuitParts) => {
  let failures = 0
  let lastFailure = ''
  /** On the monotonic clock. cockatiel uses the time of day, which may step. */
  let retryAtMs = 0
  const policy = circuitBreaker(
    handleWhenResult(hasFailed => hasFailed === true),
    {
      breaker: new ConsecutiveBreaker(maxFailures),
      halfOpenAfter: new DelegateBackoff(({ attempt }) => {
        const delayMs = Math.min(openMs * 2 ** (attempt - 1), maxOpenMs)
        retryAtMs = now() + delayMs
        return delayMs
      }),
    },
  )

  const count = ({ failure }: { failure: string }): true => {
    failures++
    lastFailure = failure
    return true
  }

  /** Passes on the verdict on the one request that tries the origin again. An unknown verdict counts as a failure. */
  const probe = async (verdict: Promise<Verdict>): Promise<void> => {
    const hasFailed = async (): Promise<boolean> => {
      const known = await verdict
      return typeof known === 'object' ? count(known) : known === 'unknown'
    }
    try {
      if (!(await policy.execute(hasFailed))) onWorking()
    } catch (error) {
      if (!isBrokenCircuitError(error)) throw error
      // The time of day was set back. Forget the failures rather than wait until it has caught up.
      onWorking()
    }
  }

  return {
    /** Returns why no request may be sent now, or undefined if one may. */
    whyOpen: (): OpenCircuit | undefined => {
      if (policy.state === CircuitState.Closed) return undefined
      const isProbing = policy.state === CircuitState.HalfOpen
      const retryInMs = retryAtMs + (isProbing ? maxProbeMs : 0) - now()
      return retryInMs > 0 ? { failures, lastFailure, retryInMs: isProbing ? 0 : retryInMs } : undefined
    },
    /** Judges the origin by a request that has been sent. Never rejects. */
    judge: async (verdict: Promise<Verdict>): Promise<void> => {
      if (policy.state === CircuitState.Open) return probe(verdict)
      const known = await verdict
      if (known === 'answered') onWorking()
      else if (known !== 'unknown' && policy.state === CircuitState.Closed) await policy.execute(() => count(known))
    },
  }
}

/**
 * Stops requests to origins that keep failing, so that calls fail at once instead of waiting, and the API can recover.
 * After a pause, one request tries the origin again. Each organization has circuits of its own, because an API may fail
 * for the credentials of one only. An origin that works has none, so that its requests cost nothing.
 */
export const createCircuits = ({ now, ...given }: Partial<CircuitOptions> & { now: () => number }) => {
  const options = { ...DEFAULTS, ...given }
  const circuits = new LRUCache<string, Circuit>({ maxSize: MAX_CIRCUITS, sizeCalculation: () => 1 })

  const keyOf = (organizationId = '', origin: string): string => `${organizationId} ${origin}`
  /** Reads what `keyOf` has written. */
  const readKey = (key: string): Pick<FailingOrigin, 'organizationId' | 'origin'> => {
    const [organizationId = '', origin = ''] = key.split(' ')
    return { organizationId: organizationId === '' ? undefined : organizationId, origin }
  }

  const add = (key: string): Circuit => {
    const circuit = createCircuit({
      ...options,
      now,
      onWorking: () => {
        if (circuits.peek(key) === circuit) circuits.delete(key)
      },
    })
    circuits.set(key, circuit)
    return circuit
  }

  return {
    /** Returns the circuit of an origin that has failed last time, or undefined. */
    find: (organizationId: string | undefined, origin: string): Circuit | undefined =>
      circuits.size === 0 ? undefined : circuits.get(keyOf(organizationId, origin)),
    /** Lists the origins that get no requests for now. */
    listFailing: (): FailingOrigin[] =>
      [...circuits].flatMap(([key, circuit]) => {
        const open = circuit.whyOpen()
        return open === undefined ? [] : [{ ...readKey(key), ...open }]
      }),
    /** Judges an origin by a request that has been sent. Returns its response, or rejects with its error. */
    watch: async (
      sent: Promise<OutboundResponse>,
      organizationId: string | undefined,
      origin: string,
      circuit: Circuit | undefined,
    ): Promise<OutboundResponse> => {
      if (circuit !== undefined) {
        void circuit.judge(sent.then(verdictOn, verdictOnError))
        return sent
      }
      const note = (verdict: Verdict): void => {
        if (typeof verdict !== 'object') return
        const key = keyOf(organizationId, origin)
        void (circuits.get(key) ?? add(key)).judge(Promise.resolve(verdict))
      }
      try {
        const response = await sent
        note(verdictOn(response))
        return response
      } catch (error) {
        note(verdictOnError(error))
        throw error
      }
    },
  }
}

type Circuit = ReturnType<typeof createCircuit>
