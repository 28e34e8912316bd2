import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import { GLOBAL_KEY } from '../lib/kernel/names.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import { LINT_FIELDS, LINT_LEVELS } from '../tools/lint/finding.ts'
import type { ToolDefinition } from '../tools/tool.ts'
import { CreateTool } from '../tools/toolkits.schema.ts'
import type { Resolution } from './merge/compare-tools.ts'
import { DEFAULT_NAMING, ImportNaming } from './naming/naming.ts'
import { GIVEN_SECURITY } from './openapi/security.ts'

export const IMPORT_KINDS = ['openapi', 'postman', 'curl', 'har'] as const
export type ImportKind = (typeof IMPORT_KINDS)[number]

/** `reading` until all operations are stored. A `failed` import has a problem. */
export const IMPORT_STATES = ['reading', 'ready', 'applied', 'failed'] as const
export type ImportState = (typeof IMPORT_STATES)[number]

/** What an operation is to the tools of the toolkit. All are `new` unless the source was imported before. */
export const IMPORT_ITEM_STATES = ['new', 'same', 'changed', 'conflict', 'gone'] as const
export type ImportItemState = (typeof IMPORT_ITEM_STATES)[number]

const text = z.string()
const globalKey = z.string().regex(GLOBAL_KEY)

/** A server that the source names. Its URL can have variables, such as `https://{region}.api.example.com`. */
const ImportServer = z.object({
  url: text,
  description: text.optional(),
  variables: z.array(
    z.object({ name: text, default: text.optional(), values: z.array(text), description: text.optional() }),
  ),
})

/** A base URL of tools, which becomes a global. Without a value, the builder must enter it. */
export const ImportBaseUrl = z.object({ key: globalKey, value: text.optional(), servers: z.array(ImportServer) })
export type ImportBaseUrl = z.infer<typeof ImportBaseUrl>

/** A global that the tools need apart from their base URLs. */
export const ImportGlobal = z.object({
  key: globalKey,
  isSecret: z.boolean(),
  /** What the source has for it. Undefined if it is a secret, whose value is sealed. */
  value: text.optional(),
  /** What the builder enters: a secret of the kind `basic` is `user:password` in Base64 (RFC 7617). */
  asks: z.enum(['api key', 'basic', 'bearer token', 'oauth']).optional(),
  description: text.optional(),
  /** The origins to which the source sends a secret. */
  origins: z.array(text),
})
export type ImportGlobal = z.infer<typeof ImportGlobal>

/** What is known about a source as a whole. */
export const ImportSummary = z.object({
  /** Such as `OpenAPI 3.1.0`. */
  format: text,
  title: text.optional(),
  /** The version of the API. */
  version: text.optional(),
  description: text.optional(),
  /** Requests that the API sends. They are not imported. */
  webhooks: z.int(),
  baseUrls: z.array(ImportBaseUrl),
  globals: z.array(ImportGlobal),
  /** Notes on the source as a whole, as sentences. */
  notes: z.array(text),
  /** With the number of operations. Complete once all operations have been read. */
  tags: z.array(z.object({ name: text, description: text.optional(), operations: z.int() })),
  /** The rules of all findings, with the number of operations. Complete once all operations have been read. */
  rules: z.array(z.object({ rule: text, level: z.enum(LINT_LEVELS), operations: z.int() })),
  /** The number of different reasons and notes of the operations. Complete once all operations have been read. */
  remarks: z.int().default(0),
})
export type ImportSummary = z.infer<typeof ImportSummary>

/** What the builder chose for all tools. Secrets are kept apart, sealed. */
export const ImportSettings = z.object({
  /** How the API authenticates, if its description does not say it (see `toGivenSecurity`). */
  auth: z.string().regex(GIVEN_SECURITY).optional(),
  /** The server that the tools are added to. */
  server: z.union([z.uuid(), z.object({ newName: text })]).optional(),
  /** Values of base URLs by their key. */
  baseUrls: z.record(globalKey, text).default({}),
  /** Values of other globals, without secrets, by their key. */
  variables: z.record(globalKey, text).default({}),
  /** How new tools are named. */
  naming: ImportNaming.default(DEFAULT_NAMING),
  /** Keys of the secrets that have a value, found in the source or entered. */
  secretKeys: z.array(globalKey).default([]),
})
export type ImportSettings = z.infer<typeof ImportSettings>

