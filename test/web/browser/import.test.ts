import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect } from '../../servers/mcp.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { openPage } from '../../support/open-page.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { describeLarge, describeMeridian } from './meridian-api.ts'

vi.setConfig({ testTimeout: 90_000 })

const KEY = 'tms-4f9XbQ27TzLmWc81RyVn05Ke'

const fake = runFakeApi()
/** Serves a description, and a page that asks to sign in. */
const published = runFakeApi(({ url }, response) => {
  if (url === '/openapi.json') answerJson(response, describeMeridian('https://tms.example'))
  else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')
})
const patchbay = runPatchbay()
const ada = runUser(patchbay, 'ada@example.com')

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name })
const tab = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Review' }).getByRole('link', { name })
const pick = (page: Page, key: string): Locator => page.getByRole('checkbox', { name: `Import ${key}`, exact: true })

/** Opens the page that asks for the source, of a new toolkit. */
const openSource = async (api: ApiClient & { email: string }, javaScriptEnabled = true) => {
  const { id } = await api.create('/toolkits', { title: 'Freight' })
  const opened = await openPage(patchbay.origin, { email: api.email, javaScriptEnabled })
  await opened.page.goto(`/toolkits/${id}`)
  await opened.page.getByRole('link', { name: 'Import' }).click()
  await opened.page.getByRole('heading', { name: 'Import into Freight' }).waitFor()
  return { ...opened, toolkitId: id }
}

/** Waits until the source has been read; without scripts, by refreshing the page. */
const waitUntilRead = async (page: Page): Promise<void> => {
  await page.waitForURL(/\/imports\/[^/]+$/)
  const refresh = page.getByRole('link', { name: 'Refresh' })
  while (await refresh.isVisible()) await refresh.click()
  await tab(page, 'Operations').or(page.getByText('could not be read')).first().waitFor()
}

/** Pastes a source, and waits until it has been read. */
const paste = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('URL or text').fill(text)
  await button(page, 'Read source').click()
  await waitUntilRead(page)
}

const toolNames = async (api: ApiClient, toolkitId: string): Promise<string[]> => {
  const { body } = await api.expectOk('GET', `/toolkits/${toolkitId}/tools`)
  return JSON.stringify(body).match(/(?<="name":")[a-z_]+(?=","title")/g) ?? []
}

