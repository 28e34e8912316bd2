import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { echo, type FakeApi, startFakeApi } from '../support/fake-api.ts'

describe('an HTTP tool in a public server', () => {
  let patchbay: TestApp
  let api: FakeApi
  beforeAll(async () => {
    patchbay = await startTestApp()
    api = await startFakeApi(echo)
  })
  afterAll(async () => {
    await patchbay.close()
    await api.close()
  })

  it('can be called by the official client, and returns the response of the API', async () => {
    const builder = await signUp(patchbay.origin)
    const { url } = await makeServer(builder, [
      {
        name: 'get_user',
        description: 'Returns one user.',
        method: 'GET',
        url: `${api.origin}/users/{{id}}?verbose={{boolean:verbose=false}}`,
        parameters: { id: { description: 'Id of the user' } },
      },
    ])

    const client = new Client({ name: 'thread-test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    const { tools } = await client.listTools()
    const result = await client.callTool({ name: 'get_user', arguments: { id: 'a/b 1' } })
    await client.close()

    expect(tools.map(tool => tool.name)).toEqual(['get_user'])
    expect(tools[0]?.inputSchema).toMatchObject({ required: ['id'], properties: { id: { type: 'string' } } })
    expect(result.isError).not.toBe(true)
    expect(api.seen.at(-1)).toMatchObject({ method: 'GET', url: '/users/a%2Fb%201?verbose=false' })
    expect(result.content).toMatchObject([{ type: 'text', text: expect.stringContaining('/users/a%2Fb%201') }])
  })
})
