import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { LIMIT, shopOf, startSource } from '../../imports/again/shop.ts'
import { WithId } from '../../support/api-client.ts'
import { openPage } from '../../support/open-page.ts'
import { during, runPatchbay, runUser } from '../../support/world.ts'

vi.setConfig({ testTimeout: 90_000 })

const AFTER = { name: 'after', in: 'query', description: 'A cursor', schema: { type: 'string' } }
const Tools = z.object({ items: z.array(WithId) })

const patchbay = runPatchbay()
const ada = runUser(patchbay, 'ada@example.com')

describe.each([true, false])('importing a source again, scripts: %s', javaScriptEnabled => {
  const source = during(() => startSource(shopOf()))

  it('keeps an edit by hand, brings the new parameter, and leaves a conflict to a choice', async () => {
    source.put(shopOf())
    const { id } = await ada.create('/toolkits', { title: 'Shop tools' })
    const { page, complaints } = await openPage(patchbay.origin, { email: ada.email, javaScriptEnabled })
    const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
    const toolkit = () => page.goto(`/toolkits/${id}`)
    /** Waits for a link or button of the page that follows reading; without scripts, by refreshing it. */
    const untilRead = async (name: string): Promise<void> => {
      const refresh = page.getByRole('link', { name: 'Refresh' })
      if (!javaScriptEnabled) while (await refresh.isVisible()) await refresh.click()
      await page.getByRole('navigation', { name: 'Review' }).getByRole('link', { name }).waitFor()
    }

    await page.goto(`/toolkits/${id}/imports`)
    await page.getByLabel('URL or text').fill(source.url)
    await press('Read source')
    await untilRead('Operations')
    await press('Import 3 tools')
    await page.getByRole('heading', { name: '3 tools imported' }).waitFor()

    await toolkit()
    await page.getByRole('link', { name: 'list_orders', exact: true }).click()
    await page.getByLabel('Description for the model').fill('Finds orders, newest first.')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Saved').first().waitFor()

    source.put(
      shopOf({ '/orders': { operationId: 'listOrders', summary: 'List all orders', parameters: [LIMIT, AFTER] } }),
    )
    await toolkit()
    await press('Check now')
    await page.getByText('1 changed').waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByText('The source has changed').waitFor()
    await page.setViewportSize({ width: 1_280, height: 800 })
    const { body: edited } = await ada.expectOk('GET', `/toolkits/${id}/tools`)
    await press('Import again')
    await untilRead('Changes')
    await page.getByText('Finds orders, newest first.').waitFor()
    await page.getByText('List all orders').first().waitFor()
    await page.getByText('Query parameter after').waitFor()
    expect((await ada.expectOk('GET', `/toolkits/${id}/tools`)).body).toEqual(edited)
    await press('Update 1 tool')
    await page.getByRole('heading', { name: /1 tool/ }).waitFor()
    const toolOf = async () => {
      const { body } = await ada.expectOk('GET', `/toolkits/${id}/tools`)
      return JSON.stringify(body)
    }
    expect(await toolOf()).toContain('Finds orders, newest first.')
    expect(await toolOf()).toContain('after={{after?}}')
    await toolkit()
    expect(await page.getByText('1 changed').count()).toBe(0)

    const [tool] = Tools.parse((await ada.expectOk('GET', `/toolkits/${id}/tools`)).body).items
    await ada.expectOk('PATCH', `/tools/${tool?.id}`, { title: 'Find orders' })
    const lower = { ...LIMIT, schema: { type: 'integer', maximum: 50 } }
    source.put(shopOf({ '/orders': { operationId: 'listOrders', summary: 'Order list', parameters: [lower, AFTER] } }))
    await press('Import again')
    await untilRead('Changes')
    await page.getByText('Parameter limit: maximum: 100 maximum: 50').waitFor()
    const newVersionOf = (part: string) =>
      page.getByRole('group', { name: `${part} of list_orders` }).getByRole('radio', { name: 'Use the new one' })
    const saved = javaScriptEnabled
      ? page.waitForResponse(response => response.request().method() === 'POST')
      : undefined
    await newVersionOf('Description').check()
    await saved
    if (javaScriptEnabled) await page.reload()
    expect(await newVersionOf('Description').isChecked()).toBe(true)
    expect(await newVersionOf('Title').isChecked()).toBe(false)
    await press('Update 1 tool')
    await page.getByRole('heading', { name: /1 tool/ }).waitFor()
    expect(await toolOf()).not.toContain('Finds orders')
    expect(await toolOf()).toContain('"title":"Find orders"')
    expect(complaints.take()).toEqual([])
  })
})
