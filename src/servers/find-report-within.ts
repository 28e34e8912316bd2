import { setTimeout as delay } from 'node:timers/promises'
import type { CatalogueReport, FindCatalogueReport } from '../tools/lint/catalogue-report.ts'

/**
 * Returns the report on a server's catalogue, or undefined if it takes longer than `waitMs`. The next request may then
 * find it ready. Also returns undefined if the report fails, for example because a secret cannot be decrypted. A call
 * shows the reason.
 */
export const findReportWithin = (
  find: FindCatalogueReport,
  serverId: string,
  waitMs: number,
): Promise<CatalogueReport | undefined> =>
  Promise.race([find(serverId).catch(() => undefined), delay(waitMs, undefined, { ref: false })])
