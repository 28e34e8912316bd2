import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createApiClient, signUp } from '../support/api-client.ts'
import { runCommand, startPatchbay } from '../support/process.ts'

vi.setConfig({ testTimeout: 90_000 })

const Made = z.object({ id: z.string(), token: z.string().optional() })

it('writes of five commands and five API clients at the same time all succeed', async () => {
  const patchbay = await startPatchbay()
  const builder = await signUp(patchbay.origin)
  const create = async (...args: string[]): Promise<z.infer<typeof Made>> => {
    const { code, stdout, stderr } = await runCommand([...args, '--json'], patchbay.settings)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return Made.parse(JSON.parse(stdout))
  }
  const password = 'correct horse battery'
  let areCommandsDone = false
  const commands = Promise.all([
    ...[1, 2, 3].map(n => create('token', 'create', '--email', builder.email, '--name', `command ${n}`)),
    ...[1, 2].map(n => create('user', 'create', '--email', `writer${n}@example.com`, '--password', password)),
  ]).finally(() => {
    areCommandsDone = true
  })
  const writeOn = async (client: number): Promise<string[]> => {
    const made: string[] = []
    while (!areCommandsDone) made.push((await builder.create('/toolkits', { title: `by ${client}` })).id)
    return made
  }
  const [made, ...written] = await Promise.all([commands, ...[1, 2, 3, 4, 5].map(writeOn)])

  for (const { token } of made.filter(({ token }) => token !== undefined)) {
    expect((await createApiClient(patchbay.origin, token).send('GET', '/me')).status).toBe(200)
  }
  for (const ids of written) {
    expect(ids.length).toBeGreaterThan(0)
    for (const id of ids) expect((await builder.send('GET', `/toolkits/${id}`)).status).toBe(200)
  }
  expect(await patchbay.stop()).toMatchObject({ code: 0, stderr: '' })
})
