import type { Page } from 'playwright-core'
import type { DashboardWorld } from './dashboard-world.ts'

/** One page as somebody meets it. A route whose page has several states has a row for each that looks different. */
export type PageRow = {
  /** As Fastify prints it. */
  route: string
  path: (world: DashboardWorld) => string | Promise<string>
  /** Of this row among those of its route; names the screenshot. */
  state?: string
  /** Left out: the owner, who is the operator as well. The leaver is the viewer with a session that may end. */
  who?: 'owner' | 'viewer' | 'leaver' | 'stranger'
  /** Left out: 200. */
  status?: number
  /** What is done on the page before it is looked at, such as sending its form. */
  act?: (page: Page) => Promise<void>
}

/** The same address in every world. */
export const at =
  (path: string): PageRow['path'] =>
  () =>
    path
