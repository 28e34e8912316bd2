/** Names of tools, as MCP clients take them. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/
export const TOOL_NAME_RULE = 'must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -'

/** Whether the text is an origin (RFC 6454): http or https, a host, perhaps a port, and nothing behind it. */
export const isOrigin = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
}

/** Names of tools that begin with it are for our own alone. */
export const RESERVED_TOOL_PREFIX = 'proxy_'
