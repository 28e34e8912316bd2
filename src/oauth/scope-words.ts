import type { McpScope } from '../kernel/index.ts'

/** What a scope lets an application do, for people. */
export const SCOPE_WORDS: Record<McpScope, { title: string; text: string }> = {
  'mcp:read': {
    title: 'See its tools, and use those that only read',
    text: 'Their names, descriptions and open parameters; calls of tools that are marked as read-only.',
  },
  'mcp:call': { title: 'Call every tool as you', text: 'Each call is recorded under your name.' },
}
