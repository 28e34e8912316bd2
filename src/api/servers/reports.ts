import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import type { Job } from '../../lib/worker/job.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { CatalogueFigures, CatalogueJob } from '../../tools/lint/catalogue-job.ts'
import type { CatalogueReport, FindCatalogueReport } from '../../tools/lint/catalogue-report.ts'
import { buildReport } from './report.ts'

export type ReportParts = {
  execution: Pick<ExecutionService, 'compilePresented'>
  readCatalogue: Job<CatalogueJob, CatalogueFigures>
  bus: EventBus
}

/** Tools and findings that are remembered, of all servers together: some tens of megabytes at most. */
const MAX_REMEMBERED = 60_000

const sizeOf = ({ tools }: CatalogueReport): number => tools.reduce((sum, { findings }) => sum + 1 + findings.length, 1)

/**
 * Reports of servers' catalogues, each made when it is first asked for and kept until something changes that it is
 * made of. Whoever asks has looked whether they may.
 */
export const createCatalogueReports = ({ execution, readCatalogue, bus }: ReportParts) => {
  const made = new LRUCache<string, CatalogueReport>({ maxSize: MAX_REMEMBERED, sizeCalculation: sizeOf })
  const flights = createSingleFlight<CatalogueReport | undefined>()

  const make = async (serverId: string): Promise<CatalogueReport | undefined> => {
    const servers = await execution.compilePresented(serverId)
    return servers && buildReport(servers, readCatalogue)
  }

  const find: FindCatalogueReport = async serverId => {
    const known = made.get(serverId)
    if (known !== undefined) return known
    return flights.run(serverId, async (_stop, isCurrent) => {
      const report = await make(serverId)
      if (report !== undefined && isCurrent()) made.set(serverId, report)
      return report
    })
  }

  const forget = (serverId: string): void => {
    made.delete(serverId)
    flights.forget(serverId)
  }
  bus.subscribe('server_changed', ({ serverId }) => forget(serverId))
  bus.subscribe('server_removed', ({ serverId }) => forget(serverId))
  bus.subscribe('upstream_changed', ({ serverId }) => forget(serverId))
  bus.subscribe('resync', () => {
    made.clear()
    flights.forget()
  })

  return {
    find,
    /** Those that are at hand, by the id of the server; the one that was asked for last is first. */
    listKnown: (max: number): [serverId: string, report: CatalogueReport][] => [...made.entries()].slice(0, max),
  }
}
export type CatalogueReports = ReturnType<typeof createCatalogueReports>
