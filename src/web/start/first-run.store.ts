import { z } from 'zod'
import type { Database, Transaction } from '../platform/db/index.ts'

/** Of the installation, not of a user: it is met once. */
const NAME = 'first-run'

const State = z.discriminatedUnion('step', [
  /** The sample is plugged in, as this server, and was called or not. */
  z.object({ step: z.literal('plugged'), serverId: z.string(), isAnswered: z.boolean() }),
  /** Skipped or finished: never shown again. */
  z.object({ step: z.literal('over') }),
])
export type FirstRunState = z.infer<typeof State>

/** How far somebody got; undefined where nobody began. */
export const findFirstRun = async (tx: Transaction): Promise<FirstRunState | undefined> => {
  const row = await tx.installation.findUnique({ where: { name: NAME } })
  return row === null ? undefined : State.parse(JSON.parse(row.value))
}

export const keepFirstRun = async (db: Database, state: FirstRunState): Promise<void> => {
  const value = JSON.stringify(state)
  await db.installation.upsert({ where: { name: NAME }, create: { name: NAME, value }, update: { value } })
}

/** Whether nobody has made a server or a toolkit yet. */
export const isUnused = async (tx: Transaction): Promise<boolean> => {
  const select = { id: true } as const
  const found = await Promise.all([tx.server.findFirst({ select }), tx.toolkit.findFirst({ select })])
  return found.every(row => row === null)
}

/** Whether a call of the server is in the history; true where the server is gone. */
export const isCalled = async (tx: Transaction, serverId: string): Promise<boolean> => {
  const row = await tx.server.findFirst({
    where: { id: serverId, removedAt: null },
    select: { executions: { select: { id: true }, take: 1 } },
  })
  return row === null || row.executions.length > 0
}
