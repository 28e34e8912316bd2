import { setTimeout as delay } from 'node:timers/promises'
import type { CatalogueReport, FindCatalogueReport } from '../tools/lint/catalogue-report.ts'

/**
 * The report of a server's catalogue, or undefined where it takes longer than a page may: it is made meanwhile, and
 * there the next time. Also where it cannot be made, as of a server whose secrets do not open: calls tell why.
 */
export const findReportSoon = (
  find: FindCatalogueReport,
  serverId: string,
  waitMs: number,
): Promise<CatalogueReport | undefined> =>
  Promise.race([find(serverId).catch(() => undefined), delay(waitMs, undefined, { ref: false })])
