import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runPatchbay, runUser } from '../support/world.ts'
import { CLIENT_KINDS, connectClient, textOf } from './clients.ts'
import { BLOB, CONTENT, MEMO, MESSAGES, META, STRUCTURED } from './servers/contents.ts'
import { commandOf, everythingCommand, npmCommand, runServer } from './support.ts'

/** Servers with all of them: published ones, and ones that return every kind of content, with both SDK generations. */
const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
const folder = mkdtempSync(join(tmpdir(), 'patchbay-npm-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ends: (() => Promise<void>)[] = []
afterAll(async () => {
  await Promise.all(ends.map(end => end()))
})

let url = ''
const operator = runUser(patchbay, 'operator@example.com')
beforeAll(async () => {
  const { id } = await operator.create('/servers', { name: 'Everything', access: 'public' })
  url = `${patchbay.origin}/s/${id}`
  const [http, sse, contents] = await Promise.all([
    runServer(everythingCommand('streamableHttp')),
    runServer(everythingCommand('sse')),
    runServer(commandOf('contents', 'http')),
  ])
  ends.push(http.stop, sse.stop, contents.stop)
  const at = (port: number, path: string): string => `http://127.0.0.1:${port}${path}`
  const upstreams = [
    { name: 'files', ...npmCommand('server-filesystem', folder) },
    { name: 'memory', ...npmCommand('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
    { name: 'every', ...everythingCommand() },
    { name: 'everyhttp', transport: 'http', url: at(http.port, '/mcp') },
    { name: 'everysse', transport: 'sse', url: at(sse.port, '/sse') },
    { name: 'oldstdio', ...commandOf('contents', 'old') },
    { name: 'newstdio', ...commandOf('contents', 'new') },
    { name: 'oldhttp', transport: 'http', url: at(contents.port, '/old') },
    { name: 'newhttp', transport: 'http', url: at(contents.port, '/new') },
  ]
  const made = await Promise.all(upstreams.map(upstream => operator.create(`/servers/${id}/upstreams`, upstream)))
  await Promise.all(made.map(upstream => operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)))
})

const Named = z.array(z.looseObject({ name: z.string() }))

describe.each(CLIENT_KINDS)('published MCP servers, to client %s', kind => {
  it('list every tool, over each transport and in each era', async () => {
    const client = await connectClient(kind, url)
    const names = Named.parse((await client.request('tools/list')).tools).map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        'files_read_text_file',
        'memory_create_entities',
        ...['every', 'everyhttp', 'everysse'].map(prefix => `${prefix}_echo`),
        ...['oldstdio', 'newstdio', 'oldhttp', 'newhttp'].map(prefix => `${prefix}_everything`),
      ]),
    )
  })

  it.each(['every', 'everyhttp', 'everysse'])('respond as they do directly: %s', async name => {
    const client = await connectClient(kind, url)
    const call = (tool: string, args: Record<string, unknown>) => client.callTool(`${name}_${tool}`, args)
    expect(textOf(await call('echo', { message: 'hello' }))).toBe('Echo: hello')
    expect(textOf(await call('get-sum', { a: 2, b: 3 }))).toContain('5')
    expect(await call('get-tiny-image', {})).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'text' }],
    })
    expect(await call('get-structured-content', { location: 'New York' })).toMatchObject({
      structuredContent: { temperature: expect.any(Number) },
    })
    expect(await call('get-resource-links', { count: 2 })).toMatchObject({
      content: [{ type: 'text' }, { type: 'resource_link' }, { type: 'resource_link' }],
    })
    expect(await call('get-sum', { a: 'two' })).toMatchObject({ isError: true })
    const prompt = { name: `${name}_args-prompt`, arguments: { city: 'Bern' } }
    const { messages } = await client.request('prompts/get', prompt)
    expect(JSON.stringify(messages)).toContain('Bern')
  })

  it.each(['oldstdio', 'newstdio', 'oldhttp', 'newhttp'])(
    'content of every kind is as the upstream made it: %s',
    async name => {
      const client = await connectClient(kind, url)
      const result = await client.callTool(`${name}_everything`)
      expect(result.content).toEqual(CONTENT)
      expect(result.structuredContent).toEqual(STRUCTURED)
      expect(result._meta).toMatchObject(META)
      expect(await client.callTool(`${name}_failing`)).toMatchObject({
        content: [{ type: 'text', text: 'it failed' }],
        isError: true,
      })
      const about = { name: `${name}_about`, arguments: { topic: 'rain' } }
      const { messages } = await client.request('prompts/get', about)
      expect(messages).toEqual(MESSAGES)
    },
  )
})

describe('published MCP servers', () => {
  it('write, read and protect files', async () => {
    const path = join(folder, 'note.txt')
    const client = await connectClient('sdk 2 stateless', url)
    const call = (tool: string, args: Record<string, unknown>) => client.callTool(`files_${tool}`, args)
    await call('write_file', { path, content: 'Grüße\n' })
    expect(readFileSync(path, 'utf8')).toBe('Grüße\n')
    expect(textOf(await call('read_text_file', { path }))).toBe('Grüße\n')
    const outside = await call('read_text_file', { path: '/etc/passwd' })
    expect(outside).toMatchObject({ isError: true })
    expect(textOf(outside)).toMatch(/denied/i)
  })

  it('share their memory between clients', async () => {
    const entity = { name: 'Ada', entityType: 'person', observations: ['wrote notes'] }
    const [one, other] = [await connectClient('sdk 1', url), await connectClient('sdk 2 stateless', url)]
    await one.callTool('memory_create_entities', { entities: [entity] })
    expect(await other.callTool('memory_open_nodes', { names: ['Ada'] })).toMatchObject({
      structuredContent: { entities: [entity] },
    })
  })
})

describe('resources of an upstream', () => {
  it.each([
    ['old', 'sdk 1'],
    ['old', 'sdk 2 stateless'],
    ['new', 'sdk 1 over sse'],
    ['new', 'sdk 2'],
  ] as const)(
    'are listed and read unchanged, text and binary, also by template: %s, to client %s',
    async (line, kind) => {
      const { id } = await operator.create('/servers', { name: 'Memos', access: 'public' })
      const upstream = await operator.create(`/servers/${id}/upstreams`, { name: line, ...commandOf('contents', line) })
      await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
      const client = await connectClient(kind, `${patchbay.origin}/s/${id}`)
      const read = (uri: string) => client.request('resources/read', { uri })
      expect(await client.request('resources/list')).toMatchObject({
        resources: [{ uri: MEMO.uri }, { uri: BLOB.uri }],
      })
      expect(await client.request('resources/templates/list')).toMatchObject({
        resourceTemplates: [{ uriTemplate: 'memo://of/{id}' }],
      })
      expect((await read(MEMO.uri)).contents).toEqual([MEMO])
      expect((await read(BLOB.uri)).contents).toEqual([BLOB])
      expect((await read('memo://of/7')).contents).toEqual([{ uri: 'memo://of/7', text: 'of memo://of/7' }])
      await expect(read('memo://nowhere')).rejects.toThrow(/not found/i)
    },
  )
})
