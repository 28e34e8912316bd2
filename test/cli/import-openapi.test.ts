import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { follow, PROGRAM, runSharedCommand, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

const MAIN = `openapi: 3.1.0
info: {title: Shop, version: '2'}
servers: [{url: https://shop.example.com}]
security: [{token: []}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
webhooks: {paid: {post: {}}}
paths:
  /orders:
    get:
      operationId: listOrders
      parameters: [{$ref: '../parameters.yaml#/limit'}]
  /photo:
    post: {requestBody: {required: true, content: {image/png: {}}}}
`

const makeFiles = (): string => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'spec'))
  writeFileSync(join(directory, 'spec/openapi.yaml'), MAIN)
  writeFileSync(join(directory, 'parameters.yaml'), 'limit: {name: limit, in: query, schema: {type: integer}}')
  return directory
}

const run = (directory: string, ...args: string[]) => runSharedCommand(['import', 'openapi', ...args], { directory })

const Plan = z.object({
  summary: z.object({ title: z.string(), operations: z.number() }),
  tools: z.array(
    z.object({ name: z.string(), key: z.string(), url: z.string(), tokens: z.number(), notes: z.array(z.string()) }),
  ),
  refused: z.array(z.object({ key: z.string(), reason: z.string() })),
  missing: z.array(z.string()),
})

const repeat = function* <T>(value: T): Generator<T> {
  for (;;) yield value
}

const planOf = async (directory: string, ...args: string[]) =>
  Plan.parse(JSON.parse((await run(directory, ...args, '--plan', '--json')).stdout))

describe('import openapi', () => {
  it('prints the tools that it would create, and what it cannot import', async () => {
    const { code, stdout, stderr } = await run(makeFiles(), 'spec/openapi.yaml', 'parameters.yaml', '--plan')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replaceAll(/\d+ tokens/g, 'N tokens')).toBe(`Shop 2 (OpenAPI 3.1.0)
1 tool, N tokens:
  list_orders  GET /orders  N tokens
1 operation cannot be imported:
  POST /photo  It sends a file (image/png), which tools cannot do yet.
1 webhook will not be imported: the API sends them.
Globals of the server:
  base_url = https://shop.example.com
  token (secret: bearer token, for token)
`)
  })

  it('prints the same as JSON', async () => {
    const { tools, refused, missing } = await planOf(makeFiles(), 'spec/openapi.yaml', 'parameters.yaml')
    expect(tools).toMatchObject([
      { key: 'GET /orders', url: '{{url:base_url}}/orders?limit={{integer:limit?}}', notes: [] },
    ])
    expect(refused).toHaveLength(1)
    expect(missing).toEqual([])
  })

  it('names documents that are missing', async () => {
    const { tools, missing } = await planOf(makeFiles(), 'spec/openapi.yaml')
    expect(missing).toEqual(['parameters.yaml'])
    expect(tools[0]?.notes).toEqual([expect.stringContaining('../parameters.yaml#/limit')])
  })

  it('authenticates as --auth says if the description does not', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'given'), 'openapi: 3.1.0\npaths: {/a: {get: {}}}')
    expect((await run(directory, 'given', '--plan')).stdout).toContain('does not say how to authenticate: see --auth.')
    const { stdout } = await run(directory, 'given', '--plan', '--auth', 'bearer')
    expect(stdout).toContain('access_token (secret: bearer token')
    expect(await run(directory, 'given', '--plan', '--auth', 'x')).toMatchObject({ code: 2 })
  })

  it('reads standard input', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'import', 'openapi', '-', '--plan', '--json'], {
      cwd: temporaryDirectory(),
    })
    child.stdin.end(MAIN)
    const { stdout } = await follow(child).ended
    expect(Plan.parse(JSON.parse(stdout)).summary).toEqual({ title: 'Shop', operations: 2 })
  })

  it('stops reading an endless input', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'import', 'openapi', '-', '--plan'], { cwd: temporaryDirectory() })
    const { ended } = follow(child)
    // The pipe ends with the command.
    const endless = Readable.from(repeat(Buffer.alloc(1_000_000)))
    endless.on('error', () => undefined)
    child.stdin.on('error', () => endless.destroy())
    endless.pipe(child.stdin)
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'patchbay: The input has more than 33.6 MB.\n' })
  })

  it.each([
    { content: '<!doctype html>', error: /^patchbay: It is an HTML page\. / },
    {
      content: 'openapi: 3.1.0',
      error: /^patchbay: There are no operations in given\. It was read as OpenAPI 3\.1\.0, /,
    },
    { content: 'openapi: [', error: /^patchbay: It is not valid YAML: line 1: / },
  ])('says in one line what is wrong with a file that contains $content', async ({ content, error }) => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'given'), content)
    const { code, stdout, stderr } = await run(directory, 'given', '--plan')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(error)
    expect(stderr.trim()).not.toContain('\n')
  })

  it('says so if a file does not exist, or --plan is missing', async () => {
    const directory = makeFiles()
    expect((await run(directory, 'none.json', '--plan')).stderr).toBe('patchbay: The file none.json does not exist.\n')
    expect(await run(directory, 'spec/openapi.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--plan'),
    })
  })
})
