/** Position of a call in a server's history: its time, as the database writes it, and its id. */
export type Place = readonly [startedAt: string, id: string]

/** The calls to remove: those of a server, or those of an organization that started at or before a time. */
export type RemovedCalls = { serverId: string } | { organizationId: string; until: Date }

/**
 * Work on a long history, which the recorder's thread does in batches, so that neither the thread that handles calls
 * nor the database is busy with it for long:
 *
 * - `fill`: sets the organization of the newest calls that have none, and adds them to the sums
 * - `move`: sets the organization of a server's calls after a place, because the server has moved
 * - `find_limit`: finds the time of the newest call beyond an organization's maximum
 * - `remove_calls`, `remove_sums`: deletes calls, or all sums of a server
 * - `remove_old_sums`: deletes the sums of a server that are past their retention
 */
export type HistoryTask =
  | { kind: 'fill' }
  | { kind: 'move'; serverId: string; after: Place | undefined }
  | { kind: 'find_limit'; organizationId: string; keep: number }
  | { kind: 'remove_calls'; calls: RemovedCalls }
  | { kind: 'remove_sums'; serverId: string }
  | { kind: 'remove_old_sums'; serverId: string; now: Date }

/** `isDone` if nothing is left to do. Otherwise a `move` continues after `last`. `found` in milliseconds since the epoch. */
export type TaskResult = { isDone: boolean; last?: Place | undefined; found?: number | undefined }

/** Rows per batch, which take a few milliseconds. */
export const TASK_ROWS = 500
