import {
  createToolDayStore,
  type DayRange,
  type DaySums,
  dayOf,
  type TokenSums,
  type ToolSums,
} from '../../history/tool-days.store.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import { onlyCallerShown, policyOf } from '../../servers/access/access.ts'
import { getServerFor } from '../../servers/servers.service.ts'

/** Default number of days, including today. */
const DAYS = 30

/** The token costs and savings of a server's calls in a range of days. */
export type CallTokens = DayRange & {
  encoding: string
  all: TokenSums
  /** Days with calls, oldest first. */
  days: readonly DaySums[]
  /** Largest savings first. */
  tools: readonly ToolSums[]
}

type WantedDays = { from?: string | undefined; to?: string | undefined }

const sumOf = (days: readonly TokenSums[]): TokenSums => {
  const sum = { calls: 0, counted: 0, estimated: 0, tokensBefore: 0, tokensSent: 0 }
  for (const { calls, counted, estimated, tokensBefore, tokensSent } of days) {
    sum.calls += calls
    sum.counted += counted
    sum.estimated += estimated
    sum.tokensBefore += tokensBefore
    sum.tokensSent += tokensSent
  }
  return sum
}

/** Returns the requested range, with defaults for the days that the request omits. */
const rangeOf = ({ from, to }: WantedDays, now: Date): DayRange => {
  const last = to ?? dayOf(now)
  return { from: from ?? dayOf(new Date(new Date(last).getTime() - (DAYS - 1) * DAY_MS)), to: last }
}

export const createCallTokens = (db: Database) => {
  const store = createToolDayStore(db)
  return {
    /**
     * Throws `not_found` or `forbidden` if the actor may not see all calls of the server, and `invalid_request` if the
     * first day is after the last.
     */
    ofServer: async (actor: Actor, serverId: string, wanted: WantedDays, now = new Date()): Promise<CallTokens> => {
      const server = await getServerFor(db, actor, serverId, 'read')
      // The sums do not tell callers apart.
      if (onlyCallerShown(policyOf(server), actor) !== undefined) {
        throw new AppError(
          'forbidden',
          'Only the owner of this private server and organization admins can see its tokens.',
        )
      }
      const { organizationId } = server
      const range = rangeOf(wanted, now)
      if (range.to < range.from) throw new AppError('invalid_request', '"to" must not be before "from".')
      const [days, tools] = await Promise.all([
        store.listDays(serverId, organizationId, range),
        store.listTools(serverId, organizationId, range),
      ])
      return { ...range, encoding: TOKEN_ENCODING, all: sumOf(days), days, tools }
    },
  }
}

export type CallTokensOf = ReturnType<typeof createCallTokens>
