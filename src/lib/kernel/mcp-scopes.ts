/**
 * Scopes of an OAuth access token, which is valid for one server. `mcp:read` allows listing, and calling tools marked
 * read-only. `mcp:call` allows calling all tools.
 */
export const MCP_SCOPES = ['mcp:read', 'mcp:call'] as const
export type McpScope = (typeof MCP_SCOPES)[number]

/** All scopes as the value of a scope parameter (RFC 6749 §3.3). */
export const ALL_MCP_SCOPES: string = MCP_SCOPES.join(' ')
