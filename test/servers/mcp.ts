import {
  Client,
  type ClientOptions,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const headersOf = (token: string | undefined) => ({
  requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
})

/** Connects the official client to a server's URL and closes it after the test. */
export const connect = async (url: string, token?: string, options: ClientOptions = {}): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1.0.0' }, options)
  await client.connect(new StreamableHTTPClientTransport(new URL(url), headersOf(token)))
  onTestFinished(() => client.close())
  return client
}

/** Connects a client that lists the tools after each notification and adds each list to `changes`. */
export const connectListening = async (url: string, mode: 'legacy' | 'auto' = 'legacy') => {
  const changes: Tool[][] = []
  const client = await connect(url, undefined, {
    versionNegotiation: { mode },
    listChanged: { tools: { onChanged: (_error, tools) => changes.push(tools ?? []), debounceMs: 0 } },
  })
  return { client, changes, lastNames: () => changes.at(-1)?.map(({ name }) => name) }
}

/** Returns the names of the tools on all pages. */
export const toolNames = async (client: Client): Promise<string[]> => {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor })
    names.push(...page.tools.map(tool => tool.name))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return names
}

/** Calls a tool. Returns the text of the result's first block, and whether the result is an error. */
export const callText = async (
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<{ text: string; isError: boolean }> => {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [block] = content
  return { text: block?.type === 'text' ? block.text : '', isError: isError === true }
}

/** Calls a tool. Returns all texts of the result. `meta` is the part of `_meta` that describes a cut result. */
export const callTexts = async (
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  options?: RequestOptions,
) => {
  const { content, _meta, isError, structuredContent } = await client.callTool({ name, arguments: args }, options)
  const texts = content.flatMap(block => (block.type === 'text' ? [block.text] : []))
  const meta = _meta?.['patchbay/answer']
  return { content, texts, text: texts.join('\n'), meta, isError: isError === true, structured: structuredContent }
}

/** Returns the cache id of a cut result from its `meta`. */
export const cacheIdOf = (meta: unknown): string => z.looseObject({ cacheId: z.string() }).parse(meta).cacheId

/** Returns the cache id from the text of a cut result. */
export const findCacheId = (text: string): string | undefined => /cache_id "([\w-]{22})"/.exec(text)?.[1]
