import { removeInBatches } from '../lib/db/batches.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import { DAY_MS } from '../lib/kernel/durations.ts'
import { dayOf } from './tool-days.store.ts'

/** How long a response or a cut result counts, in days. */
export const SIZE_DAYS = 30

/** The sizes of a tool's responses of the last `SIZE_DAYS` days. */
export type ResponseSizes = {
  /** Number of 2xx responses. */
  succeeded: number
  /** The most tokens of one of them, before it was cut. */
  largest: number
}

export type KnownSizes = {
  /** From recorded calls, by the tool's name on the server. */
  ofCalls: ReadonlyMap<string, ResponseSizes>
  /** From requests that builders sent in the tool editor, by tool id. */
  ofSends: ReadonlyMap<string, ResponseSizes>
  /** The tool with the newest cut result of the last `SIZE_DAYS` days. */
  lastCut: string | undefined
}

type Known = { key: string; _sum: { succeeded: number | null }; _max: { largest: number | null } }

const toSizes = (known: readonly Known[]): Map<string, ResponseSizes> =>
  new Map(known.map(({ key, _sum, _max }) => [key, { succeeded: _sum.succeeded ?? 0, largest: _max.largest ?? 0 }]))

const readCalls = async (tx: Transaction, serverId: string, day: { gte: string }) => {
  const where = { serverId, day }
  const known = await tx.toolDay.groupBy({ by: ['tool'], where, _sum: { succeeded: true }, _max: { largest: true } })
  const cut = await tx.toolDay.findFirst({
    where: { ...where, wasCut: true },
    orderBy: { day: 'desc' },
    select: { tool: true },
  })
  return { ofCalls: toSizes(known.map(({ tool: key, ...sizes }) => ({ key, ...sizes }))), lastCut: cut?.tool }
}

const readSends = async (tx: Transaction, serverId: string, day: { gte: string }) => {
  const where = { tool: { instances: { some: { serverId } } }, day }
  const known = await tx.toolSend.groupBy({ by: ['toolId'], where, _sum: { succeeded: true }, _max: { largest: true } })
  return toSizes(known.map(({ toolId: key, ...sizes }) => ({ key, ...sizes })))
}

const firstDay = (now: Date): string => dayOf(new Date(now.getTime() - SIZE_DAYS * DAY_MS))

/** Reads the known sizes of the responses to a server's tools. */
export const readResponseSizes = async (tx: Transaction, serverId: string, now: Date): Promise<KnownSizes> => {
  const day = { gte: firstDay(now) }
  const [calls, ofSends] = await Promise.all([readCalls(tx, serverId, day), readSends(tx, serverId, day)])
  return { ...calls, ofSends }
}

/** Records that a result was cut. Does nothing if the server was removed. */
export const noteCutResult = async (tx: Transaction, serverId: string, tool: string, now: Date): Promise<void> => {
  if ((await tx.server.count({ where: { id: serverId, removedAt: null } })) === 0) return
  const key = { serverId, day: dayOf(now), tool }
  await tx.toolDay.upsert({
    where: { serverId_day_tool: key },
    create: { ...key, wasCut: true },
    update: { wasCut: true },
  })
}

/** Records the size of a 2xx response to a tool that was sent from the editor. */
export const noteSend = async (tx: Transaction, toolId: string, tokens: number, now: Date): Promise<void> => {
  const key = { toolId, day: dayOf(now) }
  await tx.toolSend.upsert({
    where: { toolId_day: key },
    create: { ...key, succeeded: 1, largest: tokens },
    update: { succeeded: { increment: 1 } },
  })
  await tx.toolSend.updateMany({ where: { ...key, largest: { lt: tokens } }, data: { largest: tokens } })
}

/** Removes the sizes of the responses to tools from the editor, because their definitions have changed. */
export const removeSends = async (tx: Transaction, toolIds: readonly string[]): Promise<void> => {
  await tx.toolSend.deleteMany({ where: { toolId: { in: [...toolIds] } } })
}

/** Removes sizes that no longer count. */
export const removeOldSends = (db: Database, now: Date, signal?: AbortSignal): Promise<void> => {
  const day = { lt: firstDay(now) }
  return removeInBatches(limit => db.toolSend.deleteMany({ where: { day }, limit }), signal)
}
