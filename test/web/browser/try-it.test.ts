import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { signUp } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { openPage } from '../../support/open-page.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const ORDERS = Array.from({ length: 60 }, (_, index) => ({
  id: 7_000 + index,
  customer: { name: `Customer ${index}` },
}))
/** The delay after the last key press, and some more. */
const PAUSE_MS = 300

describe('the Try it side of the tool editor, in a real browser', () => {
  let waiting = Promise.withResolvers<ServerResponse>()
  let count = 0
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => {
    if (url.startsWith('/slow')) return waiting.resolve(response)
    if (url.startsWith('/count')) return answerJson(response, { count: ++count })
    return answerJson(response, { orders: ORDERS, total: 60 })
  })
  beforeEach(() => {
    waiting = Promise.withResolvers<ServerResponse>()
    count = 0
  })

  const newTool = async (path: string) => {
    const { email } = await signUp(patchbay.origin)
    const { page, complaints } = await openPage(patchbay.origin, { email })
    await page.goto('/toolkits/new-tool')
    await page.getByLabel('Name', { exact: true }).fill('get_it')
    await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}${path}`)
    return { page, complaints }
  }
  const sendButton = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).first()
  const openResponseTab = (page: Page) => page.getByRole('tab', { name: 'Response' }).click()
  const transform = (page: Page) => page.getByLabel('Transform', { exact: true })
  const shapedText = (page: Page) => page.getByRole('region', { name: 'After' })

  it('the values of a response are searched, and the others come back', async () => {
    const { page, complaints } = await newTool('/orders')
    await sendButton(page).click()
    const tree = page.getByRole('region', { name: 'Response body' })
    await tree.getByText('7000').waitFor()
    const search = page.getByLabel('Search the values shown')
    await search.fill('customer 59')
    await page.getByText('1 match', { exact: true }).waitFor()
    await tree.getByText('"Customer 59"').waitFor()
    expect(await tree.locator('li:visible').count()).toBe(5)
    expect(await tree.getByText('7000').isVisible()).toBe(false)
    await search.fill('no such value')
    await page.getByText('0 matches', { exact: true }).waitFor()
    await search.fill('')
    await tree.getByText('7000').waitFor()
    expect(await tree.getByText('"Customer 59"').isVisible()).toBe(false)
    expect(complaints.take()).toEqual([])
  })

  it('a running Send is canceled, at the API too, and the next one works', async () => {
    const { page } = await newTool('/slow')
    await sendButton(page).click()
    const response = await waiting.promise
    const closed = new Promise<void>(resolve => response.once('close', () => resolve()))
    await page.getByRole('button', { name: 'Cancel the request' }).click()
    await page.getByText('Canceled. The API may have received the request.').waitFor()
    await closed
    expect(await page.getByRole('button', { name: 'Cancel the request' }).count()).toBe(0)
    expect(await page.evaluate('document.activeElement.hasAttribute("data-send")')).toBe(true)
    await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/count`)
    await sendButton(page).click()
    await page.getByText('200 OK', { exact: true }).waitFor()
  })

  it('the values of the last Send are there when the tool is opened again, except those of secrets', async () => {
    const { page } = await newTool('/things/{{id}}?api_key={{api_key}}')
    const value = (name: string) => page.getByRole('textbox', { name, exact: true })
    await value('id').fill('a b')
    await value('api_key').fill('hunter2')
    await sendButton(page).click()
    await page.getByText('200 OK', { exact: true }).waitFor()
    expect(fake.seen.at(-1)?.url).toBe('/things/a%20b?api_key=hunter2')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/tools/*?done=created')
    const path = new URL(page.url()).pathname
    await page.goto('/toolkits')
    await page.goto(path)
    await expect.poll(() => value('id').inputValue()).toBe('a b')
    expect(await value('api_key').inputValue()).toBe('')
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain('hunter2')
  })

  /** Holds the responses of a path back, in the order in which they arrive. */
  const hold = async (page: Page, path: string) => {
    const arrivals = [0, 1, 2].map(() => Promise.withResolvers<() => Promise<void>>())
    let next = 0
    await page.route(`**${path}`, async route => {
      const response = await route.fetch()
      const released = Promise.withResolvers<void>()
      arrivals[next++]?.resolve(async () => {
        const done = page.waitForEvent('requestfinished', request => request === route.request())
        released.resolve()
        await done
        // Another request, so that the page has handled this response.
        await page.evaluate('fetch("/healthz").then(response => response.text())')
      })
      await released.promise
      await route.fulfill({ response })
    })
    /** Waits for a response, and returns a function that passes it on. */
    return (index: number) => {
      const arrival = arrivals[index]
      if (arrival === undefined) throw new Error('too many responses')
      return arrival.promise
    }
  }
  /** Notes each preview that the page shows as current. */
  const watchCurrent = async (page: Page) => {
    await page.evaluate(`(() => {
      const part = document.querySelector('[data-part="shaped"]')
      window.current = []
      const note = () => {
        const text = part.querySelector('[aria-label="After"]')?.textContent
        if (text !== undefined && !part.hasAttribute('data-stale')) window.current.push(text)
      }
      new MutationObserver(note).observe(part, { childList: true, subtree: true, attributes: true })
    })()`)
    return async () => [...new Set(z.array(z.string()).parse(await page.evaluate('window.current')))]
  }

  it('a preview that arrives after the next key press is not shown', async () => {
    const { page } = await newTool('/orders')
    await openResponseTab(page)
    await sendButton(page).click()
    await shapedText(page).waitFor()
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 1_000)
    const arrived = await hold(page, '/tool-preview')
    const listCurrent = await watchCurrent(page)
    await transform(page).fill('orders[0].id')
    await page.clock.runFor(PAUSE_MS)
    const releaseFirst = await arrived(0)
    await transform(page).fill('orders[1].id')
    await page.getByText('Out of date').waitFor()
    await releaseFirst()
    expect(await listCurrent()).toEqual([])
    await page.clock.runFor(PAUSE_MS)
    const releaseSecond = await arrived(1)
    await releaseSecond()
    await expect.poll(() => shapedText(page).textContent()).toBe('7001')
    expect(await listCurrent()).toEqual(['7001'])
    expect(await page.getByText('Out of date').isVisible()).toBe(false)
  })

  it('the response of a Send is shaped by what was typed meanwhile', async () => {
    const { page } = await newTool('/count')
    await openResponseTab(page)
    await transform(page).fill('"old " & $string(count)')
    await sendButton(page).click()
    await expect.poll(() => shapedText(page).textContent()).toBe('old 1')
    const arrived = await hold(page, '/tool-send')
    await sendButton(page).click()
    const release = await arrived(0)
    await transform(page).fill('"new " & $string(count)')
    await expect.poll(() => shapedText(page).textContent()).toBe('new 1')
    const listCurrent = await watchCurrent(page)
    await release()
    await expect.poll(() => shapedText(page).textContent()).toBe('new 2')
    expect(await listCurrent()).toEqual(['new 2'])
  })

  it('the response says so if the request has changed since', async () => {
    const { page } = await newTool('/orders')
    await openResponseTab(page)
    await sendButton(page).click()
    await page.getByText('200 OK', { exact: true }).waitFor()
    const note = page.getByText('The request has changed since it was sent.')
    await transform(page).fill('total')
    await expect.poll(() => shapedText(page).textContent()).toBe('60')
    expect(await note.isVisible()).toBe(false)
    await page.getByLabel('URL', { exact: true }).fill(`${fake.origin}/other`)
    await note.waitFor()
  })
})
