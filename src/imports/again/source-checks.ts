import { bulkhead } from 'cockatiel'
import type { MailQueue } from '../../identity/mail/mail-queue.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Mailer } from '../../lib/mail/mailer.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { SourcePart } from '../source-parts.ts'
import { withoutQuery } from '../source-url.ts'
import { changedSourceEmail } from './changed-source-email.ts'
import { type CompareParts, compareImport, type ImportComparison } from './compare-import.ts'
import { createFoundChanges } from './found-changes.ts'
import type { ReadNewest } from './read-newest.ts'
import { foundNothing, openSourceUrl, type StoredFound, shownFound } from './toolkit-source.ts'
import * as store from './toolkit-sources.store.ts'

/** Checks of different organizations that run at once in this process. An organization's checks run one by one. */
const ORGANIZATIONS_AT_ONCE = 4
/** Maximum number of checks per run and organization. The others follow in the next run. */
const MAX_CHECKS_OF_ORGANIZATION = 20
const MAX_CHECKS_PER_RUN = 400

export type SourceChecksParts = {
  db: Database
  sealing: Pick<Sealing, 'open'>
  readNewest: ReadNewest
  mailer: Pick<Mailer, 'send'>
  mailQueue: Pick<MailQueue, 'post'>
  baseUrl: string
  logger: { warn: (details: object, message: string) => void }
}

/** Compares a source with the tools that were imported from it, as its parts are read. */
const createChangesFinder = (parts: CompareParts, source: store.DueSource) => {
  const { toolkitId, kind } = source
  let comparison: ImportComparison | undefined
  let found = createFoundChanges('')
  return {
    onPart: async (part: SourcePart, sha256: string): Promise<void> => {
      if ('head' in part) {
        found = createFoundChanges(sha256, source.found?.keptGone)
        const url = openSourceUrl(parts.sealing, source)
        comparison = await compareImport(parts, { toolkitId, kind, url, sha256, title: part.head.title })
      } else if (comparison !== undefined) {
        found.add(
          await comparison.add(
            part.operations.map(operation => ({ operation, position: 0 })),
            part.unfilled,
          ),
        )
      }
    },
    finish: async (): Promise<StoredFound> => {
      if (comparison !== undefined) {
        const { compared, gone } = await comparison.finish()
        found.add(compared)
        found.addGone(gone)
      }
      return found.sum()
    },
  }
}

/** Checks whether the sources of toolkits have changed. Never changes a tool. */
export const createSourceChecks = (parts: SourceChecksParts) => {
  const { db, sealing, readNewest, mailer, mailQueue, baseUrl, logger } = parts

  const learn = async (source: store.DueSource, signal: AbortSignal | undefined): Promise<store.CheckResult> => {
    const changes = createChangesFinder({ db, sealing }, source)
    const known = new Set([source.sha256, source.found?.sha256 ?? source.sha256])
    const read = await readNewest(source, { known, onPart: changes.onPart }, signal)
    if (!read.ok) return { problem: read.error }
    if (read.value === undefined) return {}
    const { sha256, validators } = read.value
    if (sha256 === source.sha256) return { found: foundNothing(sha256, source.found?.keptGone), validators }
    if (sha256 === source.found?.sha256) return { validators }
    return { found: await changes.finish(), validators }
  }

  const tell = async ({ toolkitId, url = '' }: store.DueSource, found: StoredFound): Promise<void> => {
    const readers = await store.findReaders(db, toolkitId)
    const link = `${baseUrl}/toolkits/${toolkitId}`
    for (const to of readers?.emails ?? []) {
      const email = changedSourceEmail({ to, toolkit: readers?.title ?? '', url: withoutQuery(url), found, link })
      await mailer
        .send(email)
        .catch(error => logger.warn({ err: error, toolkitId }, 'an email about a changed source could not be sent'))
    }
  }

  /** Checks a source, unless that is being done. Returns whether it was checked. Tells builders once of each change. */
  const checkOne = async (source: store.DueSource, signal?: AbortSignal): Promise<boolean> => {
    if (!(await store.claimCheck(db, source, new Date()))) return false
    const result = await learn(source, signal)
    if (signal?.aborted === true) return false
    const isStored = await store.putCheckResult(db, source, result)
    const { found } = result
    if (isStored && shownFound(found) !== undefined && found !== undefined && found.digest !== source.found?.digest) {
      mailQueue.post('change of a source', () => tell(source, found))
    }
    return true
  }

  const checkInOrder = async (sources: readonly store.DueSource[], signal: AbortSignal): Promise<void> => {
    for (const source of sources.slice(0, MAX_CHECKS_OF_ORGANIZATION)) {
      if (signal.aborted) return
      await checkOne(source, signal).catch(error =>
        logger.warn({ err: error, toolkitId: source.toolkitId }, 'a source could not be checked'),
      )
    }
  }

  return {
    checkOne,
    /** Checks the sources that are due. Each is checked by one process. */
    checkDue: async (signal: AbortSignal): Promise<void> => {
      const due = await store.listDueSources(db, new Date(), MAX_CHECKS_PER_RUN)
      const slots = bulkhead(ORGANIZATIONS_AT_ONCE, MAX_CHECKS_PER_RUN)
      const byOrganization = Map.groupBy(due, ({ organizationId }) => organizationId)
      await Promise.all([...byOrganization.values()].map(sources => slots.execute(() => checkInOrder(sources, signal))))
    },
  }
}

export type SourceChecks = ReturnType<typeof createSourceChecks>
