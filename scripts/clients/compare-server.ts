/** Compares a third-party MCP server that is attached to Patchbay with a direct connection to it. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { z } from 'zod'
import type { Send } from '../../bench/patchbay.ts'
import { createServer } from '../../bench/upstreams.ts'
import { scriptOf } from './packages.ts'
import { FOLDER, type ThirdPartyServer } from './server-table.ts'

const TIMEOUT_MS = 60_000
const NAME = 'up'
const PREFIX = `${NAME}_`

type Tool = Awaited<ReturnType<Client['listTools']>>['tools'][number]
type Result = { content: unknown; structuredContent: unknown; isError: boolean } | { error: string }
type Seen = { tools: Tool[]; resources: string[]; prompts: string[]; results: Result[] }

/** What Patchbay keeps of a tool for clients. */
const shownOf = ({ title, description, inputSchema, outputSchema, annotations }: Tool) => ({
  ...{ title, description, inputSchema, outputSchema, annotations },
})

const listTools = async (client: Client): Promise<Tool[]> => {
  const { tools, nextCursor } = await client.listTools()
  if (nextCursor === undefined) return tools
  const all = [...tools]
  for (let cursor: string | undefined = nextCursor; cursor !== undefined; ) {
    const page = await client.listTools({ cursor })
    all.push(...page.tools)
    cursor = page.nextCursor
  }
  return all
}

/** Returns the result of a call without `_meta`, or its error. */
const resultOf = async (
  client: Client,
  call: { name: string; arguments: Record<string, unknown> },
): Promise<Result> => {
  try {
    const { content, structuredContent, isError } = await client.callTool(call)
    return { content, structuredContent, isError: isError === true }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

const look = async (
  client: Client,
  calls: NonNullable<ThirdPartyServer['calls']>,
  toName: (name: string) => string,
): Promise<Seen> => {
  const has = client.getServerCapabilities() ?? {}
  const results: Result[] = []
  const tools = await listTools(client)
  for (const call of calls) results.push(await resultOf(client, { ...call, name: toName(call.name) }))
  return {
    tools,
    resources: has.resources === undefined ? [] : (await client.listResources()).resources.map(({ uri }) => uri),
    prompts: has.prompts === undefined ? [] : (await client.listPrompts()).prompts.map(({ name }) => name),
    results,
  }
}

const withClient = async <T>(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  use: (client: Client) => Promise<T>,
): Promise<T> => {
  const client = new Client({ name: 'comparison', version: '1' })
  await client.connect(transport, { timeout: TIMEOUT_MS })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** Replaces FOLDER in all strings of a value. */
const place = <T>(value: T, folder: string): T => JSON.parse(JSON.stringify(value).replaceAll(FOLDER, folder))

const sortedEqual = (one: readonly string[], other: readonly string[]): boolean =>
  isDeepStrictEqual([...one].sort(), [...other].sort())

const describeChanges = (tool: Tool, through: Tool, unchecked: ReadonlySet<string>): string[] => {
  const shown: Record<string, unknown> = shownOf(through)
  return Object.entries(shownOf(tool))
    .filter(([part, value]) => !isDeepStrictEqual(value, shown[part]))
    .filter(([part]) => part !== 'outputSchema' || !unchecked.has(tool.name))
    .map(
      ([part, value]) => `${tool.name}: ${part} is ${JSON.stringify(shown[part])}, directly ${JSON.stringify(value)}`,
    )
}

/** Patchbay does not support tasks, so it hides tools that can only be called as one. */
const needsTask = ({ execution }: Tool): boolean => execution?.taskSupport === 'required'

/** Whether Patchbay passed on an error of the server in a tool's result, where the model can read it. */
const isSameError = (direct: Result, hosted: Result): boolean => {
  if (!('error' in direct) || 'error' in hosted) return false
  const message = direct.error.replace(/^(MCP error -?\d+: )+/, '')
  return hosted.isError && JSON.stringify(hosted.content).includes(JSON.stringify(message).slice(1, -1))
}

const differencesOf = (direct: Seen, hosted: Seen, unchecked: ReadonlySet<string>): string[] => {
  const byName = new Map(hosted.tools.map(tool => [tool.name, tool]))
  const found: string[] = []
  for (const tool of direct.tools.filter(tool => !needsTask(tool))) {
    const through = byName.get(`${PREFIX}${tool.name}`)
    byName.delete(`${PREFIX}${tool.name}`)
    if (through === undefined) found.push(`${tool.name} is missing`)
    else found.push(...describeChanges(tool, through, unchecked))
  }
  for (const name of byName.keys()) found.push(`${name} is only listed through Patchbay`)
  if (!sortedEqual(direct.resources, hosted.resources)) found.push('resources differ')
  if (
    !sortedEqual(
      direct.prompts,
      hosted.prompts.map(name => name.replace(PREFIX, '')),
    )
  )
    found.push('prompts differ')
  for (const [index, result] of direct.results.entries()) {
    const through = hosted.results[index]
    if (through === undefined || isDeepStrictEqual(result, through) || isSameError(result, through)) continue
    found.push(`call ${index + 1} returned ${JSON.stringify(through)}, directly ${JSON.stringify(result)}`)
  }
  return found
}

/** `unchecked` is the number of tools that are listed without their output schema. */
export type Compared = { tools: number; calls: number; unchecked: number; differences: readonly string[] }

const WithId = z.object({ id: z.string() })
const Offer = z.object({ flags: z.array(z.object({ item: z.string(), message: z.string() })) })

/** Attaches the server, and returns the names of tools whose output schemas Patchbay left out, and said so. */
const attach = async (send: Send, uuid: string, upstream: object): Promise<Set<string>> => {
  const { id } = WithId.parse(await send('POST', `/servers/${uuid}/upstreams`, upstream))
  const { flags } = Offer.parse(await send('POST', `/upstreams/${id}/refresh`))
  return new Set(flags.filter(({ message }) => /^its outputSchema .*left out$/.test(message)).map(({ item }) => item))
}

/** Attaches the server to a new server of Patchbay, and looks at both. */
export const compareServer = async (
  { name, args = [], env = {}, calls = [] }: ThirdPartyServer,
  patchbay: { port: number; send: Send; folders: string },
): Promise<Compared> => {
  const folder = mkdtempSync(join(patchbay.folders, 'shared-'))
  mkdirSync(join(folder, 'empty'))
  writeFileSync(join(folder, 'notes.txt'), 'The harbor opens at six.\n')
  const own = place({ args, env, calls }, folder)
  const command = { command: process.execPath, args: [scriptOf(name), ...own.args], env: own.env }
  const uuid = await createServer(patchbay.send)
  const unchecked = await attach(patchbay.send, uuid, { name: NAME, transport: 'stdio', ...command, cwd: folder })
  const direct = await withClient(
    new StdioClientTransport({ ...command, env: { PATH: process.env.PATH ?? '', ...command.env }, cwd: folder }),
    client => look(client, own.calls, tool => tool),
  )
  const url = new URL(`http://127.0.0.1:${patchbay.port}/s/${uuid}`)
  const hosted = await withClient(new StreamableHTTPClientTransport(url), client =>
    look(client, own.calls, tool => `${PREFIX}${tool}`),
  )
  return {
    tools: direct.tools.length,
    calls: own.calls.length,
    unchecked: unchecked.size,
    differences: differencesOf(direct, hosted, unchecked),
  }
}
