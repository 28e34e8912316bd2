import { hostname } from 'node:os'
import type { Recorder } from '../../history/execution-record.ts'
import { CALLS_LOOKED_AT, type SlowTool } from '../../history/slowest-tools.store.ts'
import type { ListedUser } from '../../identity/user-list.store.ts'
import type { JobPool } from '../../jobs/job-pool.ts'
import type { ConnectedProcess } from '../../lib/db/measure.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { exactTime, shownTime } from '../../lib/http/pages/time-text.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { formatBytes, formatCount, formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import type { FailingOrigin } from '../../lib/outbound/failures/circuits.ts'
import type { Notice } from '../../lib/process/notices.ts'
import type { Vitals } from '../../lib/process/vitals.ts'
import type { CallLedger } from '../../results/ledger/call-ledger.ts'

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** Formats an uptime, such as `3 d 4 h`, `5 h 12 min`, `12 min` or `40 s`. */
const upFor = (seconds: number): string => {
  if (seconds < MINUTE_S) return `${Math.floor(seconds)} s`
  const minutes = Math.floor((seconds % HOUR_S) / MINUTE_S)
  if (seconds < HOUR_S) return `${minutes} min`
  const hours = Math.floor((seconds % DAY_S) / HOUR_S)
  return seconds < DAY_S ? `${hours} h ${minutes} min` : `${formatNumber(Math.floor(seconds / DAY_S))} d ${hours} h`
}

/** `organization` is its name. */
export type NamedFailingOrigin = FailingOrigin & { organization: string | undefined }

/** The most origins that keep failing that are listed. */
const MAX_FAILING = 50

export type Health = {
  version: string
  database: { kind: 'sqlite' | 'postgresql'; bytes: number | undefined }
  users: number
  servers: number
  vitals: Vitals
  jobs: ReturnType<JobPool['stats']>
  failing: readonly NamedFailingOrigin[]
  retries: number
  /** Undefined if the database does not know the processes. */
  processes: readonly ConnectedProcess[] | undefined
  slowest: readonly SlowTool[]
  records: ReturnType<Recorder['stats']>
  ledger: ReturnType<CallLedger['stats']>
  notices: readonly Notice[]
  openStreams: number
  mountedServers: number
  baseUrl: { url: string; advice: string | undefined; askedAt: string }
}

/** Formats what is used of something, such as `120 of 1,024`. */
const partText = ({ used, limit }: { used: number; limit: number }, format: (value: number) => string): string =>
  `${format(used)} of ${format(limit)}`

const toProcessRow = ({ version, pid, host, since, connections }: ConnectedProcess) => ({
  name: `${host || 'unknown host'}, process ${pid}`,
  version,
  connections: formatNumber(connections),
  since: shownTime(since),
  isSelf: pid === String(process.pid) && hostname().startsWith(host),
})

const toSlowRow = ({ serverId, server, tool, calls, mean, longest }: SlowTool) => ({
  id: serverId,
  server,
  tool,
  calls: formatNumber(calls),
  mean: formatDuration(mean),
  longest: formatDuration(longest),
})

const toFailingRow = ({ origin, organization, failures, lastFailure, retryInMs }: NamedFailingOrigin) => ({
  origin,
  organization,
  failures: formatNumber(failures),
  lastFailure,
  next: retryInMs === 0 ? 'now' : `in ${formatDuration(retryInMs)}`,
})

export const toHealthView = ({
  vitals,
  jobs,
  failing,
  retries,
  records,
  ledger,
  processes,
  slowest,
  ...health
}: Health) => {
  const { heapUsed } = process.memoryUsage()
  const { memory, descriptors, disk, loop } = vitals
  const upSeconds = process.uptime()
  const startedAt = new Date(Date.now() - upSeconds * 1_000)
  return {
    notices: health.notices.map(({ level, message }) => ({
      text: message,
      tone: level === 'problem' ? ('danger' as const) : ('warn' as const),
    })),
    figures: [
      { name: 'Uptime', value: upFor(upSeconds) },
      {
        name: 'Memory',
        value: partText(memory, formatBytes),
        besides: `${formatBytes(heapUsed)} JavaScript heap`,
      },
      {
        name: 'Event loop delay, p99',
        value: formatDuration(loop.p99Ms),
        besides: `max ${formatDuration(loop.maxMs)}`,
      },
      ...(descriptors === undefined ? [] : [{ name: 'File descriptors', value: partText(descriptors, formatNumber) }]),
      ...(disk === undefined ? [] : [{ name: 'Disk of the data folder', value: partText(disk, formatBytes) }]),
      {
        name: 'Jobs in worker threads',
        value: partText({ used: jobs.running, limit: jobs.maxRunning }, formatNumber),
        besides: `${formatNumber(jobs.waiting)} waiting`,
      },
      {
        name: 'APIs that keep failing',
        value: formatNumber(failing.length),
        besides: `${formatCount(retries, 'retry', 'retries')} since startup`,
      },
      { name: 'Open connections', value: formatNumber(health.openStreams) },
      {
        name: 'Servers in memory',
        value: formatNumber(health.mountedServers),
        besides: `of ${formatNumber(health.servers)}`,
      },
    ],
    history: [
      { name: 'Waiting to be written', value: formatNumber(records.queued) },
      { name: 'Written', value: formatNumber(records.stored) },
      { name: 'Missing', value: formatNumber(records.missing), isBad: records.missing > 0 },
    ],
    tokens: [
      { name: 'Results counted', value: formatNumber(ledger.counted) },
      { name: 'Waiting to be counted', value: formatNumber(ledger.waiting) },
      { name: 'Not counted', value: formatNumber(ledger.notCounted) },
      { name: 'Tokens sent', value: formatNumber(ledger.tokensSent) },
      { name: 'Tokens saved', value: formatNumber(ledger.tokensBefore - ledger.tokensSent) },
    ],
    isHistoryWell: records.missing === 0,
    facts: [
      { name: 'Patchbay', value: health.version },
      { name: 'Node', value: process.version },
      {
        name: 'Database',
        value: `${health.database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${
          health.database.bytes === undefined ? 'size unknown' : formatBytes(health.database.bytes)
        }`,
      },
      { name: 'Accounts', value: formatNumber(health.users) },
    ],
    processes: processes?.map(toProcessRow),
    failing: failing.slice(0, MAX_FAILING).map(toFailingRow),
    slowest: slowest.map(toSlowRow),
    callsLookedAt: formatNumber(CALLS_LOOKED_AT),
    started: exactTime(startedAt),
    since: exactTime(loop.since),
    baseUrl: {
      url: health.baseUrl.url,
      advice: health.baseUrl.advice,
      askedAt: health.baseUrl.askedAt === health.baseUrl.url ? undefined : health.baseUrl.askedAt,
    },
  }
}

/** Returns the function that makes a row of the list of accounts, for the operator who reads it. */
export const toUserRow =
  ({ userId }: Actor) =>
  ({ createdAt, ...user }: ListedUser) => ({
    ...user,
    isSelf: user.id === userId,
    since: shownTime(createdAt),
    suspendHref: addressOf('/operator/suspensions', { kind: 'user', target: user.email }),
  })
