import { expect } from 'vitest'

export const INITIALIZE = (version = '2025-06-18') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

/** Sends a POST request like an MCP client. */
export const post = (
  url: string,
  token: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  })

/** Parses a challenge (RFC 9110 §11.2) with one scheme and quoted parameters, each once. */
export const challengeOf = (response: Response): Record<string, string> => {
  const [, list = ''] = /^Bearer (.+)$/.exec(response.headers.get('www-authenticate') ?? '') ?? []
  const parameters: Record<string, string> = {}
  for (const part of list.split(', ')) {
    const [, name = '', value = ''] = /^([a-z_]+)="([^"\\]*)"$/.exec(part) ?? []
    expect(name, `a parameter in "${list}"`).not.toBe('')
    expect(parameters).not.toHaveProperty(name)
    parameters[name] = value
  }
  return parameters
}

/** The challenge parameters that a client receives. */
export const askedAt = (serverUrl: string): Record<string, string> => ({
  resource_metadata: serverUrl.replace('/s/', '/.well-known/oauth-protected-resource/s/'),
  scope: 'mcp:read mcp:call',
})
