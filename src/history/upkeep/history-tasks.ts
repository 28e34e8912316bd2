/** Place of a call in the order of a server's history: its time, as the database writes it, and its id. */
export type Place = readonly [startedAt: string, id: string]

/** The calls to remove: those of a server, or those of an organization that started at or before a time. */
export type RemovedCalls = { serverId: string } | { organizationId: string; until: Date }

/**
 * Work on a long history, which the recorder's thread does in batches, so that neither the thread that handles calls
 * nor the database is busy with it for long:
 *
 * - `fill`: gives the newest calls without an organization that of their server, and adds them to the sums
 * - `move`: gives the calls of a server after a place the server's organization, because it has changed
 * - `find_limit`: finds the time of the newest call of an organization that is one too many
 * - `remove_calls`, `remove_sums`: deletes calls, or all sums of a server
 * - `remove_old_sums`: deletes the sums of a server that are older than they are kept
 */
export type HistoryTask =
  | { kind: 'fill' }
  | { kind: 'move'; serverId: string; after: Place | undefined }
  | { kind: 'find_limit'; organizationId: string; keep: number }
  | { kind: 'remove_calls'; calls: RemovedCalls }
  | { kind: 'remove_sums'; serverId: string }
  | { kind: 'remove_old_sums'; serverId: string; now: Date }

/** `isDone` if nothing is left to do. Otherwise a `move` goes on after `last`. `found` in milliseconds since the epoch. */
export type TaskResult = { isDone: boolean; last?: Place | undefined; found?: number | undefined }

/** Rows per batch, which take a few milliseconds. */
export const TASK_ROWS = 500
