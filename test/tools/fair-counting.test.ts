import { expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { type Person, runPatchbay } from '../support/world.ts'

const MANY = 30

const patchbay = runPatchbay({ isOwn: true })

/** Creates tools whose schemas take long to count, and returns a function per tool that requests its token count. */
const makeCounts = async (user: Person, count: number) => {
  const tools = Array.from({ length: count }, (_, at) => {
    const words = Array.from({ length: 5_000 }, (_, word) => `${user.userId.slice(-4)}${at}x${word}`)
    const inputSchema = { type: 'object', properties: { value: { type: 'string', description: words.join(' ') } } }
    return { name: `tool${at}`, method: 'GET', url: 'http://127.0.0.1:9/?q={{string:value}}', inputSchema }
  })
  const { toolIds } = await makeServer(user, tools)
  return Object.values(toolIds).map(id => () => user.expectOk('GET', `/tools/${id}/lint`))
}

it('counting the tokens of many tools for one user does not delay the pages of another', async () => {
  const busy = await makeCounts(await patchbay.person(), MANY)
  const [own, ...others] = await makeCounts(await patchbay.person(), 3)
  const warmUp = await makeCounts(await patchbay.person(), 2)
  // Starts the threads in advance, because this takes longer than counting.
  await Promise.all([...others, ...warmUp].map(count => count()))
  let ended = 0
  const counts = busy.map(async count => {
    await count()
    ended += 1
  })
  // When the first count has ended, the others are in the queue.
  await Promise.race(counts)
  await own?.()
  // If all counts waited in one line, this one would be among the last.
  expect(ended).toBeLessThan(MANY - 10)
  await Promise.all(counts)
})
