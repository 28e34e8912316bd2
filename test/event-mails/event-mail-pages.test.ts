import { expect, it } from 'vitest'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

const world = runPatchbay()

const open = async () => {
  const owner = await world.person()
  const person = await signInToPages(world.origin, owner.email)
  const path = `/organizations/${owner.organizationId}`
  const show = async (): Promise<string> => (await person.get(`${path}/webhooks`)).html
  await show()
  return { owner, person, path, show }
}

/** Returns the types that are chosen in the form of one's own emails. */
const chosenIn = (html: string): string[] => {
  const [, form = ''] = /<form [^>]*action="[^"]*\/event-emails"(.*?)<\/form>/s.exec(html) ?? []
  return [...form.matchAll(/value="([\w.]+)" checked/g)].map(([, type = '']) => type)
}

it('the Webhooks tab saves which events one gets by email, and says that none are sent without a mail server', async () => {
  const { owner, person, path, show } = await open()
  expect(textOf(await show())).toContain('does not send email')
  const chosen = ['call.failed', 'limit.reached']
  const saved = await person.submit(`${path}/event-emails`, { events: chosen })
  expect(saved.location).toBe(`${path}/webhooks?done=mails`)
  expect(chosenIn(await show())).toEqual(chosen)
  expect((await owner.expectOk('GET', `${path}/event-emails`)).body).toMatchObject({ events: chosen })
  await person.submit(`${path}/event-emails`, {})
  expect(chosenIn(await show())).toEqual([])
  expect((await person.submit(`${path}/event-emails`, { events: 'made.up' })).status).toBe(400)
})

it('the Webhooks tab saves the error rate of servers, and explains a rate that is not a percentage', async () => {
  const { owner, person, path, show } = await open()
  const rate = async () => (await owner.expectOk('GET', path)).body
  const save = (errorRatePercent: string) => person.submit(`${path}/error-rate`, { errorRatePercent })
  expect((await save('40')).status).toBe(303)
  expect(await rate()).toMatchObject({ errorRatePercent: 40 })
  expect(await show()).toContain('value="40"')
  for (const wrong of ['many', '0', '101']) {
    const refused = await save(wrong)
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('id="errorRatePercent-error"')
    expect(refused.html).toContain(`value="${wrong}"`)
  }
  expect((await save('')).status).toBe(303)
  expect(await rate()).toMatchObject({ errorRatePercent: null })
})
