/** Returns a server's URL for MCP clients. */
export const serverUrl = (baseUrl: string, serverId: string): string => `${baseUrl}/s/${serverId}`
