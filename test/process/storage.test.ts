import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { DATABASE_WAIT_MS } from '../../src/lib/db/waiting.ts'
import { post, statelessRequest } from '../mcp/wire.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { changeDatabase, runCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'
import { signInToPages } from '../support/signed-in.ts'
import { callTool } from './calls.ts'

vi.setConfig({ testTimeout: 90_000 })

/** Creates a private server with one tool, so that each call has a token to verify. */
const servePrivately = async (patchbay: { origin: string }) => {
  const api = await startFakeApi(echo)
  onTestFinished(api.close)
  const builder = await signUp(patchbay.origin)
  const tools = [{ name: 'get_thing', method: 'GET', url: `${api.origin}/thing` }]
  const server = { name: 'Private', access: 'private' }
  const { url, serverId } = await makeServer(builder, tools, { server })
  const headers = { authorization: `Bearer ${builder.token}` }
  const call = async (): Promise<void> => {
    const { status, text } = await callTool(url, 'get_thing', {}, headers)
    expect({ status, isAnswered: text.includes('/thing') && !text.includes('isError') }).toEqual({
      status: 200,
      isAnswered: true,
    })
  }
  await call()
  return { builder, serverId, call }
}

const write = (builder: ApiClient) => builder.send('POST', '/toolkits', { title: 'Written' })

describe('a database that another process has locked', () => {
  const lock = ({ directory }: TestApp): Sqlite.Database => {
    const other = new Sqlite(join(directory, 'patchbay.db'))
    onTestFinished(() => void other.close())
    other.exec('BEGIN EXCLUSIVE')
    return other
  }

  it('delays only writes at first, then makes them fail with 503 and Retry-After, while calls succeed', async () => {
    const patchbay = await startTestApp()
    onTestFinished(patchbay.close)
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { builder, call } = await servePrivately(patchbay)
    const short = lock(patchbay)
    let isWritten = false
    const delayed = write(builder).finally(() => {
      isWritten = true
    })
    await call()
    vi.advanceTimersByTime(DATABASE_WAIT_MS / 2)
    await call()
    expect((await builder.send('GET', '/toolkits')).status).toBe(200)
    expect(isWritten).toBe(false)
    short.exec('ROLLBACK')
    expect((await delayed).status).toBe(201)

    const long = lock(patchbay)
    let isAnswered = false
    const writing = write(builder).finally(() => {
      isAnswered = true
    })
    while (!isAnswered) {
      await call()
      vi.advanceTimersByTime(DATABASE_WAIT_MS / 10)
    }
    const { status, headers, body } = await writing
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 503, type: 'application/problem+json' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(body).toMatchObject({ type: 'urn:patchbay:error:unavailable', detail: expect.stringContaining('busy') })
    long.exec('ROLLBACK')
    expect((await write(builder)).status).toBe(201)
  })
})

