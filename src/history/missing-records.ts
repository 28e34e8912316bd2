import { newExecutionId } from './execution-id.ts'
import type { GapRow, MissingReason } from './recording-batch.ts'

type Entry = { serverId: string; reason: MissingReason; missing: number; from: number; to: number }

/** Counts lost records in one entry per server and reason, with the times of the first and last one. */
export const createMissingRecords = () => {
  let entries = new Map<string, Entry>()
  let total = 0
  let reported = 0

  return {
    /** `startedAt` in milliseconds since the epoch. */
    count: (serverId: string, startedAt: number, reason: MissingReason): void => {
      total++
      const key = `${serverId} ${reason}`
      const entry = entries.get(key) ?? { serverId, reason, missing: 0, from: startedAt, to: startedAt }
      entries.set(key, entry)
      entry.missing++
      entry.from = Math.min(entry.from, startedAt)
      entry.to = Math.max(entry.to, startedAt)
    },
    isEmpty: (): boolean => entries.size === 0,
    /** Returns the entries as rows of the gap table, with new ids, and clears the entries. */
    take: (): GapRow[] => {
      const taken = entries
      entries = new Map()
      return Array.from(taken.values(), ({ serverId, missing, from, to, reason }) => {
        return [newExecutionId(), serverId, missing, from, to, reason]
      })
    },
    /** Counts the missing records in these rows as reported. */
    report: (gaps: readonly GapRow[]): void => {
      for (const [, , missing] of gaps) reported += missing
    },
    total: (): number => total,
    /** Returns the number of missing records in written rows. */
    reported: (): number => reported,
  }
}

export type MissingRecords = ReturnType<typeof createMissingRecords>
