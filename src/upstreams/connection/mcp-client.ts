import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type * as client from '@modelcontextprotocol/client'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { once } from '../../lib/kernel/once.ts'

/** Accepts any object, so that results are passed on in full. The SDK's schemas drop unknown members. */
export const AnyResult = z.custom<JsonObject>(isJsonObject)

export type McpClient = typeof client

const require = createRequire(import.meta.url)

/** Loads the SDK's client on first use, because it takes 15 MB that an installation without upstreams never needs. */
export const mcpClient = once((): McpClient => {
  // The file that `import` would load; `require` by name would load a second copy with its own zod.
  const loaded: McpClient = require(fileURLToPath(import.meta.resolve('@modelcontextprotocol/client')))
  return loaded
})
