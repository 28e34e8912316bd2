import type { Page } from 'playwright-core'
import { type DashboardWorld, HOSTILE_NAME } from './dashboard-world.ts'
import type { Pages } from './page-row.ts'

const TOOL = { name: 'short_lived', description: HOSTILE_NAME, method: 'GET', url: 'https://api.example.com/{{id}}' }

const makeTool = async ({ owner, organizationId }: DashboardWorld) => {
  const toolkit = await owner.create('/toolkits', { title: 'Short-lived', organizationId })
  const { id } = await owner.create(`/toolkits/${toolkit.id}/tools`, TOOL)
  return { id, toolkitId: toolkit.id }
}

/** Creates a server with a tool, and returns the page that removes the tool. */
const onRemoval = async (world: DashboardWorld): Promise<string> => {
  const { owner, organizationId } = world
  const { id } = await owner.create('/servers', { name: 'Short-lived', organizationId })
  const { id: toolId } = await makeTool(world)
  const instance = await owner.create(`/servers/${id}/instances`, { toolId, name: TOOL.name })
  return `/servers/${id}/tools/${instance.id}/remove`
}

const removeWith = (button: string, name: string) => async (page: Page) => {
  await page.getByLabel('Type the name to confirm').fill(name)
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
}

/** Pages after a removal that can be undone. */
export const undoPages: Pages = {
  'GET /servers/:uuid/tools': [{ path: onRemoval, state: 'removed', act: removeWith('Remove tool', TOOL.name) }],
  'GET /toolkits/:id': [
    {
      path: async world => `/tools/${(await makeTool(world)).id}/removal`,
      state: 'tool-deleted',
      act: removeWith('Delete tool', TOOL.name),
    },
    {
      path: async world => {
        const { id, toolkitId } = await makeTool(world)
        return `/toolkits/${toolkitId}/tools/removal?tool=${id}`
      },
      state: 'tools-deleted',
      act: removeWith('Delete tools', 'Short-lived'),
    },
  ],
}