/** The review of a source, before its operations become tools. */
export type Import = {
  id: string
  toolkitId: string
  createdById: string
  kind: ImportKind
  state: ImportState
  /** Why it failed, as a sentence. */
  problem: string | undefined
  /** With the values in its query hidden. */
  sourceUrl: string | undefined
  /** The whole URL. Undefined if nothing is hidden. */
  sealedUrl: Sealed | undefined
  /** Name of the file. */
  sourceName: string | undefined
  /** SHA-256 of all documents, in hexadecimal. */
  sha256: string | undefined
  etag: string | undefined
  lastModified: string | undefined
  /** Undefined until the source has been opened. */
  summary: ImportSummary | undefined
  settings: ImportSettings
  /** Origins of documents that are fetched only once the builder allows them. */
  needs: readonly string[]
  /** Operations read so far. */
  read: number
  /** Operations of the source. Undefined until it has been opened. */
  total: number | undefined
  /** When the toolkit had last changed as the source was read. */
  toolkitUpdatedAt: Date
  createdAt: Date
  updatedAt: Date
  appliedAt: Date | undefined
}

/** Returns whether the builder chooses how the API authenticates, because its description, with these globals, does not say. */
export const mayChooseAuth = (
  { kind, settings }: Pick<Import, 'kind' | 'settings'>,
  globals: readonly Pick<ImportGlobal, 'isSecret'>[],
): boolean => kind === 'openapi' && (settings.auth !== undefined || !globals.some(({ isSecret }) => isSecret))

/** What the operations of an import add up to. */
export type ImportTotals = {
  /** Operations that can become tools, and their tokens. */
  tools: number
  tokens: number
  /** Operations that cannot. */
  refused: number
  selected: number
  selectedTokens: number
}

/** What the builder changed in a tool before it is created. */
export const ImportEdits = CreateTool.pick({ name: true, description: true }).partial()
export type ImportEdits = z.infer<typeof ImportEdits>

const StoredFinding = z.object({
  rule: text,
  level: z.enum(LINT_LEVELS),
  field: z.enum(LINT_FIELDS),
  parameter: text.optional(),
  at: text.optional(),
  message: text,
  remedy: text,
  clients: z.array(text),
})

export const StoredPagination = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cursor'), parameter: text, field: text.optional() }),
  z.object({ kind: z.literal('url'), parameter: text, field: text }),
  z.object({ kind: z.literal('number'), parameter: text }),
  z.object({ kind: z.literal('link') }),
])

/** Only for what `JSON.parse` returned: does not look at the members, since those of large schemas take long to check. */
const parsedObject = z.custom<JsonObject>(isJsonObject)

const OperationFields = {
  /** Method and path, such as `GET /users/{id}`. Unique in the import. */
  key: text,
  operationId: text.optional(),
  method: text,
  path: text,
  summary: text.optional(),
  deprecated: z.boolean(),
  tags: z.array(text),
}

/** An operation that can become a tool, as the process that reads sources sends it. */
export const ReadTool = z.object({
  ...OperationFields,
  tool: CreateTool,
  tokens: z.int(),
  findings: z.array(StoredFinding),
  notes: z.array(text),
  /** Keys of the globals that the tool is bound to. */
  globals: z.array(text),
  /** Names of security schemes that the tool cannot use. If there are any, calls will fail. */
  unsupportedSecurity: z.array(text),
  /** Proposed, to be turned on once a response has matched it. */
  outputSchema: parsedObject.optional(),
  pagination: StoredPagination.optional(),
})

export type ReadTool = z.infer<typeof ReadTool>

/** An operation that cannot become a tool. `reason` is a sentence. */
export const ReadRefusal = z.object({ ...OperationFields, reason: text })
export type ReadRefusal = z.infer<typeof ReadRefusal>

export const ReadOperation = z.union([ReadTool, ReadRefusal])
export type ReadOperation = z.infer<typeof ReadOperation>

/** An operation of an import. */
export type ImportItem = {
  importId: string
  /** Its place in the source. */
  position: number
  selected: boolean
  state: ImportItemState
  /** The tool that was imported from this operation before. */
  toolId: string | undefined
  resolve: Resolution | undefined
  edits: ImportEdits
  /** That tool as the import would update it, without `edits`. Undefined if nothing was imported from it before. */
  updated?: ToolDefinition | undefined
  /** The name of the tool of a new operation, without `edits`, as the naming of the import makes it. */
  proposedName: string | undefined
} & ReadOperation

/** Returns the tool of an item without the builder's edits. Undefined if the operation cannot become one. */
export const uneditedTool = (item: ImportItem): ToolDefinition | undefined =>
  'tool' in item ? (item.updated ?? { ...item.tool, name: item.proposedName ?? item.tool.name }) : undefined

/** Returns the tool of an item with the builder's edits. Undefined if the operation cannot become one. */
export const editedTool = (item: ImportItem): ToolDefinition | undefined => {
  const tool = uneditedTool(item)
  if (tool === undefined) return undefined
  const { name = tool.name, description = tool.description } = item.edits
  return { ...tool, name, description }
}
