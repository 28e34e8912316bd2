import { z } from 'zod'
import type { Database, Transaction } from '../../lib/db/client.ts'

/** Key under which the first-run state is stored. There is only one per installation. */
const NAME = 'first-run'

const State = z.discriminatedUnion('step', [
  z.object({
    /** A server with tools has been created. */
    step: z.literal('plugged'),
    serverId: z.string(),
    /** The tool to call first. */
    tool: z.string().optional(),
    /** The MCP server whose tools are still to be chosen. */
    upstreamId: z.string().optional(),
    /** Whether a call has completed. */
    isAnswered: z.boolean(),
  }),
  /** The first run was skipped or finished and is never shown again. */
  z.object({ step: z.literal('over') }),
])
export type FirstRunState = z.infer<typeof State>
export type Plugged = FirstRunState & { step: 'plugged' }

/** Returns the state of the first run; undefined if it has not started. */
export const findFirstRun = async (tx: Transaction): Promise<FirstRunState | undefined> => {
  const row = await tx.installation.findUnique({ where: { name: NAME } })
  return row === null ? undefined : State.parse(JSON.parse(row.value))
}

export const saveFirstRun = async (db: Database, state: FirstRunState): Promise<void> => {
  const value = JSON.stringify(state)
  await db.installation.upsert({ where: { name: NAME }, create: { name: NAME, value }, update: { value } })
}

/** Returns whether the installation has no servers and no toolkits. */
export const isUnused = async (tx: Transaction): Promise<boolean> => {
  const select = { id: true } as const
  const found = await Promise.all([
    tx.server.findFirst({ where: { removedAt: null }, select }),
    tx.toolkit.findFirst({ select }),
  ])
  return found.every(row => row === null)
}

/** Returns whether the server has been called. Also returns true if the server no longer exists. */
export const isCalled = async (tx: Transaction, serverId: string): Promise<boolean> => {
  const row = await tx.server.findFirst({
    where: { id: serverId, removedAt: null },
    select: { executions: { select: { id: true }, take: 1 } },
  })
  return row === null || row.executions.length > 0
}
