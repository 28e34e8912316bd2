import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import type { CompiledServer } from '../../src/runtime/call/compiled-server.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { makeServer, makeTool, startTestApp, type TestApp } from './support.ts'
import { beginSession, callStateless, post, replyOf } from './wire.ts'

type Page = { names: string[]; nextCursor: string | undefined }
let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const withTools = (names: readonly string[], id?: string): CompiledServer =>
  makeServer({ ...(id === undefined ? {} : { id }), tools: names.map(name => makeTool(name)) })

const toPage = (result: JsonObject | undefined): Page => {
  const tools = result?.tools as { name: string }[]
  const cursor = result?.nextCursor
  return { names: tools.map(tool => tool.name), nextCursor: typeof cursor === 'string' ? cursor : undefined }
}
const pageOf = async (serverId: string, cursor?: string): Promise<Page> => {
  const response = await callStateless(app, serverId, 'tools/list', cursor === undefined ? {} : { cursor })
  return toPage(replyOf(response).result)
}
const allPages = async (serverId: string): Promise<Page[]> => {
  const pages: Page[] = []
  let cursor: string | undefined
  do {
    const page = await pageOf(serverId, cursor)
    pages.push(page)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return pages
}
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `tool_${String(index).padStart(4, '0')}`)

describe('tools/list', () => {
  it.each([
    [0, [0]],
    [1, [1]],
    [200, [200]],
    [201, [200, 1]],
    [2_000, Array.from({ length: 10 }, () => 200)],
  ])('returns %i tools in pages of 200', async (count, sizes) => {
    const server = withTools(numbered(count))
    app.servers.set(server.id, server)
    const pages = await allPages(server.id)
    expect(pages.map(page => page.names.length)).toEqual(sizes)
    expect(pages.flatMap(page => page.names)).toEqual(numbered(count))
  })

  it('has the same pages in the session era', async () => {
    const server = withTools(numbered(250))
    app.servers.set(server.id, server)
    const session = await beginSession(app, server.id)
    const list = async (params: JsonObject) =>
      toPage(
        replyOf(await post(app, server.id, { jsonrpc: '2.0', id: 1, method: 'tools/list', params }, session)).result,
      )
    const first = await list({})
    const second = await list({ cursor: first.nextCursor ?? '' })
    expect([...first.names, ...second.names]).toEqual(numbered(250))
    expect(second.nextCursor).toBeUndefined()
  })

  it('has a fixed order, in whatever order the tools were given', async () => {
    const server = withTools(['b', 'a', 'B', '_', 'a2', 'a10'])
    app.servers.set(server.id, server)
    expect((await pageOf(server.id)).names).toEqual(['B', '_', 'a', 'a10', 'a2', 'b'])
  })

  it('continues after the last tool seen if the list changes between two pages', async () => {
    const names = numbered(450)
    const before = withTools(names)
    app.servers.set(before.id, before)
    const first = await pageOf(before.id)
    const changed = ['a_new_one_in_front', ...names.filter((_, index) => index % 3 !== 1), 'zz_last']
    app.servers.set(before.id, withTools(changed, before.id))
    await app.registry.refresh(before.id)
    const seen = [...first.names]
    for (let cursor = first.nextCursor; cursor !== undefined; ) {
      const page = await pageOf(before.id, cursor)
      seen.push(...page.names)
      cursor = page.nextCursor
    }
    const stayed = changed.filter(name => name !== 'a_new_one_in_front')
    expect(new Set(seen).size).toBe(seen.length)
    expect(stayed.every(name => seen.includes(name))).toBe(true)
  })

  it('refuses cursors that it did not issue', async () => {
    const server = withTools(numbered(300))
    app.servers.set(server.id, server)
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async cursor => {
        const response = await callStateless(app, server.id, 'tools/list', { cursor })
        expect(replyOf(response).error?.code).toBe(-32602)
      }),
      { numRuns: runsOf(100) },
    )
  })
})
