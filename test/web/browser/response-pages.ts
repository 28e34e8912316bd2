import { z } from 'zod'
import { makeServer } from '../../support/api-client.ts'
import type { DashboardWorld } from './dashboard-world.ts'
import type { PageRow } from './page-row.ts'

const Globals = z.object({ items: z.array(z.object({ key: z.string(), value: z.string().optional() })) })
const Executions = z.object({ items: z.tuple([z.object({ id: z.string() })]) })
const SCHEMA = { type: 'object', properties: { state: { type: 'integer' }, events: { type: 'string' } } }

/** Creates a server with a tool of the carrier's API. */
const makeTrack = async ({ owner, organizationId, serverId }: DashboardWorld, more: object) => {
  const globals = Globals.parse((await owner.expectOk('GET', `/servers/${serverId}/globals`)).body)
  const value = globals.items.find(({ key }) => key === 'carrier_url')?.value
  const tool = { name: 'track', method: 'GET', url: `${value}/v2/shipments/KF-1`, ...more }
  return makeServer(owner, [tool], { organizationId })
}

/** Calls the tool of a server, and returns the path of the call. */
const callTrack = async ({ owner }: DashboardWorld, made: Awaited<ReturnType<typeof makeTrack>>): Promise<string> => {
  await owner.expectOk('POST', `/instances/${made.instanceIds.track}/call`, { arguments: {} })
  const { items } = Executions.parse((await owner.expectOk('GET', `/servers/${made.serverId}/executions`)).body)
  return `/servers/${made.serverId}/history/${items[0].id}`
}

/** A call whose response does not match the output schema. */
export const unlikeSchemaCall: PageRow = {
  path: async world => callTrack(world, await makeTrack(world, { outputSchema: SCHEMA })),
  state: 'unlike-its-schema',
}

/** A call of a server that stores bodies, with the response. */
export const callWithBodies: PageRow = {
  path: async world => {
    const made = await makeTrack(world, {})
    await world.owner.expectOk('PATCH', `/servers/${made.serverId}`, { storesBodies: true })
    return callTrack(world, made)
  },
  state: 'response',
  act: async page => {
    await page.getByRole('tab', { name: 'Response' }).click()
    await page.getByRole('region', { name: 'Response' }).waitFor()
  },
}

/** Creates a tool as if from a description that says what its response is, and returns its path. */
const importTrack = async (world: DashboardWorld): Promise<string> => {
  const { toolIds } = await makeTrack(world, {})
  const outputSchema = { type: 'object', properties: { shipment: { type: 'string' } } }
  const source = { toolId: toolIds.track ?? '', key: 'GET /shipments', base: {}, generator: 1, outputSchema }
  await world.app.services.db.toolSource.create({ data: source })
  return `/tools/${toolIds.track}`
}

/** An imported tool whose response matches the output schema of its description. */
export const proposedSchema: PageRow = {
  path: importTrack,
  state: 'schema-offered',
  act: async page => {
    await page.getByRole('button', { name: 'Send' }).first().click()
    await page.getByRole('button', { name: 'Use as output schema' }).waitFor()
  },
}

/** An imported tool whose output schema was filled in from the offer. */
export const chosenSchema: PageRow = {
  path: importTrack,
  state: 'schema-chosen',
  act: async page => {
    await page.getByRole('button', { name: 'Send' }).first().click()
    await page.getByRole('button', { name: 'Use as output schema' }).click()
    await page.getByRole('textbox', { name: 'Output schema' }).getByText('"shipment"').waitFor()
  },
}

/** The tool editor with such a response, which also says how to get the next page. */
export const unlikeSchemaResponse: PageRow = {
  path: '/tools/:toolId?tab=response',
  state: 'unlike-its-schema',
  act: async page => {
    await page.getByLabel('Cursor parameter').fill('since')
    await page.getByLabel('Cursor in the response').fill('shipment')
    await page.getByLabel('Output schema').fill(JSON.stringify(SCHEMA))
    await page.getByRole('button', { name: 'Send' }).first().click()
    await page.getByText('Not as in the output schema: state must be integer; events must be string.').waitFor()
    await page.getByText('The model is also told: Next page: call again with').waitFor()
  },
}

/** The tool editor with a cursor that no parameter takes. */
export const refusedPagination: PageRow = {
  path: '/tools/:toolId?tab=response',
  state: 'pagination-refused',
  status: 400,
  act: async page => {
    await page.getByLabel('Cursor parameter').fill('nothing')
    await page.getByLabel('Cursor in the response').fill('items[')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('is not a path').waitFor()
  },
}
