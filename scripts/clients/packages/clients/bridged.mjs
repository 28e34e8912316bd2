/** The programs that offer a remote server over stdio, used by a client that speaks nothing else. */
import { Client } from 'sdk-1.24/client/index.js'
import { StdioClientTransport } from 'sdk-1.24/client/stdio.js'
import { commandOf } from '../run-program.mjs'

const ARGUMENTS = {
  'mcp-remote': (url, authorization) => [url, '--header', `Authorization:${authorization}`, '--allow-http'],
  supergateway: (url, authorization) => [
    ...['--streamableHttp', url, '--header', `Authorization: ${authorization}`, '--logLevel', 'none'],
  ],
}

export const use = async ({ url, headers }, bridge) => {
  const client = new Client({ name: bridge, version: '1' }, { capabilities: {} })
  const args = [commandOf(bridge), ...ARGUMENTS[bridge](url, headers.Authorization)]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' }))
  const { tools } = await client.listTools()
  const { content } = await client.callTool({ name: 'get_user', arguments: { id: '42' } })
  await client.close()
  return { tools: tools.map(({ name }) => name), text: content[0].text }
}
