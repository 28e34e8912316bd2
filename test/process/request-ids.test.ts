import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { INITIALIZE, postTo } from '../mcp/messages.ts'
import { callTool } from '../process/calls.ts'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-z]+$/

describe('the id of a request', () => {
  const patchbay = runPatchbay()
  const owner = runUser(patchbay)
  const fake = runFakeApi()
  const forged = { 'x-request-id': 'chosen-by-a-stranger' }

  it.each([
    ['a page', '/sign-in'],
    ['a page that does not exist', '/nothing-here'],
    ['the API', '/api/v1/me'],
    ['an unknown route of the API', '/api/v1/nothing-here'],
    ['the metadata of a server that does not exist', '/.well-known/oauth-protected-resource/s/none'],
    ['the token endpoint', '/oauth/token'],
    ['a server that does not exist', '/s/00000000-0000-4000-8000-000000000000'],
  ])('is in the header of the response of %s, new for each request, whatever the client sends', async (_, path) => {
    const read = async () => (await fetch(`${patchbay.origin}${path}`, { headers: forged })).headers.get('x-request-id')
    const [first, second] = [await read(), await read()]
    expect(first).toMatch(REQUEST_ID)
    expect(second).toMatch(REQUEST_ID)
    expect(second).not.toBe(first)
  })

  it('is in every problem document', async () => {
    const response = await fetch(`${patchbay.origin}/api/v1/me`)
    const { requestId } = z.object({ requestId: z.string() }).parse(await response.json())
    expect(requestId).toBe(response.headers.get('x-request-id'))
  })

  it('is in the response of a server, to calls and refusals, and in the history', async () => {
    const tool = { name: 'echo', method: 'GET', url: `${fake.origin}/` }
    const { url, serverId } = await makeServer(owner, [tool])
    const called = await callTool(url, 'echo', {}, forged)
    const requestId = called.headers.get('x-request-id')
    expect(requestId).toMatch(REQUEST_ID)
    await patchbay.services.recorder.flush()
    expect(await patchbay.db.execution.findFirst({ where: { serverId } })).toMatchObject({ requestId })
    const refused = await postTo(`${url.slice(0, -4)}0000`, undefined, INITIALIZE())
    expect(refused.headers.get('x-request-id')).toMatch(REQUEST_ID)
  })
})
