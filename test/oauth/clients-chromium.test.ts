import { UnauthorizedError } from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openContext } from '../support/open-page.ts'
import { runFakeApi } from '../support/world.ts'
import { createMemory, SDK_CLIENTS } from './support/sdk-clients.ts'
import { runOAuthWorld } from './support/world.ts'

const PASSWORD = 'correct horse battery staple'

/** Returns the markup of a frame that shows this URL. */
const frameOf = (url: string): string => `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`

describe('an official client and a real browser', { timeout: 60_000 }, () => {
  let page: Page
  let framed = ''
  const world = runOAuthWorld()
  /** The client's loopback listener, which also serves other pages. */
  const loopback = runFakeApi(({ url }, response) => {
    const pages: Record<string, string> = {
      '/framing': `${frameOf('/open')}${frameOf(framed)}`,
      '/open': '<button>Connect</button>',
    }
    response.setHeader('content-type', 'text/html').end(pages[url] ?? 'You can close this window.')
  })
  const openPage = async (javaScriptEnabled: boolean): Promise<void> => {
    page = await (await openContext({ javaScriptEnabled })).newPage()
    page.setDefaultTimeout(20_000)
  }
  beforeEach(() => openPage(false))
  afterEach(() => page.context().close())

  const [official] = SDK_CLIENTS
  if (official === undefined) throw new Error('there is no official client')

  /** Starts a client, which is rejected and sends its user to `authorize`. */
  const begin = async (serverUrl: string) => {
    const memory = createMemory({ redirectUrl: `${loopback.origin}/callback` })
    const attempt = official.open(serverUrl, memory)
    await expect(attempt.connect()).rejects.toThrow(UnauthorizedError)
    return { memory, attempt, authorize: memory.sentTo[0]?.href ?? '' }
  }
  const fill = async (email: string): Promise<void> => {
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
  }
  const restore = async (): Promise<URLSearchParams> => {
    await page.waitForURL(`${loopback.origin}/callback?**`)
    return new URL(page.url()).searchParams
  }

  it("works after its user signs up, is allowed by the server's owner, and agrees", async () => {
    const serverUrl = await world.makeServer()
    const { memory, attempt, authorize } = await begin(serverUrl)
    await page.goto(authorize)
    await page.getByRole('link', { name: 'Sign up' }).click()
    await fill('newcomer@example.com')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('You do not have access').waitFor()
    expect(await page.getByRole('button', { name: 'Connect' }).count()).toBe(0)

    const allowedUsers = ['newcomer@example.com']
    await world.owner.expectOk('PATCH', `/servers/${serverUrl.split('/').at(-1)}`, { allowedUsers })
    await page.reload()
    await page.getByRole('button', { name: 'Connect' }).click()
    await attempt.finish(await restore())
    const connection = await official.open(serverUrl, memory).connect()
    expect(await connection.listTools()).toMatchObject({ tools: [] })
    await connection.close()
  })

  it('receives an error and no access if its user denies it', async () => {
    const { memory, attempt, authorize } = await begin(world.serverUrl)
    await page.goto(authorize)
    await fill(world.owner.email)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    const callback = await restore()
    expect(Object.fromEntries(callback)).toMatchObject({ error: 'access_denied', iss: world.origin, state: 'state 0' })
    await expect(attempt.finish(callback)).rejects.toThrow()
    expect(memory.tokens().access).toBe('')
  })

  it('shows the consent page in no frame, even of a page on the same machine, to which the browser sends all cookies', async () => {
    framed = (await begin(world.serverUrl)).authorize
    await page.goto(framed)
    await fill(world.owner.email)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Connect' }).waitFor()

    const asked = page.waitForResponse(response => response.url().includes('/oauth/interaction/'))
    await page.goto(`${loopback.origin.replace('127.0.0.1', 'localhost')}/framing`)
    // This is the consent page itself, so the cookies alone would have allowed framing.
    expect((await asked).status()).toBe(200)
    const held = (start: string) =>
      page.frameLocator(`iframe[src^="${start}"]`).getByRole('button', { name: 'Connect' })
    await held('/open').waitFor()
    expect(await held('http').count()).toBe(0)
  })

  it('let the user search for the server by typing and choose it by keyboard, if no resource is sent', async () => {
    await page.context().close()
    await openPage(true)
    for (const name of ['First desk', 'Second desk']) await world.makeServer({ name })
    const memory = createMemory({ redirectUrl: `${loopback.origin}/callback` })
    memory.provider.validateResourceURL = async () => undefined
    await expect(official.open(world.serverUrl, memory).connect()).rejects.toThrow(UnauthorizedError)
    const authorize = memory.sentTo[0]?.href ?? ''
    await page.goto(authorize)
    await fill(world.owner.email)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('searchbox').waitFor()
    // Before its scripts have run, the page does not search while somebody types.
    await page.waitForLoadState()
    await page.getByRole('searchbox').fill('second desk')
    await page.getByText('First desk').waitFor({ state: 'detached' })
    await page.getByRole('radio', { name: 'Second desk' }).press('Space')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Let Official use Second desk?' }).waitFor()
    await page.goto(authorize)
    await page.getByRole('button', { name: 'Deny' }).click()
    expect((await restore()).get('error')).toBe('access_denied')
  })

  it('lets the consent page submit its forms only to this client', async () => {
    await page.context().close()
    await openPage(true)
    const { authorize } = await begin(world.serverUrl)
    await page.goto(authorize)
    await fill(world.owner.email)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Connect' }).waitFor()
    const elsewhere = `${loopback.origin.replace('127.0.0.1', 'localhost')}/elsewhere`
    // Passed as a string, because it runs in the page and uses types that this program lacks.
    const blocked = await page.evaluate(`new Promise(resolve => {
      document.addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective))
      const form = document.createElement('form')
      form.action = ${JSON.stringify(elsewhere)}
      document.body.append(form)
      form.submit()
    })`)
    expect(blocked).toBe('form-action')
    expect(loopback.seen.map(({ url }) => url)).not.toContain('/elsewhere?')
  })
})
