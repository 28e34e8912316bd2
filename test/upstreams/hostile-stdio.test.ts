import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { signInToPages, textOf as textOfPage } from '../support/signed-in.ts'
import { textOf } from './clients.ts'
import { commandOf, gone } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'patchbay-hostile-'))
/** The file that sets how the process of `turncoat` behaves from its next start. */
const behaviour = join(folder, 'behaviour')
const behaveAs = (how: string): void => writeFileSync(behaviour, how)

/** Upstreams that never start, with the error of each. */
const BAD = [
  ['lost', { ...commandOf('hostile'), command: '/nowhere/server' }, 'The command /nowhere/server was not found'],
  ['exits', commandOf('hostile', 'exits'), 'The process exited with code 3'],
  ['rubbish', commandOf('hostile', 'prints-rubbish'), 'The process printed 100 lines but no MCP message'],
  ['floods', commandOf('hostile', 'floods'), 'The process wrote more than 64 MiB in 10 s'],
  ['silent', commandOf('hostile', 'is-silent'), 'The process did not respond within 4000 ms of its start'],
] as const

const State = z.object({
  state: z.object({ kind: z.string(), why: z.string().optional(), nextTryAt: z.string().optional() }),
})

let app: TestApp
let operator: ApiClient
let url = ''
let serverId = ''
let client: Client
const ids = new Map<string, string>()
/** Pending requests to fetch the catalogues of the upstreams in BAD, all of which fail. */
const failing = new Map<string, ReturnType<typeof refresh>>()
const idOf = (name: string): string => ids.get(name) ?? ''
const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
const stateOf = async (name: string) =>
  State.parse((await operator.expectOk('GET', `/upstreams/${idOf(name)}`)).body).state
const refresh = (name: string) => operator.send('POST', `/upstreams/${idOf(name)}/refresh`)
/** Expects everything else on the same server to be unaffected. */
const expectNeighboursWell = async (): Promise<void> => {
  expect(textOf(await call('good_echo'))).toBe('from the older line')
}

