import { afterAll, beforeAll, expect, it } from 'vitest'
import { signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { connect, knock, makeRequest, registerClient } from './support/client.ts'
import { createVisitor } from './support/visitor.ts'

let patchbay: TestApp
beforeAll(async () => {
  patchbay = await startTestApp()
})
afterAll(() => patchbay.close())

it('a client that registers itself is let into a private server by its owner', async () => {
  const owner = await signUp(patchbay.origin, 'owner@example.com')
  const server = await owner.create('/servers', { name: 'Shipment desk', access: 'private' })
  const visitor = createVisitor(patchbay.origin)
  await visitor.signIn('owner@example.com')
  const url = `${patchbay.origin}/s/${server.id}`
  const { client_id } = await registerClient(patchbay.origin)
  const tokens = await connect(visitor, patchbay.origin, makeRequest(client_id, url))
  expect(tokens.scope).toBe('mcp:read mcp:call')
  expect(await knock(url, tokens.access_token)).toBe(200)
})
