import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestApp } from '../support/app.ts'
import { createPageBrowser } from '../support/page-browser.ts'

const PASSWORD = 'correct horse battery staple'

/** Signs up as the first user of a new installation. */
const begin = async () => {
  const app = await startTestApp()
  onTestFinished(() => app.close())
  const browser = createPageBrowser(app.origin)
  await browser.get('/sign-up')
  await browser.submit('/sign-up', { email: 'ada@example.com', password: PASSWORD })
  return { app, browser }
}

describe('the first run', () => {
  it('adds the sample only once, however often it is requested', async () => {
    const { app, browser } = await begin()
    expect(await browser.get('/')).toMatchObject({ status: 303, location: '/first-run' })
    await browser.get('/first-run')
    const answers = await Promise.all([1, 2, 3].map(() => browser.submit('/first-run/sample', {})))
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(await browser.submit('/first-run/sample', {})).toMatchObject({ location: '/first-run' })
    expect(await app.services.db.server.count()).toBe(1)
  })

  it('ends if someone has created a toolkit or server another way', async () => {
    const { app, browser } = await begin()
    const { id: organizationId } = await app.services.db.organization.findFirstOrThrow()
    await app.services.db.toolkit.create({ data: { organizationId, title: 'Mine' } })
    expect(await browser.get('/')).toMatchObject({ status: 303, location: '/servers' })
    expect(await browser.get('/first-run')).toMatchObject({ status: 303, location: '/servers' })
  })

  it('is only for the operator; later users start with the list', async () => {
    const { app } = await begin()
    const later = createPageBrowser(app.origin)
    await later.get('/sign-up')
    const signedUp = await later.submit('/sign-up', { email: 'eve@example.com', password: PASSWORD })
    expect(signedUp).toMatchObject({ status: 303, location: '/' })
    expect(await later.get('/')).toMatchObject({ status: 303, location: '/servers' })
    expect((await later.get('/servers')).html).toContain('Create your first server')
  })
})
