import { MCP_SCOPES, type McpScope } from '../lib/kernel/mcp-scopes.ts'
import type { Caller } from '../servers/access/access.ts'
import type { Message, RequestMessage } from './message.ts'
import type { Router } from './registry/router.ts'

/** Methods for which `mcp:read` is enough. */
const READING: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
])

/**
 * Returns the scope that a request needs, or undefined if any token is sufficient. Unknown tools are assumed to write.
 */
const scopeFor = (
  { tools }: Router,
  { method, params }: RequestMessage,
  held: ReadonlySet<McpScope>,
): McpScope | undefined => {
  if (READING.has(method)) return 'mcp:read'
  if (method !== 'tools/call') return undefined
  const name = params?.name
  const tool = typeof name === 'string' ? tools.get(name)?.tool : undefined
  const isReadOnly = tool?.isReadOnly === true || tool?.isReadOnlyCall?.(params?.arguments) === true
  return isReadOnly && !held.has('mcp:call') ? 'mcp:read' : 'mcp:call'
}

/**
 * Returns all scopes that the caller's token needs for these messages, including those it already has. Returns
 * undefined if none is missing, if the token's scopes are not limited, or if the caller is anonymous.
 */
export const findLackingScopes = (
  caller: Caller,
  router: Router,
  messages: readonly Message[],
): readonly McpScope[] | undefined => {
  const held = caller?.limitedTo
  if (held === undefined) return undefined
  const needed = new Set(held)
  for (const message of messages) {
    const scope = message.kind === 'request' ? scopeFor(router, message, held) : undefined
    if (scope !== undefined) needed.add(scope)
  }
  return needed.size === held.size ? undefined : MCP_SCOPES.filter(scope => needed.has(scope))
}
