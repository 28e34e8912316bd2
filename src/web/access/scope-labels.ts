import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'

/** User-facing descriptions of the OAuth scopes. */
export const SCOPE_LABELS: Record<McpScope, { title: string; text: string }> = {
  'mcp:read': {
    title: 'List tools and call read-only tools',
    text: 'See names, descriptions and parameters, and call tools marked as read-only.',
  },
  'mcp:call': { title: 'Call all tools as you', text: 'Each call is recorded under your name.' },
}
