import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { DatabaseTarget } from '../../src/lib/db/target.ts'
import { databaseKinds } from '../support/databases.ts'
import { createHistoryWorld, type HistoryWorld } from './history-world.ts'

const PROGRAM = fileURLToPath(new URL('recorder.process.ts', import.meta.url))

const toUrl = (target: DatabaseTarget): string => (target.kind === 'sqlite' ? `file:${target.file}` : target.url)

type Recording = {
  child: ChildProcess
  /** The lines printed so far. */
  lines: string[]
  /** Resolves after `times` lines that begin with `start`. */
  said: (start: string, times?: number) => Promise<void>
  /** Resolves once the process has ended and `lines` is complete. */
  ended: Promise<unknown>
}

/** Starts a process that records calls. `before` is prepended to its command line. */
const startRecording = (
  { target, serverId }: HistoryWorld,
  { perTick, maxQueued, before = [] }: { perTick: number; maxQueued: number; before?: string[] },
): Recording => {
  const [command = '', ...args] = [...before, process.execPath, PROGRAM, toUrl(target), serverId]
  const child = spawn(command, [...args, String(perTick), String(maxQueued)], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const output = createInterface({ input: child.stdout })
  const ended = once(output, 'close')
  output.on('line', line => lines.push(line))
  const countOf = (start: string): number => lines.filter(line => line.startsWith(start)).length
  return {
    child,
    lines,
    said: (start, times = 1) =>
      new Promise((resolve, reject) => {
        output.on('line', () => countOf(start) >= times && resolve())
        ended.then(() => reject(new Error(`it ended too early, after it said: ${lines.slice(-5).join(', ')}`)))
      }),
    ended,
  }
}

const idsIn = (lines: readonly string[]): string[] =>
  lines.flatMap(line => (line.startsWith('old ') ? [line.slice('old '.length)] : []))

const expectSoundFile = async ({ target, db }: HistoryWorld): Promise<void> => {
  if (target.kind === 'sqlite') expect(await db.$queryRaw`PRAGMA integrity_check`).toEqual([{ integrity_check: 'ok' }])
}

describe.each(databaseKinds)('a process that records on $kind', kind => {
  it.each([50, 333])('loses no record older than 250 ms when it is killed (after %i records)', async oldOnes => {
    const world = await createHistoryWorld(kind)
    const { child, lines, said, ended } = startRecording(world, { perTick: 5, maxQueued: 10_000 })
    await said('old', oldOnes)
    child.kill('SIGKILL')
    await ended
    const stored = new Set((await world.db.execution.findMany({ select: { id: true } })).map(({ id }) => id))
    expect(idsIn(lines).filter(id => !stored.has(id))).toEqual([])
    await expectSoundFile(world)
  })
})

/** The util-linux command that limits the resources of a process. */
const PRLIMIT = 'prlimit'
/** Bytes by which a file may exceed the initial size of the database before writes fail. */
const LIMIT_ABOVE_DATABASE = 256 * 1_024

describe.runIf(process.platform === 'linux')('a process that records while its database may not grow', () => {
  it('continues, and reports the number of missing records once it can write', async () => {
    const [sqlite] = databaseKinds
    if (sqlite === undefined) throw new Error('no SQLite')
    const world = await createHistoryWorld(sqlite)
    if (world.target.kind !== 'sqlite') throw new Error('no SQLite')
    const limit = statSync(world.target.file).size + LIMIT_ABOVE_DATABASE
    const { child, lines, said, ended } = startRecording(world, {
      perTick: 20,
      maxQueued: 500,
      before: [PRLIMIT, `--fsize=${limit}:`],
    })
    await said('failed')
    await said('missing')
    expect(spawnSync(PRLIMIT, [`--pid=${child.pid}`, '--fsize=unlimited:']).status).toBe(0)
    await said('works')
    child.stdin?.end()
    await ended
    const closed = lines.find(line => line.startsWith('closed'))?.split(' ') ?? []
    const [, recorded = 0, stored = 0, missing = 0] = closed.map(Number)
    expect(missing).toBeGreaterThan(0)
    expect(stored + missing).toBe(recorded)
    expect(await world.countStored()).toBe(stored)
    const gaps = await world.executions.listGaps({ serverIds: [world.serverId] })
    expect(gaps.reduce((sum, gap) => sum + gap.missing, 0)).toBe(missing)
    await expectSoundFile(world)
  })
})
