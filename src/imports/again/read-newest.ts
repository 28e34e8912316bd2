import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { HttpClient, OutboundRequest, OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { toGivenSecurity } from '../openapi/security.ts'
import { type GatherParts, gatherSource } from '../reading/gather-source.ts'
import type { ReadingTurns } from '../reading/reading-turns.ts'
import type { SourceFiles } from '../reading/source-files.ts'
import { runSourceJob, type SourceJobs } from '../reading/source-job.ts'
import { SourcePart } from '../source-parts.ts'
import { openSourceUrl } from './toolkit-source.ts'
import type { DueSource } from './toolkit-sources.store.ts'

/** How long a check may take, with waiting and fetching. */
const MAX_CHECK_MS = 3 * 60_000

const TOO_SLOW = 'It took too long to get and read the source.'

/** Thrown if the source is a version that need not be read. */
class KnownVersion extends Error {
  override readonly name = 'KnownVersion'
}

export type ReadNewestParts = {
  sealing: Pick<Sealing, 'open'>
  http: Pick<HttpClient, 'send'>
  jobs: SourceJobs
  files: SourceFiles
  maxBytes: number
  inTurn: ReadingTurns
  /** Why this Patchbay cannot read sources, as a sentence. */
  memoryProblem: string | undefined
}

type Validators = { etag: string | undefined; lastModified: string | undefined }

const NO_VALIDATORS: Validators = { etag: undefined, lastModified: undefined }
const NOT_MODIFIED = 304

export type NewestSource = {
  sha256: string
  /** For the next request. None if there are several documents, as those of one say nothing about the others. */
  validators: Validators
}

export type NewestHandlers = {
  /** Versions that need not be read. */
  known: ReadonlySet<string>
  onPart: (part: SourcePart, sha256: string) => Promise<void>
}

const headerOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

/**
 * Makes the first request conditional (RFC 9110 §13). Throws `KnownVersion` if the document is the one of the last check,
 * and otherwise remembers its validators.
 */
const conditional = ({ send }: Pick<HttpClient, 'send'>, { etag, lastModified }: DueSource) => {
  const conditions: (readonly [string, string])[] = []
  if (etag !== undefined) conditions.push(['if-none-match', etag])
  if (lastModified !== undefined) conditions.push(['if-modified-since', lastModified])
  let validators: Validators | undefined
  return {
    send: async (request: OutboundRequest): Promise<OutboundResponse> => {
      if (validators !== undefined) return send(request)
      const response = await send({ ...request, headers: [...request.headers, ...conditions] })
      const { status, headers } = response
      if (status === NOT_MODIFIED) throw new KnownVersion()
      validators = { etag: headerOf(headers.etag), lastModified: headerOf(headers['last-modified']) }
      return response
    },
    validators: () => validators ?? NO_VALIDATORS,
  }
}

export const checkFolderOf = (toolkitId: string): string => `check-${toolkitId}`

/**
 * Creates a function that reads the newest version of a source. It returns undefined if the server says that it is the
 * version of the last check, and calls no handler if it is a known one. The error is a sentence.
 */
export const createNewestReader = (using: ReadNewestParts) => {
  const { sealing, http, jobs, files, maxBytes, inTurn, memoryProblem } = using

  const gather = async (
    source: DueSource,
    { known, onPart }: NewestHandlers,
    signal: AbortSignal,
  ): Promise<Result<NewestSource | undefined, string>> => {
    const { toolkitId, organizationId, kind } = source
    const url = openSourceUrl(sealing, source)
    const first = conditional(http, source)
    let newest: NewestSource | undefined
    const parts: GatherParts = {
      http: first,
      maxBytes,
      keep: (name, bytes) => files.write(checkFolderOf(toolkitId), name, bytes),
      read: (job, sha256) => {
        newest = { sha256, validators: job.documents.length === 1 ? first.validators() : NO_VALIDATORS }
        if (known.has(sha256)) throw new KnownVersion()
        const put = (text: string) => onPart(SourcePart.parse(JSON.parse(text)), sha256)
        const withSecurity = { ...job, options: { security: toGivenSecurity(source.auth ?? '') } }
        const options = { organizationId, signal, onPart: put }
        return inTurn(organizationId, signal, () => runSourceJob(jobs, withSecurity, options))
      },
    }
    try {
      const given = { kind, url, files: [], allowed: [] }
      const gathered = await gatherSource(given, parts, { organizationId, signal })
      return gathered.ok ? success(newest) : gathered
    } catch (error) {
      if (error instanceof KnownVersion) return success(newest)
      throw error
    } finally {
      await files.remove(checkFolderOf(toolkitId))
    }
  }

  return async (
    source: DueSource,
    handlers: NewestHandlers,
    stop: AbortSignal | undefined,
  ): Promise<Result<NewestSource | undefined, string>> => {
    if (memoryProblem !== undefined) return failure(memoryProblem)
    const limit = AbortSignal.timeout(MAX_CHECK_MS)
    try {
      const read = await gather(source, handlers, stop === undefined ? limit : AbortSignal.any([limit, stop]))
      return limit.aborted ? failure(TOO_SLOW) : read
    } catch (error) {
      if (limit.aborted) return failure(TOO_SLOW)
      throw error
    }
  }
}

export type ReadNewest = ReturnType<typeof createNewestReader>
