import type { Page } from 'playwright-core'
import type { DashboardWorld } from './dashboard-world.ts'

/** A page in one of its states. A route has a row for each state that looks different. */
export type PageRow = {
  /** As printed by Fastify. */
  route: string
  path: (world: DashboardWorld) => string | Promise<string>
  /** Distinguishes the rows of a route; used in the screenshot's name. */
  state?: string
  /** Default: the owner, who is also the operator. The leaver is the viewer, in a session that may end. */
  who?: 'owner' | 'viewer' | 'leaver' | 'stranger'
  /** Default: 200. */
  status?: number
  /** Done before the checks, such as submitting a form. */
  act?: (page: Page) => Promise<void>
}

export const at =
  (path: string): PageRow['path'] =>
  () =>
    path
