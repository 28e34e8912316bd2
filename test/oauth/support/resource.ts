import { expect } from 'vitest'

/** Parses a challenge (RFC 9110 §11.2) that has one scheme and quoted parameters, each once. */
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

/** Returns the challenge parameters that a client receives. */
export const askedAt = (serverUrl: string): Record<string, string> => ({
  resource_metadata: serverUrl.replace('/s/', '/.well-known/oauth-protected-resource/s/'),
  scope: 'mcp:read mcp:call',
})
