/** The official SDK in one of its earlier versions: `sdk-1.10` and so on. Streamable HTTP came with 1.10. */
const transportOf = async (version, url, headers) => {
  const requestInit = { headers }
  try {
    const { StreamableHTTPClientTransport } = await import(`${version}/client/streamableHttp.js`)
    return new StreamableHTTPClientTransport(url, { requestInit })
  } catch {
    const { SSEClientTransport } = await import(`${version}/client/sse.js`)
    const withHeaders = (target, init) => fetch(target, { ...init, headers: { ...init?.headers, ...headers } })
    return new SSEClientTransport(new URL(`${url}/sse`), { requestInit, eventSourceInit: { fetch: withHeaders } })
  }
}

export const use = async ({ url, headers }, version) => {
  const { Client } = await import(`${version}/client/index.js`)
  const client = new Client({ name: version, version: '1' }, { capabilities: {} })
  await client.connect(await transportOf(version, new URL(url), headers))
  const { tools } = await client.listTools()
  const { content } = await client.callTool({ name: 'get_user', arguments: { id: '42' } })
  return { tools: tools.map(({ name }) => name), text: content[0].text }
}
