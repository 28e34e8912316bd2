import { expect, it } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { startPatchbay } from '../support/process.ts'
import { refresh } from './support/client.ts'
import { answerAt } from './support/person.ts'
import { createMemory, SDK_CLIENTS } from './support/sdk-clients.ts'

it('after being killed twice, Patchbay still accepts a client, its code and its tokens', {
  timeout: 60_000,
}, async () => {
  const [official] = SDK_CLIENTS
  if (official === undefined) throw new Error('there is no official client')
  const { open } = official
  const patchbay = await startPatchbay()
  const fake = await startFakeApi(echo)
  const owner = await signUp(patchbay.origin)
  const tool = { name: 'get_user', method: 'GET', url: `${fake.origin}/users/{{id}}` }
  const { url } = await makeServer(owner, [tool], { server: { access: 'private' } })
  const memory = createMemory()
  const attempt = open(url, memory)
  await expect(attempt.connect()).rejects.toThrow(/Unauthorized/)
  const callback = await answerAt(memory.sentTo[0] ?? new URL(url), owner)
  patchbay.kill('SIGKILL')
  await patchbay.ended
  const second = await startPatchbay(patchbay.settings)
  await attempt.finish(callback)
  second.kill('SIGKILL')
  await second.ended
  const third = await startPatchbay(patchbay.settings)
  const connection = await open(url, memory).connect()
  expect(await connection.callTool({ name: 'get_user', arguments: { id: '42' } })).toMatchObject({
    content: [{ text: expect.stringContaining('/users/42') }],
  })
  await connection.close()
  expect((await refresh(third.origin, memory.clientId(), memory.tokens().refresh)).status).toBe(200)
  expect(memory.sentTo).toHaveLength(1)
  expect(await third.stop()).toMatchObject({ code: 0 })
  await fake.close()
})
