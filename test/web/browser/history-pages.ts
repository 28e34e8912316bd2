import type { Page } from 'playwright-core'
import type { DashboardWorld } from './dashboard-world.ts'
import type { PageRow, Pages } from './page-row.ts'
import { callWithBodies, unlikeSchemaCall } from './response-pages.ts'

const FILTERED =
  'tool=quote_rate&result=rejected&result=failed&status=4xx&client=claude&from=2020-01-01&to=2020-01-02&q=%3Cb%3E'

/** Returns the path of a call that was sent three times, with all phases measured. */
const onTimedCall = async ({ app, serverId, executionId }: DashboardWorld, path: string): Promise<string> => {
  const { db } = app.services
  const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
  await db.execution.update({
    where: { id: executionId },
    data: {
      organizationId,
      requestId: 'req-4f9XbQ27TzLmWc81RyVn',
      timing: JSON.stringify({
        resolveMs: 2,
        queueMs: 0.2,
        dnsMs: 4,
        connectMs: 18,
        firstByteMs: 291,
        bodyMs: 4,
        shapeMs: 3,
      }),
      attempts: JSON.stringify([
        { startMs: 2, durationMs: 80, failure: 'connection reset' },
        { startMs: 140, durationMs: 60, status: 503 },
        { startMs: 260, durationMs: 50, status: 200 },
      ]),
    },
  })
  return `${path}/${executionId}`
}

const openFilter = (name: string) => async (page: Page) => {
  await page.locator('.filter > summary', { hasText: name }).click()
  await page.getByRole('group', { name }).getByRole('button', { name: 'Apply' }).waitFor()
}

const statesOf = (path: string): readonly PageRow[] => [
  { path },
  { path: `${path}?${FILTERED}`, state: 'nothing-found' },
  { path: `${path}?outcome=error`, state: 'outcome-filter', act: openFilter('Outcome') },
  { path: `${path}?from=2020-01-01`, state: 'time-filter', act: openFilter('Time') },
  {
    path,
    state: 'charts',
    act: page => page.getByText('Durations, tokens, and tables').click(),
  },
  { path: `${path}?tols=%3Cb%3E&result=gone`, state: 'unknown-filter', status: 400 },
]

export const historyPages: Pages = {
  'GET /servers/:uuid/history': [
    ...statesOf('/servers/:serverId/history'),
    { path: '/servers/:emptyServerId/history', state: 'empty' },
  ],
  'GET /organizations/:id/history': [
    ...statesOf('/organizations/:organizationId/history'),
    { path: '/organizations/:emptyOrganizationId/history', state: 'empty', who: 'viewer' },
    { path: '/organizations/:organizationId/history', state: 'viewer', who: 'viewer' },
  ],
  'GET /servers/:uuid/history/:id': [
    { path: '/servers/:serverId/history/:executionId' },
    { path: world => onTimedCall(world, `/servers/${world.serverId}/history`), state: 'timed' },
    unlikeSchemaCall,
    callWithBodies,
    {
      path: '/servers/:serverId/history/:executionId?outcome=error',
      state: 'other',
      act: async page => {
        await page.goto(`${page.url().split('/history/')[0]}/history?tool=book_pickup`)
        await page.getByRole('region', { name: 'Table of calls' }).getByRole('link').first().click()
        await page.getByRole('tab', { name: 'cURL' }).click()
      },
    },
  ],
  'GET /servers/:uuid/history/removal': [
    { path: '/servers/:serverId/history/removal?status=4xx&to=2999-01-01' },
    { path: '/servers/:serverId/history/removal?tool=%3Cb%3E', state: 'nothing' },
    {
      path: '/servers/:serverId/history/removal?status=4xx',
      state: 'wrong-name',
      status: 400,
      act: async page => {
        await page.getByLabel('Type the name to confirm').fill('Another')
        await page.getByRole('button', { name: 'Delete calls' }).click()
        await page.getByText('The name is not').waitFor()
      },
    },
  ],
  'GET /organizations/:id/history/removal': [
    { path: '/organizations/:organizationId/history/removal?status=4xx&to=2999-01-01' },
  ],
  'GET /organizations/:id/history/:callId': [
    { path: world => onTimedCall(world, `/organizations/${world.organizationId}/history`) },
  ],
}
