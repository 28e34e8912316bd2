/**
 * What a token of the authorization server may be used for at the one server it is good for: `mcp:read`, lists and
 * the tools that their builder has marked read-only; `mcp:call`, every tool.
 */
export const MCP_SCOPES = ['mcp:read', 'mcp:call'] as const
export type McpScope = (typeof MCP_SCOPES)[number]

/** As a scope parameter says them (RFC 6749 §3.3). */
export const ALL_MCP_SCOPES: string = MCP_SCOPES.join(' ')
