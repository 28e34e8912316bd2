import type { Page } from 'playwright-core'
import { z } from 'zod'
import type { DashboardWorld } from './dashboard-world.ts'

/** A page in one of its states. */
export type PageRow = {
  /** The path to open. A string contains ids of the world by name: `/servers/:serverId`. */
  path: string | ((world: DashboardWorld) => string | Promise<string>)
  /** Distinguishes the rows of a route. Also used in the screenshot's name. */
  state?: string
  /** Default: the owner, who is also the operator. The leaver is the viewer, in a session that may end. The builder has a long email. */
  who?: 'owner' | 'builder' | 'viewer' | 'leaver' | 'stranger'
  /** Default: 200. */
  status?: number
  /** Runs before the checks, for example to submit a form. */
  act?: (page: Page) => Promise<void>
}

/** Rows by route, as printed by Fastify. A route has a row for each state that looks different. */
export type Pages = Readonly<Record<string, readonly PageRow[]>>

/** Saves the form as if somebody else had saved a change after it was opened. */
export const saveOutdated = async (page: Page, button = 'Save'): Promise<void> => {
  await page.evaluate(`document.querySelector('[name=version]').value = '2020-01-01T00:00:00.000Z'`)
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('heading', { name: 'Someone else saved changes' }).waitFor()
}

export const pathIn = (world: DashboardWorld, path: PageRow['path']): string | Promise<string> =>
  typeof path === 'function'
    ? path(world)
    : path.replaceAll(/:(\w+)/g, (_, name: string) => z.string().parse(Reflect.get(world, name)))
