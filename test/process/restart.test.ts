import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createApiClient } from '../support/api-client.ts'
import { startPatchbay } from '../support/process.ts'
import { serveApi } from './calls.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Connects the official client. `streamOpened` resolves when it next opens its stream of notifications. */
const connectClient = async (url: string) => {
  let opened = Promise.withResolvers<void>()
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (init?.method === 'GET' && response.ok) opened.resolve()
      return response
    },
  })
  const client = new Client({ name: 'official', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(transport)
  return {
    client,
    streamOpened: async (): Promise<void> => {
      await opened.promise
      opened = Promise.withResolvers()
    },
  }
}

it('an SDK 1 client whose stream ended with a restart opens it again, and learns of later changes', async () => {
  const patchbay = await startPatchbay()
  const { url, serverId, builder } = await serveApi(patchbay, { origin: 'http://127.0.0.1:9' })
  const { client, streamOpened } = await connectClient(url)
  await streamOpened()
  expect(await patchbay.stop()).toMatchObject({ code: 0 })

  const again = await startPatchbay(patchbay.settings)
  await streamOpened()
  const changed = new Promise<void>(resolve =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
  )
  const api = createApiClient(again.origin, builder.token)
  await api.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
  await changed
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('get_thing')
})
