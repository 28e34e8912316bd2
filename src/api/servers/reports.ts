import { LRUCache } from 'lru-cache'
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
  const running = new Map<string, Promise<CatalogueReport | undefined>>()

  const make = async (serverId: string): Promise<CatalogueReport | undefined> => {
    const servers = await execution.compilePresented(serverId)
    return servers && buildReport(servers, readCatalogue)
  }

  const start = async (serverId: string): Promise<CatalogueReport | undefined> => {
    const own = make(serverId)
    running.set(serverId, own)
    try {
      const report = await own
      // Changed meanwhile: the next who asks has it made anew.
      if (report !== undefined && running.get(serverId) === own) made.set(serverId, report)
      return report
    } finally {
      if (running.get(serverId) === own) running.delete(serverId)
    }
  }

  const forget = (serverId: string): void => {
    made.delete(serverId)
    running.delete(serverId)
  }
  bus.subscribe('server_changed', ({ serverId }) => forget(serverId))
  bus.subscribe('server_removed', ({ serverId }) => forget(serverId))
  bus.subscribe('upstream_changed', ({ serverId }) => forget(serverId))
  bus.subscribe('resync', () => {
    made.clear()
    running.clear()
  })

  return {
    find: (async serverId =>
      made.get(serverId) ?? (await (running.get(serverId) ?? start(serverId)))) satisfies FindCatalogueReport,
    /** Those that are at hand, by the id of the server; the one that was asked for last is first. */
    listKnown: (max: number): [serverId: string, report: CatalogueReport][] => [...made.entries()].slice(0, max),
  }
}
export type CatalogueReports = ReturnType<typeof createCatalogueReports>
