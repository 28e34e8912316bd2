import { z } from 'zod'
import {
  editedTool,
  IMPORT_ITEM_STATES,
  IMPORT_KINDS,
  IMPORT_STATES,
  ImportBaseUrl,
  type ImportItem,
  ImportSummary,
  StoredPagination,
} from '../../imports/import.ts'
import { ImportNaming } from '../../imports/naming/naming.ts'
import { GIVEN_SECURITY } from '../../imports/openapi/security.ts'
import { pageQuery } from '../../lib/http/paging.ts'
import { absentableFields, nameSchema, orNull, timeSchema } from '../../lib/http/schemas.ts'
import { toJsonObject } from '../../lib/kernel/json.ts'
import { isOrigin } from '../../lib/kernel/names.ts'
import { FindingView } from '../../tools/findings.schema.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'

const MAX_KEY_CHARS = 4_000
/** Keys in one change. To change more, clients send a filter. */
const MAX_KEYS = 2_000
/** Operations that one change edits. Each is counted again. */
const MAX_EDITS = 100
const MAX_FETCHED_ORIGINS = 50
const MAX_SETTINGS = 200

const kind = z.enum(IMPORT_KINDS).describe('recognized if it is missing')

const auth = z
  .string()
  .regex(GIVEN_SECURITY, 'must be bearer, basic or header:NAME')
  .describe('how the API authenticates if its description does not say: bearer, basic or header:NAME')

const sourceFile = z.strictObject({ name: z.string().min(1).max(500), text: z.string() })

/** Larger sources are sent as files of a form (multipart/form-data). */
export const CreateImport = z.strictObject({
  ...absentableFields({
    kind,
    text: z.string().min(1, 'is empty'),
    auth,
    url: z.string().describe('fetched like the requests of tools: not from internal addresses'),
    files: z
      .array(sourceFile)
      .min(1, 'is empty')
      .describe('a description and the documents that it refers to by name, or a Postman collection and environments'),
  }),
})

const flag = z.enum(['true', 'false']).transform(text => text === 'true')

const filters = {
  q: z.string().max(200).describe('part of the name, path, operationId or summary'),
  tag: z.string().max(200),
  method: z.string().max(40),
  state: z.enum(IMPORT_ITEM_STATES),
  rule: z.string().max(100).describe('a rule that a finding is about'),
}

export const ItemQuery = pageQuery.extend({
  ...absentableFields({ ...filters, selected: flag, usable: flag.describe('whether the operation can become a tool') }),
})

const itemChoice = z.union(
  [
    z.strictObject({ keys: z.array(z.string().max(MAX_KEY_CHARS)).max(MAX_KEYS) }),
    z.strictObject({
      filter: z.strictObject(absentableFields({ ...filters, selected: z.boolean(), usable: z.boolean() })),
    }),
  ],
  'must contain either keys or a filter',
)

const values = z
  .record(z.string(), z.string().nullable())
  .refine(given => Object.keys(given).length <= MAX_SETTINGS, `has more than ${MAX_SETTINGS} members`)
  .describe('by key; null removes a value')

const side = z.enum(['mine', 'theirs'])

/** How to resolve conflicts: with one side for the whole tool, or with a side for each piece. */
export const resolution = z.union([side, z.record(z.string().max(MAX_KEY_CHARS), side)])

const itemChange = z.strictObject({
  name: CreateTool.shape.name.nullish(),
  description: z.string().max(10_000).nullish(),
  resolve: resolution
    .nullish()
    .describe(
      'the version to use where both have changed: for the whole tool, or by piece, such as `{"description": "theirs"}`; ' +
        'pieces without a choice keep `mine`',
    ),
})

const settings = z.strictObject({
  auth: auth.nullish().describe(`${auth.description}; the source is then read again`),
  server: z
    .union([z.uuid(), z.strictObject({ newName: nameSchema })])
    .nullish()
    .describe('the server that the tools are added to'),
  baseUrls: values.optional(),
  variables: values.optional(),
  secrets: values.optional().describe('never sent back'),
  naming: z
    .strictObject({
      from: ImportNaming.shape.from.optional(),
      prefix: ImportNaming.shape.prefix.optional(),
      style: ImportNaming.shape.style.optional(),
    })
    .nullish()
    .describe('how tools of new operations are named; names that you have changed stay; null names them as at first'),
})

const origin = z
  .string()
  .refine(isOrigin, 'must be an origin such as https://api.example.com')
  .transform(text => new URL(text).origin)

