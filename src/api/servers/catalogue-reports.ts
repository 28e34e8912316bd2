import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import type { Job } from '../../lib/worker/job.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { CatalogueFigures, CatalogueJob } from '../../tools/lint/catalogue-job.ts'
import type { CatalogueReport, FindCatalogueReport } from '../../tools/lint/catalogue-report.ts'
import { buildReport } from './build-catalogue-report.ts'

export type ReportParts = {
  execution: Pick<ExecutionService, 'compilePresented'>
  readCatalogue: Job<CatalogueJob, CatalogueFigures>
  bus: EventBus
}

/** Maximum number of cached tools and findings of all servers, which take a few tens of megabytes. */
const MAX_CACHED = 60_000

const sizeOf = ({ tools }: CatalogueReport): number => tools.reduce((sum, { findings }) => sum + 1 + findings.length, 1)

/**
 * Creates the reports on servers' catalogues. A report is built on first request and cached until its server changes.
 * The caller must have checked access.
 */
export const createCatalogueReports = ({ execution, readCatalogue, bus }: ReportParts) => {
  const cache = new LRUCache<string, CatalogueReport>({ maxSize: MAX_CACHED, sizeCalculation: sizeOf })
  const flights = createSingleFlight<CatalogueReport | undefined>()

  const build = async (serverId: string): Promise<CatalogueReport | undefined> => {
    const servers = await execution.compilePresented(serverId)
    return servers && buildReport(servers, readCatalogue)
  }

  const find: FindCatalogueReport = async serverId => {
    const known = cache.get(serverId)
    if (known !== undefined) return known
    return flights.run(serverId, async (_stop, isCurrent) => {
      const report = await build(serverId)
      if (report !== undefined && isCurrent()) cache.set(serverId, report)
      return report
    })
  }

  const forget = (serverId: string): void => {
    cache.delete(serverId)
    flights.forget(serverId)
  }
  bus.subscribe('server_changed', ({ serverId }) => forget(serverId))
  bus.subscribe('server_removed', ({ serverId }) => forget(serverId))
  bus.subscribe('upstream_changed', ({ serverId }) => forget(serverId))
  bus.subscribe('resync', () => {
    cache.clear()
    flights.forget()
  })

  return {
    find,
    /** Returns the cached reports with their server ids, most recently used first. */
    listKnown: (max: number): [serverId: string, report: CatalogueReport][] => [...cache.entries()].slice(0, max),
  }
}
export type CatalogueReports = ReturnType<typeof createCatalogueReports>