describe.each([true, false])('importing an API description, scripts: %s', hasScripts => {
  it('leads from pasted text over the review and the values to tools that a live server lists', async () => {
    const { page, complaints, toolkitId } = await openSource(ada, hasScripts)
    await paste(page, JSON.stringify(describeMeridian(fake.origin)))
    await page.getByRole('heading', { name: 'Import Meridian TMS' }).waitFor()

    await button(page, 'Select none').click()
    await button(page, 'Import 0 tools').waitFor()
    await pick(page, 'GET /v3/shipments/{shipmentId}').check()
    await page.getByLabel('Name of POST /v3/quotes').fill('ask_price')
    await pick(page, 'POST /v3/quotes').check()
    if (!hasScripts) await button(page, 'Save selection and names').click()
    await button(page, 'Import 2 tools').waitFor()
    expect(await page.getByText('It sends a file').count()).toBe(1)

    await tab(page, 'URL and auth').click()
    await page.getByText('are discarded when you import').waitFor()
    await page.getByLabel('Add the tools to').selectOption('New server…')
    await page.getByLabel('Name of the new server').fill('Freight desk')
    await page.getByLabel(/^API key/).fill(KEY)
    if (hasScripts) await page.getByLabel(/^API key/).blur()
    else await button(page, 'Save values').click()
    await page.getByText('Has a value').waitFor()
    await page.getByRole('region', { name: 'Selection' }).getByRole('link', { name: 'Freight desk' }).waitFor()
    expect(await page.content()).not.toContain(KEY)

    await tab(page, 'Operations').click()
    await page.getByRole('link', { name: '/v3/shipments/{shipmentId}' }).first().click()
    await page.getByRole('heading', { name: 'What models see' }).waitFor()
    await page.getByLabel('shipmentId', { exact: true }).fill('KF-7')
    await button(page, 'Send').click()
    await page.getByText('200').first().waitFor()
    expect(fake.seen.at(-1)).toMatchObject({ url: '/v3/shipments/KF-7', headers: { 'x-api-key': KEY } })
    expect(await page.content()).not.toContain(KEY)
    expect(await toolNames(ada, toolkitId)).toEqual([])

    await button(page, 'Import 2 tools').click()
    await page.getByRole('heading', { name: '2 tools imported' }).waitFor()
    const serverHref = await page.getByRole('link', { name: 'Open server' }).getAttribute('href')
    const client = await connect(`${patchbay.origin}/s/${serverHref?.split('/').at(-1)}`, ada.token)
    const { tools } = await client.listTools()
    expect(tools.flatMap(({ name }) => (name.startsWith('proxy_') ? [] : [name])).toSorted()).toEqual([
      'ask_price',
      'get_shipment',
    ])
    await client.callTool({ name: 'get_shipment', arguments: { shipmentId: 'KF-8' } })
    expect(fake.seen.at(-1)).toMatchObject({ url: '/v3/shipments/KF-8', headers: { 'x-api-key': KEY } })
    await client.close()
    expect(complaints.take()).toEqual([])
  })

  it('names the tools after a rule, which can be changed at any time', async () => {
    const { page, complaints, toolkitId } = await openSource(ada, hasScripts)
    await paste(page, JSON.stringify(describeMeridian(fake.origin)))
    const id = page.url().split('/').at(-1)
    await ada.expectOk('PATCH', `/imports/${id}`, { items: { 'POST /v3/quotes': { name: 'ask_price' } } })
    await tab(page, 'Names').click()
    await page.getByRole('row', { name: 'createQuote ask_price changed by you' }).waitFor()
    // Scripts save the form.
    await page.waitForLoadState()
    await page.getByLabel('Name from').selectOption('Method and path')
    await page.getByLabel('Prefix (optional)').fill('tms_')
    if (hasScripts) await page.keyboard.press('Tab')
    else await button(page, 'Save names').click()
    await page.getByRole('row', { name: 'getShipment tms_get_shipments_by_shipment_id' }).waitFor()
    await page.getByLabel('Name from').selectOption('Operation ID')
    if (hasScripts) await page.getByRole('row', { name: 'getShipment tms_get_shipment', exact: true }).waitFor()
    // What is typed last is saved with the import.
    await page.getByLabel('Prefix (optional)').fill('meridian_')
    await button(page, 'Import 3 tools').click()
    await page.getByRole('heading', { name: '3 tools imported' }).waitFor()
    const names = ['ask_price', 'meridian_delete_shipment', 'meridian_get_shipment']
    expect((await toolNames(ada, toolkitId)).toSorted()).toEqual(names)
    expect(complaints.take()).toEqual([])
  })

  it('keeps an import that was made twice, or discarded, from doing anything', async () => {
    const { page, toolkitId } = await openSource(ada, hasScripts)
    await paste(page, `curl ${fake.origin}/v1/rates?from=LEJ`)
    const address = page.url()
    await button(page, 'Import 1 tool').click()
    await page.getByRole('heading', { name: '1 tool imported' }).waitFor()
    await page.goto(address)
    await page.getByRole('heading', { name: '1 tool imported' }).waitFor()
    await page.goto(`/toolkits/${toolkitId}/imports`)
    await paste(page, `curl ${fake.origin}/v1/depots`)
    await button(page, 'Discard import').click()
    await page.getByText('Import discarded.').waitFor()
    expect(await toolNames(ada, toolkitId)).toHaveLength(1)
  })
})

describe('a click on Import', () => {
  it('is not lost if the field that it leaves is saved meanwhile', async () => {
    const { page, complaints, toolkitId } = await openSource(ada)
    await paste(page, JSON.stringify(describeMeridian(fake.origin)))
    await tab(page, 'Names').click()
    await page.getByLabel('Prefix (optional)').fill('tms_')
    await page.waitForLoadState()
    const saved = page.evaluate(
      `new Promise(resolve => document.addEventListener('htmx:afterRequest', () => resolve(true), { once: true }))`,
    )
    await button(page, 'Import 3 tools').hover()
    await page.mouse.down()
    await saved
    await page.mouse.up()
    await page.getByRole('heading', { name: '3 tools imported' }).waitFor()
    expect(await toolNames(ada, toolkitId)).toContain('tms_get_shipment')
    expect(complaints.take()).toEqual([])
  })
})

describe('a description in several files', () => {
  it('is read from all of them, whichever was chosen first', async () => {
    const { page } = await openSource(ada, false)
    const main = describeMeridian(fake.origin)
    const path = { get: { operationId: 'getRate', responses: { 200: { description: 'The rate' } } } }
    const files = {
      'paths.json': { rates: path },
      'main.json': { ...main, paths: { '/v3/rates': { $ref: 'paths.json#/rates' } } },
    }
    const toFile = ([name, value]: [string, unknown]) => {
      return { name, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(value)) }
    }
    await page.getByLabel('Or files').setInputFiles(Object.entries(files).map(toFile))
    await button(page, 'Read source').click()
    await waitUntilRead(page)
    await page.getByText('main.json').waitFor()
    await button(page, 'Import 1 tool').click()
    await page.getByRole('link', { name: 'get_rate' }).waitFor()
  })
})

