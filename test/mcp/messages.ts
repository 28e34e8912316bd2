export const INITIALIZE = (version = '2025-06-18', id: string | number = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
})

/** Sends a POST request to a server's URL, as an MCP client does. */
export const postTo = (
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
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  })

/** Returns the status with which a server responds to a new client. */
export const knock = async (url: string, token?: string, headers?: Record<string, string>): Promise<number> => {
  const response = await postTo(url, token, INITIALIZE(), headers)
  await response.text()
  return response.status
}
