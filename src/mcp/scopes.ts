import type { Caller } from '../execution/index.ts'
import { MCP_SCOPES, type McpScope } from '../kernel/index.ts'
import type { Message, RequestMessage } from './message.ts'
import type { Router } from './router.ts'

/** What only looks: the lists, and reading what is in them. */
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

type Scopes = ReadonlySet<McpScope>

/** Undefined: a token of any scope will do. A tool that is not there is not told from one that may write. */
const scopeFor = ({ tools }: Router, { method, params }: RequestMessage, held: Scopes): McpScope | undefined => {
  if (READING.has(method)) return 'mcp:read'
  if (method !== 'tools/call') return undefined
  const name = params?.name
  const tool = typeof name === 'string' ? tools.get(name)?.tool : undefined
  const isReadOnly = tool?.isReadOnly === true || tool?.isReadOnlyCall?.(params?.arguments) === true
  return isReadOnly && !held.has('mcp:call') ? 'mcp:read' : 'mcp:call'
}

/**
 * All scopes that the caller's token should have for these messages, with those it has, where it lacks one; undefined
 * where it lacks none. Nobody in particular, and a token of all scopes, lack none.
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
