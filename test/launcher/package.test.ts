import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeScratchFolder } from '../../scripts/scratch-folder.ts'
import { callText, connect } from '../servers/mcp.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { databaseKinds } from '../support/databases.ts'
import { answerJson, type FakeApi, startFakeApi } from '../support/fake-api.ts'
import { freePort } from '../support/free-port.ts'
import { type Ended, follow, type Running } from '../support/process.ts'
import { cleanEnvironment } from './project.ts'

// All other tests run the sources. These run what users install, with each part that is loaded by its file's name.

const ROOT = join(import.meta.dirname, '../..')
const INSTALL_MS = 120_000
/**
 * Under `npm test`, everything is already built. Otherwise `npm pack` must skip its scripts, which could rebuild while
 * other tests run.
 */
const isUnderNpm = process.env.npm_lifecycle_event === 'test'
const PEOPLE = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `Person ${id}` }))
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

const Demo = z.object({ url: z.url(), call: z.object({ name: z.string(), arguments: z.record(z.string(), z.json()) }) })

describe.skipIf(process.platform === 'win32')('the package, installed in an empty folder', () => {
  const box = makeScratchFolder('patchbay-package-')
  const folder = join(box, 'project')
  const installed = join(folder, 'node_modules/patchbay')
  let env: NodeJS.ProcessEnv = {}
  let origin = ''
  let server: Running
  let fake: FakeApi
  let builder: ApiClient

  const start = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Running =>
    follow(
      spawn('npx', ['patchbay', ...args], { cwd: folder, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  const run = (args: readonly string[], more?: NodeJS.ProcessEnv): Promise<Ended> => start(args, more).ended

  beforeAll(async () => {
    const port = await freePort()
    origin = `http://localhost:${port}`
    env = {
      ...cleanEnvironment(),
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      XDG_CACHE_HOME: join(box, 'cache'),
      PATCHBAY_PORT: String(port),
      PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
      PATCHBAY_ALLOW_STDIO: 'true',
    }
    mkdirSync(folder)
    const pack = ['pack', '--pack-destination', box, ...(isUnderNpm ? [] : ['--ignore-scripts'])]
    execFileSync('npm', pack, { cwd: ROOT, env, stdio: 'pipe' })
    const tarball = readdirSync(box).find(name => name.endsWith('.tgz')) ?? ''
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(box, tarball)]
    execFileSync('npm', install, { cwd: folder, env, stdio: 'pipe' })
    fake = await startFakeApi((_request, response) => answerJson(response, { people: PEOPLE }))
    server = start(['serve'])
    await server.said('Patchbay is ready')
    builder = await signUp(origin)
  }, INSTALL_MS)

  afterAll(async () => {
    server.kill('SIGTERM')
    await server.ended
    await fake.close()
    rmSync(box, { recursive: true, force: true })
  })

  it('has no sources, and depends only on packages with native parts', () => {
    expect(
      ['src', 'prisma', 'scripts', 'test', 'tsconfig.json'].filter(path => existsSync(join(installed, path))),
    ).toEqual([])
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies)).toEqual(['@node-rs/argon2', 'better-sqlite3'])
  })

  it('ships the licences of the bundled packages', () => {
    const licences = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES'), 'utf8')
    for (const name of ['fastify', 'zod', 'undici', 'jsonata', 'htmx.org', '@prisma/client'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })

  it('runs the demo, whose server an MCP client can call', async () => {
    const { code, stdout } = await run(['demo', '--json'])
    expect(code).toBe(0)
    const { url, call } = Demo.parse(JSON.parse(stdout))
    const { text, isError } = await callText(await connect(url), call.name, call.arguments)
    expect({ result: JSON.parse(text), isError }).toMatchObject({ result: { from: 'EUR', to: 'JPY' }, isError: false })
  })

  it('shapes, cuts and searches a result, counts its tokens, and records the calls', async () => {
    const tool = { method: 'GET', url: `${fake.origin}/people` }
    const transform = (language: string, expression: string) => ({ response: { transform: { language, expression } } })
    const { serverId, url } = await makeServer(
      builder,
      [
        { ...tool, name: 'long' },
        { ...tool, name: 'jsonata', ...transform('jsonata', '$count(people)') },
        { ...tool, name: 'jmespath', ...transform('jmespath', 'people[1].name') },
      ],
      { server: { maxResponseTokens: 1_000 } },
    )
    const client = await connect(url)
    expect(await callText(client, 'jsonata')).toEqual({ text: '2000', isError: false })
    expect(await callText(client, 'jmespath')).toEqual({ text: 'Person 1', isError: false })
    const cut = await client.callTool({ name: 'long' })
    const { cacheId } = z.object({ cacheId: z.string() }).parse(cut._meta?.['patchbay/answer'])
    const found = await callText(client, 'proxy_search', { cache_id: cacheId, pattern: '1777' })
    expect(found).toMatchObject({ text: expect.stringContaining('Person 1777'), isError: false })
    expect((await builder.expectOk('GET', `/servers/${serverId}/lint`)).status).toBe(200)
    await expect
      .poll(async () => (await builder.expectOk('GET', `/servers/${serverId}/executions`)).body)
      .toMatchObject({ items: [{ tool: 'proxy_search' }, { tool: 'long' }, { tool: 'jmespath' }, { tool: 'jsonata' }] })
  })

  it('attaches an MCP server', async () => {
    const { serverId } = await makeServer(builder, [])
    const command = { transport: 'stdio', command: process.execPath, args: [EVERYTHING] }
    const { id } = await builder.create(`/servers/${serverId}/upstreams`, { name: 'everything', ...command })
    expect((await builder.expectOk('POST', `/upstreams/${id}/refresh`)).body).toMatchObject({
      tools: expect.arrayContaining(['get-sum']),
    })
  })

  it('serves pages with their assets, and the description of its API', async () => {
    const page = await (await fetch(`${origin}/sign-in`)).text()
    const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
    expect(assets.length).toBeGreaterThan(0)
    for (const path of [...assets, '/assets/htmx/htmx.min.js'])
      expect([path, (await fetch(`${origin}${path}`)).status]).toEqual([path, 200])
    const { body } = await builder.expectOk('GET', '/openapi.json')
    expect(body).toMatchObject({ info: { title: expect.stringContaining('Patchbay') } })
  })

  it('serves each script with what it imports as one file, which browsers keep for a year', async () => {
    const page = await (await fetch(`${origin}/sign-in`)).text()
    const scripts = [...page.matchAll(/<script src="([^"]+)"/g)].flatMap(([, path]) => path ?? [])
    expect(scripts).toHaveLength(1)
    scripts.push('/assets/js/tool-editor.js?v=1')
    for (const path of scripts) {
      const response = await fetch(`${origin}${path}`)
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ])
      const text = await response.text()
      expect(text).not.toMatch(/^import[^(]|sourceMappingURL/m)
      // Grows while it is iterated.
      for (const [, name] of text.matchAll(/\bimport\([`'"]\.\/([^`'"]+)/g)) scripts.push(`/assets/js/${name}`)
    }
    expect(scripts.length).toBeGreaterThan(2)
  })

  it('works with PostgreSQL', async () => {
    const database = await databaseKinds.find(({ kind }) => kind === 'postgresql')?.createEmpty()
    const account = ['--email', 'ada@example.com', '--password', 'correct horse battery']
    expect(await run(['user', 'create', ...account], { DATABASE_URL: database?.url })).toMatchObject({ code: 0 })
    await database?.drop()
  })

  it('keeps its data in the folder that it was started in, and nothing elsewhere', () => {
    expect(readdirSync(folder).sort()).toEqual(['data', 'node_modules', 'package-lock.json', 'package.json'])
    expect(existsSync(join(box, 'cache'))).toBe(false)
  })

  it('leaves no process behind when npx is stopped', async () => {
    server.kill('SIGTERM')
    // The output closes once the last process that holds it open has ended.
    expect(await server.ended).toMatchObject({ stderr: expect.not.stringContaining('patchbay: ') })
  })
})
