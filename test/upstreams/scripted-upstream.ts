import type { ServerResponse } from 'node:http'
import type { SeenRequest } from '../support/fake-api.ts'
import { runFakeApi } from '../support/world.ts'

export type Asked = { id?: unknown; method: string; params?: Record<string, unknown> }

/** Overrides of an upstream's behavior. Everything else follows the protocol. */
export type Script = {
  serverInfo?: object
  capabilities?: object
  tools?: (timesAsked: number) => readonly object[]
  resources?: readonly object[]
  templates?: readonly object[]
  /** The error that every tool call returns. */
  refusal?: string
  /** The code of `refusal`. */
  refusalCode?: number
  /** Responds to tool calls in place of the upstream. */
  onCall?: (response: ServerResponse) => void
  instructions?: string
  /** The error with which initialize fails. */
  unopened?: string
  /** The HTTP status of the response to server/discover, instead of an error that says that it is unknown. */
  discoverStatus?: number
  /** Returns the error with which tools/list fails, as JSON. */
  unlisted?: (timesAsked: number) => string | undefined
  /** Returns the result of all other requests, as JSON. */
  result?: (asked: Asked) => string
  /** Returns the notifications, as JSON, to send before the response to a request. */
  notices?: (asked: Asked) => readonly string[]
}

const TOOL = { name: 'work', inputSchema: { type: 'object' } }

const resultOf = (script: Script, asked: Asked, timesAsked: number): string => {
  if (asked.method === 'initialize') {
    const { serverInfo = { name: 'scripted', version: '1' }, capabilities = { tools: {}, logging: {} } } = script
    return JSON.stringify({
      protocolVersion: '2025-11-25',
      capabilities,
      serverInfo,
      instructions: script.instructions,
    })
  }
  if (asked.method === 'tools/list') return JSON.stringify({ tools: script.tools?.(timesAsked) ?? [TOOL] })
  if (asked.method === 'resources/list') return JSON.stringify({ resources: script.resources ?? [] })
  if (asked.method === 'resources/templates/list') return JSON.stringify({ resourceTemplates: script.templates ?? [] })
  return script.result?.(asked) ?? '{"content":[{"type":"text","text":"done"}]}'
}

/** Runs scripted MCP servers over Streamable HTTP, each at its own path. */
export const runScriptedUpstreams = (scripts: Readonly<Record<string, Script>>) => {
  const asked = new Map<string, number>()
  const count = (path: string, method: string): number => {
    const times = (asked.get(`${path} ${method}`) ?? 0) + 1
    asked.set(`${path} ${method}`, times)
    return times
  }
  const pathOf = ({ url }: SeenRequest): string => url.slice(1)
  const api = runFakeApi((request, response) => {
    const script = scripts[pathOf(request)] ?? {}
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message: Asked = JSON.parse(request.body)
    const times = count(pathOf(request), message.method)
    if (message.id === undefined) return void response.writeHead(202).end()
    const id = JSON.stringify(message.id)
    if (message.method === 'server/discover' && script.discoverStatus !== undefined) {
      return void response.writeHead(script.discoverStatus).end()
    }
    if (message.method === 'server/discover') {
      const refusal = `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(refusal)
    }
    if (message.method === 'tools/call' && script.onCall !== undefined) return script.onCall(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const notice of script.notices?.(message) ?? []) response.write(`data: ${notice}\n\n`)
    const refusal = message.method === 'initialize' ? script.unopened : undefined
    if (refusal !== undefined) {
      const error = `{"code":-32000,"message":${JSON.stringify(refusal)}}`
      return void response.end(`data: {"jsonrpc":"2.0","id":${id},"error":${error}}\n\n`)
    }
    const unlisted = message.method === 'tools/list' ? script.unlisted?.(times) : undefined
    if (unlisted !== undefined) return void response.end(`data: {"jsonrpc":"2.0","id":${id},"error":${unlisted}}\n\n`)
    const said =
      script.refusal !== undefined && message.method === 'tools/call'
        ? `"error":{"code":${script.refusalCode ?? -32_000},"message":${JSON.stringify(script.refusal)}}`
        : `"result":${resultOf(script, message, times)}`
    response.end(`data: {"jsonrpc":"2.0","id":${id},${said}}\n\n`)
  })
  return {
    urlOf: (path: string): string => `${api.origin}/${path}`,
    /** Returns how many requests of a method the upstream received. */
    timesAsked: (path: string, method: string): number => asked.get(`${path} ${method}`) ?? 0,
  }
}
