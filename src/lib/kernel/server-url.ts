/** Where MCP clients find a server. */
export const serverUrl = (baseUrl: string, serverId: string): string => `${baseUrl}/s/${serverId}`
