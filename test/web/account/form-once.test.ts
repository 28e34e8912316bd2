import { describe, expect, it } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { signInToPages } from '../../support/signed-in.ts'
import { runPatchbay } from '../../support/world.ts'

const SERVER = { name: 'Night desk', access: 'private' }

const patchbay = runPatchbay()

/** Returns a signed-in user who has the form for a new server open. */
const openForm = async () => {
  const { email, userId } = await signUp(patchbay.origin)
  const browser = await signInToPages(patchbay.origin, email)
  await browser.get('/servers/new')
  const countServers = () => patchbay.services.db.server.count({ where: { ownerId: userId } })
  return { browser, countServers }
}

describe('a form submitted twice by a double click', () => {
  it('takes effect once, and both responses lead to the result', async () => {
    const { browser, countServers } = await openForm()
    const answers = await Promise.all([browser.submit('/servers/new', SERVER), browser.submit('/servers/new', SERVER)])
    expect(answers.map(({ status }) => status)).toEqual([303, 303])
    expect(answers[0].location).toMatch(/^\/servers\/[0-9a-f-]{36}/)
    expect(answers[1].location).toBe(answers[0].location)
    expect(await countServers()).toBe(1)
  })

  it('takes effect once if the browser aborts the first request for the second', async () => {
    const { browser, countServers } = await openForm()
    const gone = new AbortController()
    const first = browser
      .submit('/servers/new', SERVER, { origin: patchbay.origin }, gone.signal)
      .catch(() => undefined)
    await expect.poll(countServers).toBe(1)
    gone.abort()
    await first
    expect((await browser.submit('/servers/new', SERVER)).location).toMatch(/^\/servers\/[0-9a-f-]{36}/)
    expect(await countServers()).toBe(1)
  })

  it('is rejected twice if it is invalid', async () => {
    const { browser, countServers } = await openForm()
    const empty = { ...SERVER, name: ' ' }
    const answers = await Promise.all([browser.submit('/servers/new', empty), browser.submit('/servers/new', empty)])
    expect(answers.map(({ status }) => status)).toEqual([400, 400])
    expect(await countServers()).toBe(0)
  })

  it('counts as a new form if a value differs', async () => {
    const { browser, countServers } = await openForm()
    await Promise.all([
      browser.submit('/servers/new', SERVER),
      browser.submit('/servers/new', { ...SERVER, name: 'Day desk' }),
    ])
    expect(await countServers()).toBe(2)
  })

  it('counts as a new form if its page was opened again', async () => {
    const { browser, countServers } = await openForm()
    await browser.submit('/servers/new', SERVER)
    await browser.get('/servers/new')
    await browser.submit('/servers/new', SERVER)
    expect(await countServers()).toBe(2)
  })
})
