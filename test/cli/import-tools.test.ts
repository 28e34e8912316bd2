import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { connect, toolNames } from '../servers/mcp.ts'
import { follow, PROGRAM, runSharedCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'
import { during, runFakeApi, runUser } from '../support/world.ts'
import { ENTER, hasTerminal, talk } from './terminal.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

const describeShop = (origin: string): string => `openapi: 3.1.0
info: {title: Shop, version: '2'}
servers: [{url: '${origin}'}]
security: [{Token: []}]
components: {securitySchemes: {Token: {type: http, scheme: bearer}}}
paths:
  /orders:
    get: {operationId: listOrders, tags: [orders]}
  /items:
    get: {operationId: listItems, tags: [items], parameters: [{$ref: 'parts.yaml#/limit'}]}
  /items/{id}:
    get: {operationId: getItem, tags: [items], parameters: [{name: id, in: path, required: true, schema: {type: integer}}]}
  /photo:
    post: {operationId: sendPhoto, requestBody: {required: true, content: {image/png: {}}}}
`

const Outcome = z.object({
  toolkit: z.object({ id: z.string(), title: z.string() }),
  created: z.array(z.object({ name: z.string(), key: z.string() })),
  server: z.object({ id: z.string(), url: z.string(), tools: z.int() }).nullable(),
  missing: z.array(z.object({ key: z.string() })),
  discarded: z.array(z.string()),
})
const Toolkits = z.object({ items: z.array(z.object({ title: z.string() })) })

describe('importing an API from the command line', () => {
  const patchbay = during(() => startPatchbay({ env: { PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' } }))
  const builder = runUser(patchbay)
  const api = runFakeApi()

  const run = (directory: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runSharedCommand(['import', ...args], {
      directory,
      env: { PATCHBAY_BASE_URL: patchbay.origin, PATCHBAY_TOKEN: builder.token, ...env },
    })
  const files = (): string => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'shop.yaml'), describeShop(api.origin))
    writeFileSync(join(directory, 'parts.yaml'), 'limit: {name: limit, in: query, schema: {type: integer}}')
    return directory
  }
  const titles = async (): Promise<string[]> =>
    Toolkits.parse((await builder.expectOk('GET', '/toolkits')).body).items.map(({ title }) => title)

  it('creates a toolkit and a server with the chosen operations, with a secret from the environment', async () => {
    const args = ['openapi', 'shop.yaml', 'parts.yaml', '--new-toolkit', 'Shop', '--new-server', 'Shop']
    const chosen = ['--tag', 'items', '--operation', 'GET /orders', '--secret-from', 'token=SHOP_TOKEN']
    const { code, stdout, stderr } = await run(files(), [...args, ...chosen, '--yes', '--json'], { SHOP_TOKEN: TOKEN })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toContain(TOKEN)
    const outcome = Outcome.parse(JSON.parse(stdout))
    expect(outcome).toMatchObject({
      toolkit: { title: 'Shop' },
      created: [{ name: 'list_orders' }, { name: 'list_items' }, { name: 'get_item', key: 'GET /items/{id}' }],
      server: { tools: 3 },
      missing: [],
      discarded: [],
    })
    const client = await connect(outcome.server?.url ?? '', builder.token)
    expect(await toolNames(client)).toEqual(expect.arrayContaining(['get_item', 'list_items', 'list_orders']))
    const before = api.seen.length
    await client.callTool({ name: 'list_items', arguments: { limit: 3 } })
    expect(api.seen.slice(before)).toMatchObject([
      { url: '/items?limit=3', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
  })

  it('says what it imports and what is still to be filled in', async () => {
    const { id } = await builder.create('/toolkits', { title: 'Mine' })
    const { id: serverId } = await builder.create('/servers', { name: 'Mine' })
    const target = ['--toolkit', id, '--server', serverId, '--yes']
    const { code, stdout } = await run(files(), ['openapi', 'shop.yaml', 'parts.yaml', ...target])
    expect(code).toBe(0)
    expect(stdout.replaceAll(/\d+ tokens/g, 'N tokens')).toBe(`Shop 2 (OpenAPI 3.1.0)
3 tools, N tokens:
  list_orders  GET /orders  N tokens
  list_items   GET /items  N tokens
  get_item     GET /items/{id}  N tokens
1 operation cannot be imported:
  POST /photo  It sends a file (image/png), which tools cannot do yet.

Created 3 tools in "Mine"
Added 3 tools to "Mine"
Set these globals on the server "Mine" before you use it: token
MCP server: ${patchbay.origin}/s/${serverId}
`)
  })

  it('leaves out the operations that the review page does not select, unless they are named', async () => {
    const directory = temporaryDirectory()
    const description = { openapi: '3.1.0', info: { title: 'Old' }, servers: [{ url: api.origin }] }
    const paths = { '/new': { get: {} }, '/old': { get: { operationId: 'oldOne', deprecated: true } } }
    writeFileSync(join(directory, 'old.json'), JSON.stringify({ ...description, paths }))
    const created = async (...args: string[]) => {
      const given = ['openapi', 'old.json', '--new-toolkit', 'Old', '--yes', '--json', ...args]
      const outcome = JSON.parse((await run(directory, given)).stdout)
      return { ...Outcome.parse(outcome), leftOut: outcome.leftOut }
    }
    expect(await created()).toMatchObject({
      created: [{ key: 'GET /new' }],
      leftOut: [{ key: 'GET /old', why: 'is deprecated' }],
    })
    expect(await created('--operation', 'oldOne')).toMatchObject({ created: [{ key: 'GET /old' }], leftOut: [] })
    expect(await created('--all')).toMatchObject({ created: [{ key: 'GET /new' }, { key: 'GET /old' }] })
    const { stdout } = await run(directory, ['openapi', 'old.json', '--plan'])
    expect(stdout).toContain('1 operation left out')
    expect(stdout).toMatch(/^1 tool,/m)
    expect(stdout).toContain('  GET /old  It is deprecated.')
  })

  it('updates the tools of a source that it imports again, and adds new operations only if they are named', async () => {
    const directory = temporaryDirectory()
    const write = (paths: object) =>
      writeFileSync(
        join(directory, 'again.json'),
        JSON.stringify({ openapi: '3.1.0', info: { title: 'Again' }, servers: [{ url: api.origin }], paths }),
      )
    const { id } = await builder.create('/toolkits', { title: 'Again' })
    const again = async (...args: string[]) => {
      const { code, stdout } = await run(directory, ['openapi', 'again.json', '--toolkit', id, '--yes', ...args])
      expect(code).toBe(0)
      return stdout
    }
    write({ '/one': { get: {} } })
    expect(await again()).toContain('Created 1 tool in "Again"')
    expect(await again()).toContain('Created 0 tools in "Again"')
    write({ '/one': { get: { summary: 'The first' } }, '/two': { get: {} } })
    const said = await again()
    expect(said).toContain('  GET /two  It is new.')
    expect(said).toContain('Updated 1 tool')
    expect(await again('--operation', 'GET /two')).toContain('Created 1 tool in "Again"')
  })

  it('imports cURL commands from standard input, and discards their secrets without a server', async () => {
    const args = ['import', 'curl', '-', '--new-toolkit', 'Commands', '--yes', '--json']
    const env = { PATH: process.env.PATH, PATCHBAY_BASE_URL: patchbay.origin, PATCHBAY_TOKEN: builder.token }
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: temporaryDirectory(), env })
    child.stdin.end(`curl ${api.origin}/users/12 -H 'Authorization: Bearer ${TOKEN}'`)
    const { code, stdout } = await follow(child).ended
    expect(code).toBe(0)
    expect(stdout).not.toContain(TOKEN)
    expect(Outcome.parse(JSON.parse(stdout))).toMatchObject({
      created: [{ name: 'get_user' }],
      server: null,
      discarded: [expect.stringMatching(/./)],
    })
  })

  it('is told how an API authenticates whose description does not say it', async () => {
    const directory = temporaryDirectory()
    const description = { openapi: '3.1.0', info: { title: 'Open' }, servers: [{ url: api.origin }] }
    const paths = { '/things': { get: { responses: {} } } }
    writeFileSync(join(directory, 'open.json'), JSON.stringify({ ...description, paths }))
    const args = ['openapi', 'open.json', '--new-toolkit', 'Open', '--new-server', 'Open', '--auth', 'header:X-Key']
    const { stdout } = await run(directory, [...args, '--yes', '--json'])
    expect(Outcome.parse(JSON.parse(stdout))).toMatchObject({ missing: [{ key: 'x_key' }] })
  })

  it.skipIf(!hasTerminal)(
    'asks at a terminal for secrets and whether to import, and imports nothing after a no',
    async () => {
      const directory = files()
      const env = { PATCHBAY_BASE_URL: patchbay.origin, PATCHBAY_TOKEN: builder.token }
      const args = ['import', 'openapi', 'shop.yaml', 'parts.yaml', '--new-server', 'Asked']
      const before = await titles()
      const refused = await talk([...args, '--new-toolkit', 'Refused'], { directory, env }, [
        ['token (bearer token', ENTER],
        ['Import 3 tools', 'n'],
      ])
      expect(refused).toContain('Import cancelled')
      expect(await titles()).toEqual(before)
      const said = await talk([...args, '--new-toolkit', 'Asked'], { directory, env }, [
        ['token (bearer token', `${TOKEN}${ENTER}`],
        ['Import 3 tools', `y${ENTER}`],
      ])
      expect(said).toContain('Added 3 tools to "Asked"')
      expect(said).not.toContain(TOKEN)
      expect(await titles()).toEqual([...before, 'Asked'])
    },
  )

  it('leaves nothing behind if nothing can be imported', async () => {
    const directory = files()
    writeFileSync(join(directory, 'page.html'), '<!doctype html><title>Docs</title>')
    const before = await titles()
    for (const [args, said] of [
      [['openapi', 'page.html', '--new-toolkit', 'None'], 'HTML'],
      [['openapi', 'shop.yaml', '--new-toolkit', 'None', '--tag', 'none'], 'No operation matches'],
      [
        ['openapi', 'shop.yaml', '--new-toolkit', 'None', '--new-server', 'None', '--secret-from', 'token=UNSET_TOKEN'],
        'UNSET_TOKEN',
      ],
    ] as const) {
      expect(await run(directory, [...args, '--yes'])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(said),
      })
    }
    expect(await titles()).toEqual(before)
  })

  it.each([
    [['openapi', 'shop.yaml', '--yes'], '--toolkit'],
    [['openapi', 'shop.yaml', '--toolkit', 'x'], '--yes'],
    [['curl', 'x', '--toolkit', 'x', '--server', 'x', '--new-server', 'y', '--yes'], '--new-server'],
    [['har', 'x', '--secret-from', 'token'], 'KEY=VARIABLE'],
  ] as const)('is a usage error: %s', async (args, said) => {
    expect(await run(files(), args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
  })
})