beforeAll(async () => {
  behaveAs('serve')
  app = await startTestApp({
    env: { PATCHBAY_ALLOW_STDIO: 'true' },
    services: { connectionLimits: { startTimeoutMs: 4_000, retryDelaysMs: [60_000] } },
  })
  operator = await signUp(app.origin, 'operator@example.com')
  ;({ id: serverId } = await operator.create('/servers', { name: 'Attached', access: 'public' }))
  url = `${app.origin}/s/${serverId}`
  const attach = async (name: string, body: object): Promise<void> => {
    ids.set(name, (await operator.create(`/servers/${serverId}/upstreams`, { name, ...body })).id)
  }
  await attach('good', commandOf('sdk-old'))
  // Reading the output of `turncoat` takes a while on a busy machine.
  await attach('turncoat', { ...commandOf('hostile', `@${behaviour}`), timeoutMs: 25_000 })
  await attach('slow', { ...commandOf('hostile'), timeoutMs: 500 })
  for (const [name, command] of BAD) await attach(name, command)
  for (const [name] of BAD) failing.set(name, refresh(name))
  await Promise.all([refresh('good'), refresh('slow'), refresh('turncoat')])
  client = new Client({ name: 'official', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
})

afterAll(async () => {
  await client.close()
  await app.close()
  const ledger = join(app.settings.dataDirectory, 'processes')
  expect(existsSync(ledger) ? readdirSync(ledger) : []).toEqual([])
  rmSync(folder, { recursive: true, force: true })
})

describe('upstreams beside commands that never start', () => {
  it('are listed at once, and the list names the missing ones', async () => {
    const listed = await client.request({ method: 'tools/list' }, z.looseObject({ tools: z.array(z.unknown()) }))
    expect(listed.tools.length).toBeGreaterThan(2)
    const said = JSON.stringify(listed._meta)
    for (const [name] of BAD) expect(said).toContain(`"${name}"`)
    await expectNeighboursWell()
  })

  it.each(BAD)(
    'are not affected, and builder and model are told why the other failed: %s',
    async (name, _command, why) => {
      const refused = await failing.get(name)
      expect([refused?.status, refused?.body]).toEqual([
        503,
        expect.objectContaining({ detail: expect.stringContaining(why) }),
      ])
      expect(await stateOf(name)).toMatchObject({
        kind: 'failed',
        why: expect.stringContaining(why),
        nextTryAt: expect.any(String),
      })
      await expect(call(`${name}_anything`)).rejects.toThrow(`The MCP server "${name}" is unavailable: ${why}`)
      await expectNeighboursWell()
    },
  )
})

describe('a command that works and then misbehaves', () => {
  it.each([
    ['dies', 'die', 'The process exited with code 7'],
    ['prints a line of 100 MB', 'long-line', 'The process printed a line of more than 10485760 bytes'],
    ['prints 300 MB in lines', 'many-lines', 'The process wrote more than 64 MiB in 10 s'],
  ])('fails the call during which it %s with the reason and serves the next one', async (_, tool, why) => {
    const [failed] = await Promise.all([call(`turncoat_${tool}`), expectNeighboursWell()])
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(/^The MCP server "turncoat" failed: /)
    expect(textOf(failed)).toContain(why)
    expect(textOf(await call('turncoat_echo', { text: 'as ever' }))).toBe('as ever')
  })

  it('has at most 100 notifications per second handled, and its page counts the others', async () => {
    expect(textOf(await call('turncoat_notify'))).toBe('told')
    const browser = await signInToPages(app.origin, 'operator@example.com', app.settings.baseUrl)
    const path = `/servers/${serverId}/sources/upstreams/${idOf('turncoat')}`
    const [, dropped = ''] = /([\d,]+) messages? dropped/.exec(textOfPage((await browser.get(path)).html)) ?? []
    expect(Number(dropped.replace(',', ''))).toBeGreaterThan(500)
  })

  it('times the call out if it never responds', async () => {
    const failed = await call('slow_hang')
    expect(textOf(failed)).toContain('failed: The MCP server did not respond within 500 ms')
    expect(textOf(await call('slow_echo', { text: 'as ever' }))).toBe('as ever')
  })

  it('is read once if it responds twice, and despite output that is not MCP', async () => {
    expect(textOf(await call('turncoat_twice'))).toBe('first')
    expect(textOf(await call('turncoat_chatter'))).toBe('after rubbish')
    expect(textOf(await call('turncoat_echo', { text: 'as ever' }))).toBe('as ever')
  })

  it('keeps its tools listed while it cannot start, fails calls with an error, and recovers', async () => {
    const pid = Number(textOf(await call('turncoat_pid')))
    behaveAs('exits')
    process.kill(pid, 'SIGKILL')
    await gone([pid])
    const failed = await call('turncoat_echo', { text: 'a' })
    expect(textOf(failed)).toMatch(/exited with code 3\. Its log may say why\..* Patchbay reconnects in \d+ s/)
    expect(await stateOf('turncoat')).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('exited with code 3'),
    })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('turncoat_echo')
    await expectNeighboursWell()
    behaveAs('serve')
    expect(textOf(await call('turncoat_echo', { text: 'back' }))).toBe('back')
    expect(await stateOf('turncoat')).toEqual({ kind: 'connected' })
  })

  it('is stopped together with the processes it forked, in any process group', async () => {
    const pids = textOf(await call('turncoat_fork'))
      .split(' ')
      .map(Number)
    const pid = Number(textOf(await call('turncoat_pid')))
    expect(pids).toHaveLength(2)
    await operator.expectOk('PATCH', `/upstreams/${idOf('turncoat')}`, { enabled: false })
    await gone([pid, ...pids])
    expect(await stateOf('turncoat')).toEqual({ kind: 'disabled' })
    await expect(call('turncoat_echo')).rejects.toThrow('turncoat_echo')
    await expectNeighboursWell()
  })
})

it('no process of a failed upstream keeps running, and every start is logged', () => {
  const ledger = join(app.settings.dataDirectory, 'processes')
  const entries = readdirSync(ledger).map(file => readFileSync(join(ledger, file), 'utf8'))
  expect(entries).toHaveLength(2)
})
