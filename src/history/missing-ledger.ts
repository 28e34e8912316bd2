import { newExecutionId } from './execution-id.ts'
import type { GapRow, MissingReason } from './recording-batch.ts'

type Entry = { serverId: string; reason: MissingReason; missing: number; from: number; to: number }

/** Counts records that could not be kept: one entry a server and reason, from the first missing call to the last. */
export const createMissingLedger = () => {
  let entries = new Map<string, Entry>()
  let total = 0
  let reported = 0

  return {
    /** `startedAt` in milliseconds since 1970. */
    count: (serverId: string, startedAt: number, reason: MissingReason): void => {
      total++
      const key = `${serverId} ${reason}`
      const entry = entries.get(key)
      if (entry === undefined) {
        entries.set(key, { serverId, reason, missing: 1, from: startedAt, to: startedAt })
        return
      }
      entry.missing++
      entry.from = Math.min(entry.from, startedAt)
      entry.to = Math.max(entry.to, startedAt)
    },
    isEmpty: (): boolean => entries.size === 0,
    /** Hands the entries over as rows of the gap table, each with an id, and begins anew. */
    take: (): GapRow[] => {
      const taken = entries
      entries = new Map()
      return Array.from(taken.values(), ({ serverId, missing, from, to, reason }) => {
        return [newExecutionId(), serverId, missing, from, to, reason]
      })
    },
    /** These rows are written. */
    report: (gaps: readonly GapRow[]): void => {
      for (const [, , missing] of gaps) reported += missing
    },
    /** How many were counted since the start. */
    total: (): number => total,
    /** How many of them stand in rows that are written. */
    reported: (): number => reported,
  }
}

export type MissingLedger = ReturnType<typeof createMissingLedger>
