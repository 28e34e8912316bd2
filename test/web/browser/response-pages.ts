import { z } from 'zod'
import { makeServer } from '../../support/api-client.ts'
import type { DashboardWorld } from './dashboard-world.ts'
import type { PageRow } from './page-row.ts'

const Globals = z.object({ items: z.array(z.object({ key: z.string(), value: z.string().optional() })) })
const Executions = z.object({ items: z.tuple([z.object({ id: z.string() })]) })
const SCHEMA = { type: 'object', properties: { state: { type: 'integer' }, events: { type: 'string' } } }

/** Calls a tool whose output schema its response does not match, and returns the path of the call. */
const callUnlikeSchema = async ({ owner, organizationId, serverId }: DashboardWorld): Promise<string> => {
  const globals = Globals.parse((await owner.expectOk('GET', `/servers/${serverId}/globals`)).body)
  const value = globals.items.find(({ key }) => key === 'carrier_url')?.value
  const tool = { name: 'track', method: 'GET', url: `${value}/v2/shipments/KF-1`, outputSchema: SCHEMA }
  const made = await makeServer(owner, [tool], { organizationId })
  await owner.expectOk('POST', `/instances/${made.instanceIds.track}/call`, { arguments: {} })
  const { items } = Executions.parse((await owner.expectOk('GET', `/servers/${made.serverId}/executions`)).body)
  return `/servers/${made.serverId}/history/${items[0].id}`
}

/** A call whose response does not match the output schema. */
export const unlikeSchemaCall: PageRow = { path: callUnlikeSchema, state: 'unlike-its-schema' }

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
