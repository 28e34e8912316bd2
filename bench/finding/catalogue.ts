/** The frozen catalogue: real operations of three APIs, read from pinned development packages. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'
import { listGithubOperations } from './github-operations.ts'

export type CatalogueTool = {
  name: string
  title: string | undefined
  description: string | undefined
  inputSchema: {
    type: 'object'
    properties: Record<string, { type: 'string'; description?: string; enum?: string[] }>
  }
}

/**
 * The parts of GitHub's API that people outside an enterprise use. The whole API has 1,200 operations. The ranking was
 * tuned with these parts only.
 */
const GITHUB_PARTS: ReadonlySet<string> = new Set(
  'activity actions checks emojis gists git gitignore interactions issues licenses markdown meta orgs packages pulls rate-limit reactions repos search teams users'.split(
    ' ',
  ),
)

const Schema = z.object({
  description: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  $ref: z.string().optional(),
})
const Body = Schema.extend({ properties: z.record(z.string(), Schema).optional() })
const Parameter = Schema.extend({ name: z.string().optional(), schema: Body.optional() })
const Operation = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  parameters: z.array(Parameter).optional(),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: Body.optional() })) }).optional(),
})
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'patch', 'delete'])

type Property = CatalogueTool['inputSchema']['properties'][string]

const toProperty = (description: string | undefined, values: readonly unknown[] = []): Property => {
  const words = values.filter(value => typeof value === 'string')
  return {
    type: 'string',
    ...(description !== undefined && description !== '' && { description }),
    ...(words.length > 0 && { enum: words }),
  }
}

const toTool = (
  name: string,
  title: string | undefined,
  description: string | undefined,
  properties: Record<string, Property>,
): CatalogueTool => ({
  name: name.replaceAll(/[^\w-]/g, '_'),
  title,
  description,
  inputSchema: { type: 'object', properties },
})

/** Resolves a reference such as `#/components/parameters/owner`. */
const resolve = (document: unknown, reference: string): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => z.record(z.string(), z.unknown()).safeParse(at).data?.[key], document)

const followParameter = (document: unknown, part: z.infer<typeof Parameter>): z.infer<typeof Parameter> =>
  part.$ref === undefined ? part : (Parameter.safeParse(resolve(document, part.$ref)).data ?? part)

const followBody = (document: unknown, part: z.infer<typeof Body>): z.infer<typeof Body> =>
  part.$ref === undefined ? part : (Body.safeParse(resolve(document, part.$ref)).data ?? part)

/** Returns the operations of an OpenAPI or Swagger document. The properties of a request body become parameters. */
const readOperations = (prefix: string, text: string): CatalogueTool[] => {
  const document = Document.parse(parse(text))
  return Object.values(document.paths).flatMap(path =>
    Object.entries(path).flatMap(([method, value]): CatalogueTool[] => {
      const { operationId, ...operation } = METHODS.has(method) ? Operation.parse(value) : {}
      if (operationId === undefined) return []
      const shared = z.array(Parameter).safeParse(path.parameters).data ?? []
      const given = [...shared, ...(operation.parameters ?? [])].map(part => followParameter(document, part))
      const bodies = [
        ...given.flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
        ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => schema ?? []),
      ].map(body => followBody(document, body))
      const properties = Object.fromEntries([
        ...given.map(part => [part.name ?? '', toProperty(part.description, part.schema?.enum ?? part.enum)] as const),
        ...bodies.flatMap(body =>
          Object.entries(body.properties ?? {}).map(
            ([name, part]) => [name, toProperty(part.description, part.enum)] as const,
          ),
        ),
      ])
      return [toTool(`${prefix}_${operationId}`, operation.summary, operation.description, properties)]
    }),
  )
}

const readPackage = (prefix: string, file: string): CatalogueTool[] =>
  readOperations(prefix, readFileSync(fileURLToPath(import.meta.resolve(file)), 'utf8'))

const isTuned = ({ id }: { id: string }): boolean => GITHUB_PARTS.has(id.split('/')[0] ?? '')

const readGithub = (isWanted: typeof isTuned): CatalogueTool[] =>
  listGithubOperations()
    .filter(isWanted)
    .map(({ id, title, description, parameters }) =>
      toTool(
        `github_${id}`,
        title,
        description,
        Object.fromEntries(parameters.map(part => [part.name, toProperty(part.description, part.values)])),
      ),
    )

/** Returns the tools that the ranking was tuned with or, if `isWhole`, those of all parts of GitHub's API. */
export const listCatalogue = (isWhole = false): CatalogueTool[] => [
  ...readGithub(isWhole ? () => true : isTuned),
  ...readPackage('netlify', '@netlify/open-api'),
  ...readPackage('figma', '@figma/rest-api-spec/openapi/openapi.yaml'),
]
