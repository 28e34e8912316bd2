import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type * as client from '@modelcontextprotocol/client'

export type McpClient = typeof client

const require = createRequire(import.meta.url)
let loaded: McpClient | undefined

/** By the file that `import` takes: what `require` finds by the name is another copy, with a zod of its own. */
const load = (): McpClient => {
  const found: McpClient = require(fileURLToPath(import.meta.resolve('@modelcontextprotocol/client')))
  return found
}

/** The SDK's client, from its first use on: it takes 15 MB, which an installation without upstreams never needs. */
export const mcpClient = (): McpClient => {
  loaded ??= load()
  return loaded
}
