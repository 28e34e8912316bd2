import { createServer, type Server } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium } from '../support/chromium.ts'
import { authorizeUrl, exchange, knock, makeRequest, registerClient, tokensOf } from './support/client.ts'
import { type OAuthWorld, startOAuthWorld } from './support/world.ts'

const PASSWORD = 'correct horse battery staple'

/** Starts a client's loopback listener, which records the requests to its callback in order. */
const startCallback = async () => {
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) seen.push(request.url)
    response.end('You can close this window.')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}

describe('in a real browser', () => {
  let world: OAuthWorld
  let browser: Browser
  let page: Page
  let callback: Awaited<ReturnType<typeof startCallback>>
  beforeAll(async () => {
    world = await startOAuthWorld()
    browser = await launchChromium()
    callback = await startCallback()
  })
  afterAll(async () => {
    await browser?.close()
    await callback?.close()
    await world?.close()
  })
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage()
  })
  afterEach(() => page.context().close())

  const prepare = async (changes: Record<string, string> = {}) => {
    const { client_id } = await registerClient(world.origin, { client_name: '<b>Claude</b>' })
    return makeRequest(client_id, world.serverUrl, { redirect_uri: `${callback.origin}/callback`, ...changes })
  }

  const signIn = async () => {
    await page.getByLabel('Email').fill(world.owner.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  it('a person signs in, agrees, and returns to the client, which gets access', async () => {
    const request = await prepare()
    await page.goto(authorizeUrl(world.origin, request))
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await signIn()
    await page.getByRole('button', { name: 'Connect' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Let <b>Claude</b> use Shipment desk?')
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.waitForURL(`${callback.origin}/callback?**`)
    const code = new URL(page.url()).searchParams.get('code') ?? ''
    const tokens = tokensOf(await exchange(world.origin, code, request))
    expect(await knock(world.serverUrl, tokens.access_token)).toBe(200)
  })

  it('a person who denies access returns to the client, too', async () => {
    await page.goto(authorizeUrl(world.origin, await prepare()))
    await signIn()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(`${callback.origin}/callback?**`)
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  })

  it('the consent page can only submit its forms to this client', async () => {
    const other = await startCallback()
    await page.goto(authorizeUrl(world.origin, await prepare()))
    await signIn()
    await page.getByRole('button', { name: 'Connect' }).waitFor()
    // Passed as text, because it runs in the page, whose types this program does not know.
    const blocked = await page.evaluate(`new Promise(resolve => {
      document.addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective))
      const form = document.createElement('form')
      form.action = ${JSON.stringify(`${other.origin}/callback`)}
      document.body.append(form)
      form.submit()
    })`)
    expect(blocked).toBe('form-action')
    expect(other.seen).toEqual([])
    await other.close()
  })

  it('another user of the same browser gets access as themselves', async () => {
    const request = await prepare()
    await page.goto(authorizeUrl(world.origin, request))
    await signIn()
    await page.getByRole('button', { name: 'Not you?' }).click()
    await page.getByLabel('Email').waitFor()
    await signIn()
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.waitForURL(`${callback.origin}/callback?**`)
    expect(new URL(page.url()).searchParams.get('state')).toBe(request.parameters.state)
  })
})
