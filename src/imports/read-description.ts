import { formatNumber, shorten } from '../lib/kernel/format.ts'
import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { createTokenCounter } from '../lib/tokens/token-counter.ts'
import { MAX_NOTE_CHARS, MAX_OPERATIONS, OPERATIONS_PER_BATCH } from './limits.ts'
import { checkTool } from './openapi/check-tool.ts'
import {
  type ImportedOperation,
  type OperationSource,
  type RefusedOperation,
  UnusableOperation,
} from './openapi/imported-operation.ts'
import { type FoundOperation, listOperations } from './openapi/list-operations.ts'
import { type MappingContext, writeTool } from './openapi/map-operation.ts'
import { claimOperationKey } from './openapi/names.ts'
import { objectEntries, toList, toObject, toText } from './openapi/nodes.ts'
import { type Description, openDescription } from './openapi/open-description.ts'
import { createResponseReader } from './openapi/read-response.ts'
import { type GivenSecurity, readSecurity, type SecretProposal } from './openapi/security.ts'
import { type BaseUrlProposal, readServers } from './openapi/servers.ts'
import { plainText, withoutSecrets } from './openapi/texts.ts'
import { type DescriptionDocument, readDocuments } from './read/documents.ts'

const MAX_TITLE_CHARS = 200
const MAX_TEXT_CHARS = 2_000

export type ReadOptions = {
  /** Names of tools that exist already. */
  takenNames?: Iterable<string> | undefined
  /** How the API authenticates if the description does not say it, as that of GitHub. */
  security?: GivenSecurity | undefined
  /** Of all documents together, unpacked. */
  maxBytes?: number | undefined
}

/** What a description is about, known before its operations are. */
export type DescriptionSummary = {
  /** Such as `OpenAPI 3.1.0`. */
  format: string
  title: string
  /** The version of the API. */
  version: string | undefined
  description: string | undefined
  operations: number
  /** Requests that the API sends. They are not imported. */
  webhooks: number
  tags: readonly { name: string; description: string | undefined }[]
  baseUrl: BaseUrlProposal
  /** The secrets of all security schemes, also of those that no operation uses. */
  secrets: readonly SecretProposal[]
}

/** What is known once all operations have been read. */
export type ReadOutcome = {
  /** URLs, or names of files, that the description refers to and that were not given. Read again with them. */
  missing: readonly string[]
  /** The base URLs that the tools use. */
  baseUrls: readonly BaseUrlProposal[]
}

export type ReadDescription = {
  summary: DescriptionSummary
  /** Yields the operations in batches of up to 100, in the order of the description. */
  batches: AsyncGenerator<readonly ImportedOperation[], ReadOutcome>
  /** Returns the base URLs of the operations that have been read so far. */
  baseUrls: () => readonly BaseUrlProposal[]
}

const summarize = (
  { format, root }: Description,
  counts: Pick<DescriptionSummary, 'operations' | 'webhooks' | 'baseUrl' | 'secrets'>,
): DescriptionSummary => {
  const info = toObject(root.info)
  const textOf = (value: string, maxChars: number) => plainText(value, maxChars) || undefined
  const tags = toList(root.tags).filter(isJsonObject)
  return {
    format: format.kind === 'swagger' ? 'Swagger 2.0' : `OpenAPI ${format.version}`,
    title: textOf(toText(info.title), MAX_TITLE_CHARS) ?? 'Untitled API',
    version: textOf(toText(info.version), MAX_TITLE_CHARS),
    description: textOf(toText(info.description), MAX_TEXT_CHARS),
    tags: tags.map(({ name, description }) => ({
      name: plainText(toText(name), MAX_TITLE_CHARS),
      description: textOf(toText(description), MAX_TITLE_CHARS),
    })),
    ...counts,
  }
}

/** A path that has a secret in it is only ever that of an operation that is refused. */
const refuseOperation = (source: OperationSource, reason: string): RefusedOperation => {
  const path = withoutSecrets(source.path)
  const key = path === source.path ? source.key : `${source.method} ${path}`
  return { ...source, key, path, reason: withoutSecrets(shorten(reason, MAX_NOTE_CHARS)) }
}

const mapOperation = async (
  found: FoundOperation,
  context: MappingContext,
  count: ReturnType<typeof createTokenCounter>,
): Promise<ImportedOperation> => {
  const { source } = found
  const refuse = (reason: string): RefusedOperation => refuseOperation(source, reason)
  try {
    if ('reason' in found) return refuse(found.reason)
    const { tool, ...written } = writeTool(found, context)
    const checked = await checkTool(tool, count)
    return checked.ok ? { ...source, ...written, ...checked.value } : refuse(checked.error)
  } catch (error) {
    if (error instanceof UnusableOperation) return refuse(error.message)
    // No operation may keep the others from being imported, however broken it is.
    if (error instanceof TypeError || error instanceof RangeError) {
      return refuse('It could not be read, because a part of it has the wrong type.')
    }
    throw error
  }
}

/**
 * Reads an API description: OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0, in one or more documents of which the first is the main
 * one. The error is a sentence that says what is wrong with it. Runs in a worker, because a large description takes
 * seconds and hundreds of megabytes.
 */
export const readDescription = (
  sources: readonly DescriptionDocument[],
  { takenNames = [], security: given, maxBytes }: ReadOptions = {},
): Result<ReadDescription, string> => {
  const documents = readDocuments(sources, maxBytes)
  if (!documents.ok) return documents
  const opened = openDescription(documents.value)
  if (!opened.ok) return opened
  const description = opened.value
  const { root } = description
  const operations = countOperations(root)
  if (operations > MAX_OPERATIONS) {
    return failure(
      `It has ${formatNumber(operations)} operations; at most ${formatNumber(MAX_OPERATIONS)} can be read.`,
    )
  }
  const taken = new Set<string>()
  const servers = readServers(description, taken)
  const security = readSecurity(description, taken, given)
  const readResponse = createResponseReader(description)
  const context = { description, security, servers, readResponse, takenNames: new Set(takenNames) }
  const webhooks = objectEntries(root.webhooks).length + objectEntries(root['x-webhooks']).length

  async function* readBatches(): AsyncGenerator<readonly ImportedOperation[], ReadOutcome> {
    const count = createTokenCounter()
    const keys = new Set<string>()
    let batch: ImportedOperation[] = []
    for (const found of listOperations(description)) {
      const operation = await mapOperation(found, context, count)
      batch.push({ ...operation, key: claimOperationKey(operation.key, keys) })
      if (batch.length < OPERATIONS_PER_BATCH) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
    return { missing: documents.ok ? documents.value.missing() : [], baseUrls: servers.proposals() }
  }
  const counts = { operations, webhooks, baseUrl: servers.base, secrets: security.secrets }
  return success({
    summary: summarize(description, counts),
    batches: readBatches(),
    baseUrls: servers.proposals,
  })
}

const METHODS = /^(?:get|put|post|delete|options|head|patch|trace|query)$/

const countOperations = (root: JsonObject): number =>
  Object.values(toObject(root.paths)).reduce<number>((sum, item) => {
    const methods = Object.keys(toObject(item)).filter(key => METHODS.test(key)).length
    return sum + methods + Object.keys(toObject(toObject(item).additionalOperations)).length
  }, 0)