export const UpdateImport = z.strictObject({
  select: itemChoice.optional(),
  deselect: itemChoice.optional().describe('comes before select'),
  items: z
    .record(z.string().max(MAX_KEY_CHARS), itemChange)
    .refine(given => Object.keys(given).length <= MAX_EDITS, `has more than ${MAX_EDITS} members`)
    .optional()
    .describe('by key; null restores what was generated'),
  settings: settings.optional(),
  fetch: z
    .array(origin)
    .max(MAX_FETCHED_ORIGINS)
    .optional()
    .describe('origins of `needs` whose documents may be fetched; the source is then read again'),
})

const BaseUrlView = z.object({
  key: ImportBaseUrl.shape.key,
  value: orNull(z.string()).describe('null if the source does not say it'),
  servers: z.array(
    z.object({
      url: z.string(),
      description: orNull(z.string()),
      variables: z.array(
        z.object({
          name: z.string(),
          default: orNull(z.string()),
          values: z.array(z.string()),
          description: orNull(z.string()),
        }),
      ),
    }),
  ),
})

const GlobalView = z.object({
  key: z.string(),
  isSecret: z.boolean(),
  value: orNull(z.string()).describe('what the source has for it; null for a secret'),
  asks: orNull(z.string()).describe('api key, basic (user:password in Base64), bearer token or oauth'),
  description: orNull(z.string()),
  origins: z.array(z.string()).describe('where the source sends a secret'),
})

const SummaryView = z.object({
  format: z.string(),
  title: orNull(z.string()),
  version: orNull(z.string()),
  description: orNull(z.string()),
  webhooks: z.int().describe('requests that the API sends, which are not imported'),
  baseUrls: z.array(BaseUrlView),
  globals: z.array(GlobalView),
  notes: z.array(z.string()),
  tags: z.array(z.object({ name: z.string(), description: orNull(z.string()), operations: z.int() })),
  rules: ImportSummary.shape.rules,
})

const SettingsView = z.object({
  auth: orNull(z.string()),
  server: orNull(z.union([z.string(), z.object({ newName: z.string() })])),
  baseUrls: z.record(z.string(), z.string()),
  variables: z.record(z.string(), z.string()),
  naming: ImportNaming,
  secretKeys: z.array(z.string()).describe('secrets that have a value, from the source or entered'),
})

const TotalsView = z.object({
  tools: z.int().describe('operations that can become tools'),
  tokens: z.int(),
  refused: z.int(),
  selected: z.int(),
  selectedTokens: z.int(),
})

const importFields = {
  id: z.string(),
  toolkitId: z.string(),
  kind: z.enum(IMPORT_KINDS),
  state: z.enum(IMPORT_STATES),
  problem: orNull(z.string()).describe('why the source could not be read'),
  sourceUrl: orNull(z.string()),
  sourceName: orNull(z.string()),
  sha256: orNull(z.string()),
  read: z.int().describe('operations read so far'),
  total: orNull(z.int()).describe('operations of the source, once it is known'),
  needs: z.array(z.string()).describe('origins of documents that are fetched only once they are allowed'),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  appliedAt: orNull(timeSchema),
}

export const ImportCard = z.object(importFields)

export const ImportView = z.object({
  ...importFields,
  summary: orNull(SummaryView),
  settings: SettingsView,
  totals: TotalsView,
})

export const ImportItemView = z.object({
  key: z.string().describe('method and path'),
  operationId: orNull(z.string()),
  method: z.string(),
  path: z.string(),
  summary: orNull(z.string()),
  deprecated: z.boolean(),
  tags: z.array(z.string()),
  reason: orNull(z.string()).describe('why it cannot become a tool'),
  name: orNull(z.string()),
  tokens: orNull(z.int()),
  state: z.enum(IMPORT_ITEM_STATES),
  selected: z.boolean(),
  resolve: orNull(resolution),
  toolId: orNull(z.string()),
  findings: z.array(FindingView),
  notes: z.array(z.string()),
  globals: z.array(z.string()).describe('keys of the globals that the tool is bound to'),
  unsupportedSecurity: z.array(z.string()).describe('what the tool cannot send, so that calls will fail'),
  pagination: orNull(StoredPagination),
  tool: orNull(z.record(z.string(), z.json())).describe('the tool as it would be created or updated, with your edits'),
})

const NO_TOOL = { findings: [], notes: [], globals: [], unsupportedSecurity: [] }

/** Returns an item as the API shows it. */
export const toItemView = (item: ImportItem) => {
  const tool = editedTool(item)
  return { ...NO_TOOL, ...item, name: tool?.name, tool: tool && toJsonObject(tool) }
}
