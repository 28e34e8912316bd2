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
import { AppError } from '../../lib/kernel/errors.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import { getServerFor } from '../../servers/servers.service.ts'

/** Days that are looked at where nobody says which: today and those before it. */
const DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1_000

/** What the calls of a server's tools cost, and what was spared, from a day to a day. */
export type CallTokens = DayRange & {
  encoding: string
  all: TokenSums
  /** Days with calls, the oldest first. */
  days: readonly DaySums[]
  /** The tool that most was saved of first. */
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

/** Which days, where some or none are said. */
const rangeOf = ({ from, to }: WantedDays, now: Date): DayRange => {
  const last = to ?? dayOf(now)
  return { from: from ?? dayOf(new Date(new Date(last).getTime() - (DAYS - 1) * DAY_MS)), to: last }
}

export const createCallTokens = (db: Database) => {
  const store = createToolDayStore(db)
  return {
    /** Throws `not_found` where the actor may not see the server, `invalid_request` where the days are the wrong way round. */
    ofServer: async (actor: Actor, serverId: string, wanted: WantedDays, now = new Date()): Promise<CallTokens> => {
      const { organizationId } = await getServerFor(db, actor, serverId, 'read')
      const range = rangeOf(wanted, now)
      if (range.to < range.from) throw new AppError('invalid_request', '"to" lies before "from".')
      const [days, tools] = await Promise.all([
        store.listDays(serverId, organizationId, range),
        store.listTools(serverId, organizationId, range),
      ])
      return { ...range, encoding: TOKEN_ENCODING, all: sumOf(days), days, tools }
    },
  }
}

export type CallTokensOf = ReturnType<typeof createCallTokens>
