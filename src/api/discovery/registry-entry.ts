import { z } from 'zod'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import type { Server } from '../../servers/server.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
/** Maximum length of titles and descriptions in the schema, in characters. */
const MAX_CHARACTERS = 100

/** A server in the format of the official MCP registry (`server.json`, 2025-12-11). */
export const RegistryEntry = z.object({
  $schema: z.literal(SCHEMA),
  name: z.string(),
  title: z.string(),
  description: z.string(),
  version: z.string(),
  remotes: z.array(z.object({ type: z.enum(['streamable-http', 'sse']), url: z.url() })),
})

/** Collapses whitespace and truncates the text if it is too long. */
const shorten = (text: string): string => {
  const characters = [...text.replace(/\s+/g, ' ').trim()]
  return characters.length <= MAX_CHARACTERS
    ? characters.join('')
    : `${characters
        .slice(0, MAX_CHARACTERS - 1)
        .join('')
        .trimEnd()}…`
}

/**
 * Returns `com.example.mcp` for `https://mcp.example.com`. Replaces characters that are not allowed in names with
 * hyphens.
 */
const namespaceOf = (baseUrl: string): string =>
  new URL(baseUrl).hostname
    .replace(/[^a-z0-9.-]/g, '-')
    .split('.')
    .reverse()
    .join('.')

/**
 * Converts a server to its registry entry. The name contains the id, which never changes, and the version increases
 * with each change.
 */
export const toRegistryEntry = (server: Server, baseUrl: string): z.infer<typeof RegistryEntry> => {
  const url = serverUrl(baseUrl, server.id)
  const description = server.description?.trim() || `${server.name}, an MCP server`
  return {
    $schema: SCHEMA,
    name: `${namespaceOf(baseUrl)}/${server.id}`,
    title: shorten(server.name),
    description: shorten(description),
    version: `1.0.${Math.floor(server.updatedAt.getTime() / 1_000)}`,
    remotes: [
      { type: 'streamable-http', url },
      { type: 'sse', url: `${url}/sse` },
    ],
  }
}
