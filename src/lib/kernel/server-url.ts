/** Returns the address of a server for MCP clients. */
export const serverUrl = (baseUrl: string, serverId: string): string => `${baseUrl}/s/${serverId}`
