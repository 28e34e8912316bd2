import type { Limit, LimitRefusal } from './limit.ts'
import type { Meter } from './meter.ts'
import type { Meters } from './meters.ts'

/** A call to check. An anonymous caller has no user or token. */
export type LimitedCall = {
  organizationId: string
  serverId: string
  toolId: string
  userId: string | undefined
  /** The token, or the grant of the application that uses it. */
  tokenId: string | undefined
  /** Price of the call, in millionths of the currency. */
  price: number
}

/** A call that may start. `countTokens` receives the tokens of its result, if a limit counts them. */
export type AdmittedCall = { countTokens: ((tokens: number) => void) | undefined }

export type Admission = { refusal: LimitRefusal } | AdmittedCall

const idOf = ({ scope }: Limit, call: LimitedCall): string | undefined => {
  switch (scope) {
    case 'organization':
      return ''
    case 'server':
      return call.serverId
    case 'tool':
      return call.toolId
    case 'user':
      return call.userId
    case 'token':
      return call.tokenId
  }
}

/** Returns the target whose uses a limit counts for this call, or undefined if it does not apply to the call. */
const targetOf = (limit: Limit, call: LimitedCall): string | undefined => {
  if (limit.unit === 'money' && call.price === 0) return undefined
  const id = idOf(limit, call)
  return limit.targetId === undefined || limit.targetId === id ? id : undefined
}

type OnRefused = (call: LimitedCall, refusal: LimitRefusal) => Promise<void>

type Applied = { limit: Limit; meter: Meter }

const refuse = (limit: Limit, retryAfterMs: number): { refusal: LimitRefusal } => ({
  refusal: { limit, retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)) },
})

/** Checks every limit. Returns the refusal with the longest wait, or a promise after which to check again. */
const check = (applied: readonly Applied[]): { refusal: LimitRefusal } | Promise<unknown> | undefined => {
  const waits: Promise<void>[] = []
  let refused: { limit: Limit; retryAfterMs: number } | undefined
  for (const { limit, meter } of applied) {
    const state = meter.check()
    if (state instanceof Promise) waits.push(state)
    else if (state !== undefined && state.retryAfterMs > (refused?.retryAfterMs ?? 0)) refused = { limit, ...state }
  }
  if (refused !== undefined) return refuse(refused.limit, refused.retryAfterMs)
  return waits.length === 0 ? undefined : Promise.all(waits)
}

const begin = (applied: readonly Applied[], price: number): AdmittedCall => {
  for (const { limit, meter } of applied) {
    if (limit.unit === 'calls') meter.count(1)
    if (limit.unit === 'money') meter.count(price)
  }
  const counting = applied.filter(({ limit }) => limit.unit === 'tokens')
  if (counting.length === 0) return { countTokens: undefined }
  return {
    countTokens: tokens => {
      for (const { meter } of counting) meter.count(tokens)
    },
  }
}

/**
 * Creates the check of calls against the limits of their organizations. The limits are in memory: `replace` sets those
 * of one organization, or of all.
 */
export const createCallAdmission = (meters: Pick<Meters, 'of'>, onRefused?: OnRefused) => {
  const byOrganization = new Map<string, readonly Limit[]>()

  /** Nothing may be awaited between a successful check and the counting, or calls at the same time would all pass. */
  const admit = async (applied: readonly Applied[], call: LimitedCall): Promise<Admission> => {
    for (;;) {
      const state = check(applied)
      if (state === undefined) return begin(applied, call.price)
      if ('refusal' in state) {
        await onRefused?.(call, state.refusal)
        return state
      }
      await state
    }
  }

  return {
    /** Counts a call, unless a limit is reached. Returns undefined if no limit applies to it. */
    admit: (call: LimitedCall): Promise<Admission> | undefined => {
      const limits = byOrganization.get(call.organizationId)
      if (limits === undefined) return undefined
      const applied = limits.flatMap(limit => {
        const target = targetOf(limit, call)
        return target === undefined ? [] : [{ limit, meter: meters.of(limit, target) }]
      })
      return applied.length === 0 ? undefined : admit(applied, call)
    },
    replace: (limits: readonly Limit[], organizationId?: string): void => {
      if (organizationId === undefined) byOrganization.clear()
      else byOrganization.delete(organizationId)
      for (const [id, ofOne] of Map.groupBy(limits, limit => limit.organizationId)) byOrganization.set(id, ofOne)
    },
  }
}
export type CallAdmission = ReturnType<typeof createCallAdmission>