describe('a folder', () => {
  it('is read with its folders, and without what is no document', async () => {
    const { page } = await openSource(ada)
    const folder = await mkdtemp(join(tmpdir(), 'description-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await mkdir(join(folder, 'paths'))
    const paths = { '/v3/rates': { $ref: 'paths/rates.yaml' } }
    await writeFile(join(folder, 'openapi.json'), JSON.stringify({ ...describeMeridian(fake.origin), paths }))
    await writeFile(join(folder, 'paths', 'rates.yaml'), 'get: { operationId: getRate, responses: {} }')
    await writeFile(join(folder, 'logo.png'), 'not a document')
    await page.getByLabel('Or a folder').setInputFiles(folder)
    await button(page, 'Read source').click()
    await waitUntilRead(page)
    await page.getByLabel('Name of GET /v3/rates').waitFor()
  })
})

describe('a Postman collection', () => {
  it('takes the values of its variables from an environment', async () => {
    const { page } = await openSource(ada)
    const collection = {
      info: { name: 'Shop', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      item: [{ name: 'List orders', request: { method: 'GET', url: '{{shop_url}}/orders' } }],
    }
    const environment = { name: 'Live', values: [{ key: 'shop_url', value: 'https://shop.example', enabled: true }] }
    const buffer = Buffer.from(JSON.stringify(environment))
    await page
      .getByLabel('Postman environment, optional')
      .setInputFiles({ name: 'live.json', mimeType: 'application/json', buffer })
    await paste(page, JSON.stringify(collection))
    await page.getByRole('heading', { name: 'Import Shop' }).waitFor()
    await tab(page, 'URL and auth').click()
    await expect.poll(() => page.locator('form#access').innerHTML()).toContain('https://shop.example')
  })
})

describe('the URL of a description', () => {
  it('is fetched, and named on the review', async () => {
    const { page } = await openSource(ada)
    await paste(page, ` ${published.origin}/openapi.json `)
    await page.getByRole('heading', { name: 'Import Meridian TMS' }).waitFor()
    await page.getByText(`${published.origin}/openapi.json`).waitFor()
    await page.getByRole('link', { name: 'Choose another source' }).click()
    await paste(page, `${published.origin}/docs`)
    await page.getByRole('heading', { name: 'The source could not be read' }).waitFor()
    const failed = page.url()
    await button(page, 'Read again').click()
    await page.waitForURL(url => url.href !== failed)
    await page.getByRole('heading', { name: 'The source could not be read' }).waitFor()
    await page.getByRole('link', { name: 'Choose another source' }).first().click()
    await page.getByRole('listitem').filter({ hasText: 'Meridian TMS' }).getByText('Not imported yet').waitFor()
    await page.getByRole('listitem').filter({ hasText: '/docs' }).getByText('Failed').waitFor()
  })

  it('is refused if it is not public', async () => {
    const { page } = await openSource(ada)
    await paste(page, 'http://169.254.169.254/latest/meta-data')
    await page.getByRole('heading', { name: 'The source could not be read' }).waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('169.254.169.254')
  })
})

describe('what an import cannot do', () => {
  it('is said at the field, or on the page of the import, with what to do', async () => {
    const { page } = await openSource(ada)
    await button(page, 'Read source').click()
    await page.getByText('Paste a URL or a text, or choose a file').waitFor()
    await page.getByLabel('URL or text').fill('<!doctype html><title>Sign in</title>')
    await page.getByLabel('Format').selectOption('OpenAPI or Swagger')
    await button(page, 'Read source').click()
    await page.getByRole('heading', { name: 'The source could not be read' }).waitFor()
    await page.getByRole('link', { name: 'Choose another source' }).first().click()
    await page.getByRole('heading', { name: 'Import into Freight' }).waitFor()
  })

  it('keeps the selection if the toolkit has changed meanwhile', async () => {
    const { page, toolkitId } = await openSource(ada)
    await paste(page, JSON.stringify(describeMeridian(fake.origin)))
    await ada.create(`/toolkits/${toolkitId}/tools`, { name: 'other', method: 'GET', url: `${fake.origin}/other` })
    await button(page, /^Import \d/).click()
    await page.getByText('The toolkit has changed').waitFor()
    expect(await pick(page, 'POST /v3/quotes').isChecked()).toBe(true)
    expect(await toolNames(ada, toolkitId)).toEqual(['other'])
  })

  it('marks a name that no tool can have, and keeps it', async () => {
    const { page } = await openSource(ada)
    await paste(page, JSON.stringify(describeMeridian(fake.origin)))
    const name = page.getByLabel('Name of POST /v3/quotes')
    await name.fill('ask for a price')
    await name.blur()
    await page.getByText('The name must be 1 to 64 characters').waitFor()
    expect(await name.inputValue()).toBe('ask for a price')
  })
})

describe('an opened operation', () => {
  it('appears beside the list, is saved there, and changes its row', async () => {
    const { page, complaints } = await openSource(ada)
    await paste(page, JSON.stringify(describeMeridian(fake.origin)))
    await page.getByRole('link', { name: '/v3/quotes' }).click()
    await page.getByRole('heading', { name: 'POST /v3/quotes' }).waitFor()
    await page.waitForURL(/open=POST/)
    await page.getByLabel('Tool name', { exact: true }).fill('ask_price')
    await page.getByLabel('Description').fill('Asks for the price of a lane.')
    await button(page, 'Save name and description').click()
    await page.getByText('From the source: create_quote').waitFor()
    expect(await page.getByLabel('Name of POST /v3/quotes').inputValue()).toBe('ask_price')
    await button(page, 'Send').click()
    await page.getByText('origin is required').waitFor()
    await page.getByLabel('Tool name', { exact: true }).fill('ask for a price')
    await button(page, 'Save name and description').click()
    await page.getByText('The name must be 1 to 64 characters').waitFor()
    await page.reload()
    await page.getByText('Asks for the price of a lane.').first().waitFor()
    expect(complaints.take(400)).toEqual([])
  })
})

describe('an opened operation on a narrow screen', () => {
  it('is brought into view below the list', async () => {
    const { page } = await openSource(ada)
    await page.setViewportSize({ width: 390, height: 800 })
    await paste(page, JSON.stringify(describeLarge(60)))
    await page.getByRole('link', { name: '/things/3/parts' }).first().click()
    const heading = page.getByRole('heading', { name: 'GET /things/3/parts' })
    await page.locator('h2:focus').waitFor()
    expect((await heading.boundingBox())?.y).toBeLessThan(400)
  })
})

describe('secrets found in a source', () => {
  it('are stored on the chosen server, and otherwise the page says that they are discarded', async () => {
    const { page } = await openSource(ada)
    await paste(page, `curl ${fake.origin}/v1/rates -H 'Authorization: Bearer ${KEY}'`)
    await page.getByText('1 secret will be discarded').waitFor()
    expect(await page.content()).not.toContain(KEY)
    await page.getByRole('link', { name: 'Choose a server' }).click()
    await page.getByLabel('Add the tools to').selectOption('New server…')
    await page.getByLabel('Name of the new server').fill('Rates')
    await button(page, 'Import 1 tool').click()
    await page.getByRole('heading', { name: '1 tool imported' }).waitFor()
    await page.getByRole('link', { name: 'Open server' }).click()
    const client = await connect(`${patchbay.origin}/s/${page.url().split('/').at(-1)}`, ada.token)
    await client.callTool({ name: 'get_rates', arguments: {} })
    expect(fake.seen.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)
    await client.close()
  })
})

describe('an API with many operations', () => {
  it('is shown by tag, with a page of operations at a time', async () => {
    const { page } = await openSource(ada)
    await paste(page, JSON.stringify(describeLarge(1_200)))
    await button(page, 'Import 0 tools').waitFor()
    await page.getByRole('link', { name: /Section 3/ }).click()
    expect(await page.getByRole('checkbox', { name: /^Import GET/ }).count()).toBe(100)
    await page.getByRole('checkbox', { name: 'Import all of Section 3' }).click()
    await button(page, 'Import 120 tools').waitFor()
    await page.getByRole('link', { name: 'Next page' }).click()
    await pick(page, 'GET /things/1193/parts').uncheck()
    await button(page, 'Import 119 tools').waitFor()
    const box = page.getByRole('checkbox', { name: 'Import all of Section 3' })
    expect(await box.getAttribute('aria-checked')).toBe('mixed')
    await page.getByRole('searchbox', { name: 'Search operations' }).fill('things/77/')
    await pick(page, 'GET /things/77/parts').check()
    await button(page, 'Import 120 tools').waitFor()
    await page.getByLabel('Selected only').check()
    expect(await pick(page, 'GET /things/77/parts').isChecked()).toBe(true)
    await page.getByRole('radio', { name: 'POST' }).check()
    await page.getByText('No operation matches.').waitFor()
  })
})