/** Runs a command as root. Returns whether it succeeded. */
const asRoot = (...command: string[]): boolean => {
  const [program = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

const DISK = join(temporaryDirectory(), 'data')
mkdirSync(DISK)
const hasDisk = process.platform === 'linux' && asRoot('mount', '-t', 'tmpfs', '-o', 'size=3m,mode=0777', 'tmpfs', DISK)
afterAll(() => {
  if (hasDisk) asRoot('umount', '-l', DISK)
})

const fill = (file: string): void => {
  for (const bytes of [65_536, 4_096, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  }
}

const History = z.object({ items: z.array(z.unknown()), gaps: z.array(z.object({ missing: z.number() })) })

describe.runIf(hasDisk)('a full disk', () => {
  it('makes changes fail with 507 while calls succeed, and changes succeed again once there is space', async () => {
    const patchbay = await startPatchbay({ directory: join(DISK, '..') })
    const { builder, serverId, call } = await servePrivately(patchbay)
    const browser = await signInToPages(patchbay.origin, builder.email)
    let calls = 1
    const callOnce = async (): Promise<void> => {
      await call()
      calls++
    }
    const filler = join(DISK, 'filler')
    fill(filler)
    // The write-ahead log reuses its space, so the first writes may still succeed.
    const refusal = await vi.waitUntil(
      async () => {
        const answer = await write(builder)
        return answer.status === 201 ? undefined : answer
      },
      { timeout: 30_000, interval: 1 },
    )
    expect(refusal.status).toBe(507)
    expect(refusal.headers.get('content-type')).toBe('application/problem+json')
    expect(refusal.body).toMatchObject({
      type: 'urn:patchbay:error:storage_full',
      detail: expect.stringContaining('full'),
    })
    expect(JSON.stringify(refusal.body)).not.toContain(DISK)

    const headers = { authorization: `Bearer ${builder.token}` }
    const list = statelessRequest('tools/list')
    for (let turn = 0; turn < 20; turn++) await callOnce()
    const ready = await fetch(`${patchbay.origin}/readyz`)
    expect(ready.status).toBe(200)
    const problems = [expect.stringContaining('cannot be written, because its disk is full')]
    expect(await ready.json()).toMatchObject({ status: 'degraded', problems })
    expect((await fetch(`${patchbay.origin}/readyz?strict`)).status).toBe(503)
    const diagnosis = await runCommand(['doctor'], patchbay.settings)
    expect(diagnosis).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^1 problem:\n- running server: .*disk is full/),
    })
    expect((await browser.get('/operator')).html).toContain('because its disk is full')
    expect((await post(patchbay, serverId, list.body, { ...list.headers, ...headers })).status).toBe(200)
    expect((await builder.send('GET', '/toolkits')).status).toBe(200)
    expect((await write(builder)).status).toBe(507)

    rmSync(filler)
    await vi.waitFor(async () => expect((await write(builder)).status).toBe(201), { timeout: 20_000, interval: 100 })
    await callOnce()
    await vi.waitFor(
      async () => {
        const { body } = await builder.expectOk('GET', `/servers/${serverId}/executions?limit=200`)
        const { items, gaps } = History.parse(body)
        expect(items.length + gaps.reduce((sum, { missing }) => sum + missing, 0)).toBe(calls)
      },
      { timeout: 20_000, interval: 100 },
    )
    expect(await patchbay.stop()).toMatchObject({ code: 0 })
    const log = patchbay.stdout() + patchbay.stderr()
    expect(log).toContain(patchbay.databaseFile)
    expect(log.match(/"problem":"database_unwritable"/g)?.length).toBeGreaterThan(0)
  })
})

it('a damaged database is reported by /readyz and doctor as soon as the damage is read', async () => {
  const first = await startPatchbay()
  expect(await first.stop()).toMatchObject({ code: 0 })
  const { directory, databaseFile } = first
  const columns = '"id", "action", "targetType", "targetName", "createdAt", "updatedAt"'
  changeDatabase(
    directory,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
     INSERT INTO "AuditEntry" (${columns})
     SELECT printf('entry-%d', i), 'user.sign_in', 'user', hex(randomblob(100)), '2020-01-01', '2020-01-01' FROM n`,
  )
  const bytes = readFileSync(databaseFile)
  bytes.fill(0xff, bytes.length * 0.75) // starts after the schema, which is read first
  writeFileSync(databaseFile, bytes)

  // The entries are old, so they are read, to be deleted, right after the start.
  const patchbay = await startPatchbay(first.settings)
  const problems = [expect.stringContaining('database file is damaged')]
  await vi.waitFor(
    async () => expect(await (await fetch(`${patchbay.origin}/readyz`)).json()).toMatchObject({ problems }),
    { timeout: 20_000, interval: 100 },
  )
  const diagnosis = await runCommand(['doctor'], patchbay.settings)
  expect(diagnosis).toMatchObject({ code: 1, stdout: expect.stringContaining('database file is damaged') })
  expect(patchbay.stdout()).toContain('"problem":"database_damaged"')
})
