import { readFileSync } from 'node:fs'
import { shorten } from '../lib/kernel/format.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import type { SendPart } from '../lib/worker/job.ts'
import type { ImportGlobal, ImportKind } from './import.ts'
import { OPERATIONS_PER_BATCH } from './limits.ts'
import type { MappedSource } from './mapped-source.ts'
import { noOperations } from './no-operations.ts'
import type { ImportedOperation } from './openapi/imported-operation.ts'
import type { SecretProposal } from './openapi/security.ts'
import type { DescriptionDocument } from './read/documents.ts'
import { type DescriptionSummary, type ReadOptions, readDescription } from './read-description.ts'
import { readRequests } from './read-requests.ts'
import type { SourceEnd, SourceHead } from './source-parts.ts'
import { withoutQuery } from './source-url.ts'

/** Of the documents, the first is the main one. Those of a Postman collection are its environments. */
export type SourceJob = {
  kind: ImportKind
  documents: readonly DescriptionDocument[]
  options?: ReadOptions
  /** Of all documents together, unpacked. */
  maxBytes?: number
}

type Send = (part: SourcePartToSend) => Promise<void>
/** A part before it is text, which has no undefined members. */
type SourcePartToSend = { head: SourceHead } | { operations: readonly ImportedOperation[]; unfilled: readonly string[] }

const MAX_PROBLEM_CHARS = 1_000
const FORMATS = { postman: 'Postman collection', curl: 'cURL commands', har: 'HAR file' } as const

/** Notes to which origins the tools of a description may send each global. */
const createOriginNotes = () => {
  const origins = new Map<string, Set<string>>()
  return {
    add: (operation: ImportedOperation): void => {
      if (!('tool' in operation)) return
      for (const key of operation.globals) {
        const known = origins.get(key) ?? new Set()
        origins.set(key, known)
        for (const origin of operation.tool.allowedOrigins ?? []) known.add(origin)
      }
    },
    /** Returns undefined for a global that no tool uses. */
    of: (key: string): readonly string[] | undefined => (origins.has(key) ? [...(origins.get(key) ?? [])] : undefined),
  }
}

const toGlobal = ({ key, asks, description }: SecretProposal, origins: readonly string[]): ImportGlobal => ({
  key,
  isSecret: true,
  asks,
  description,
  origins: [...origins],
})

const headOf = (summary: DescriptionSummary): SourceHead => {
  const { format, title, version, description, operations, webhooks, tags, baseUrl, secrets } = summary
  return {
    ...{ kind: 'openapi', format, title, version, description, total: operations, webhooks },
    tags: [...tags],
    baseUrls: toBaseUrls([baseUrl]),
    globals: secrets.map(secret => toGlobal(secret, [])),
  }
}

const toBaseUrls = (proposals: readonly DescriptionSummary['baseUrl'][]): SourceHead['baseUrls'] =>
  proposals.map(({ servers, ...rest }) => ({
    ...rest,
    servers: servers.map(({ variables, ...server }) => ({
      ...server,
      variables: variables.map(({ values, ...variable }) => ({ ...variable, values: [...values] })),
    })),
  }))

/** Returns the name of the main document. The query of a URL may have a token. */
const nameOf = ([main]: readonly DescriptionDocument[]): string => withoutQuery(main?.name ?? 'the source')

/** Returns the keys of the globals that have no value. */
const unfilledOf = (globals: readonly { key: string; value?: string | undefined }[]): string[] =>
  globals.flatMap(({ key, value }) => (value === undefined ? [key] : []))

const sendDescription = async (
  { documents, options, maxBytes }: SourceJob,
  send: Send,
): Promise<Result<SourceEnd, string>> => {
  const read = readDescription(documents, { ...options, maxBytes })
  if (!read.ok) return read
  const { summary, batches, baseUrls } = read.value
  await send({ head: headOf(summary) })
  const origins = createOriginNotes()
  let sent = 0
  for (;;) {
    const batch = await batches.next()
    if (batch.done === true) {
      const { missing, baseUrls: used } = batch.value
      // A missing document may have some.
      if (sent === 0 && missing.length === 0) return failure(noOperations({ ...summary, name: nameOf(documents) }))
      const globals = summary.secrets.flatMap(secret => {
        const found = origins.of(secret.key)
        return found === undefined ? [] : [toGlobal(secret, found)]
      })
      return success({ baseUrls: toBaseUrls(used), globals, secrets: {}, notes: [], missing: [...missing] })
    }
    sent += batch.value.length
    for (const operation of batch.value) origins.add(operation)
    await send({ operations: batch.value, unfilled: unfilledOf(baseUrls()) })
  }
}

const endOf = ({ globals, notes }: MappedSource): SourceEnd => ({
  baseUrls: [],
  globals: globals.map(({ key, isSecret, value, origins }) => ({
    key,
    isSecret,
    value: isSecret ? undefined : value,
    origins: [...origins],
  })),
  secrets: Object.fromEntries(
    globals.flatMap(({ key, isSecret, value }) => (isSecret && value !== undefined ? [[key, value]] : [])),
  ),
  notes: [...notes],
  missing: [],
})

const bytesOf = (document: DescriptionDocument): Uint8Array =>
  'bytes' in document ? document.bytes : readFileSync(document.path)

const sendRequests = async (
  kind: Exclude<ImportKind, 'openapi'>,
  { documents: [main, ...others], maxBytes }: SourceJob,
  send: Send,
): Promise<Result<SourceEnd, string>> => {
  if (main === undefined) return failure('It is empty.')
  const name = nameOf([main])
  const read = await readRequests({ kind, name, bytes: bytesOf(main), environments: others.map(bytesOf), maxBytes })
  if (!read.ok) return read
  const { title, operations } = read.value
  const end = endOf(read.value)
  const tags = [...new Set(operations.flatMap(({ tags }) => tags))].map(name => ({ name }))
  const { baseUrls, globals } = end
  const head = { kind, format: FORMATS[kind], title, total: operations.length, webhooks: 0, tags, baseUrls, globals }
  await send({ head })
  const unfilled = unfilledOf(globals.filter(({ isSecret }) => !isSecret))
  for (let at = 0; at < operations.length; at += OPERATIONS_PER_BATCH) {
    await send({ operations: operations.slice(at, at + OPERATIONS_PER_BATCH), unfilled })
  }
  return success(end)
}

/**
 * Reads a source and sends its operations in batches while it goes on (see `SourcePart`). The error is a sentence. Runs as
 * a job.
 */
export const readSource = async (job: SourceJob, sendPart: SendPart): Promise<Result<SourceEnd, string>> => {
  const send: Send = part => sendPart(JSON.stringify(part))
  const read = job.kind === 'openapi' ? await sendDescription(job, send) : await sendRequests(job.kind, job, send)
  return read.ok ? read : failure(shorten(read.error, MAX_PROBLEM_CHARS))
}
