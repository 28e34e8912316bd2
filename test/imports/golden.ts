import type { MappedOperation } from '../../src/imports/openapi/imported-operation.ts'
import { isJsonObject, type JsonObject, parseIfJson } from '../../src/lib/kernel/json.ts'
import type { RenderedRequest } from '../../src/templates/template.ts'
import { toShownTool } from '../../src/tools/shown-tool.ts'
import { type ComparedRequest, comparedForm, comparedJson, comparedOurs, comparedTheirs } from './comparison.ts'
import { render } from './reading.ts'
import { createSampler } from './sample-arguments.ts'
import { createDereferencer, ORIGIN, theirRequest } from './their-request.ts'

/** Two requests for the same arguments, of which one part differs. */
export type Difference = { key: string; part: string; ours: string; theirs: string }

/** A clause of a standard, and the differences that follow from it. */
type Rule = { clause: string; applies: (difference: Difference) => boolean }

/** Reads pairs from `comparedForm`, and joins the values of each name in any order. */
const joinValues = (form: string): string => {
  const values = new Map<string, string[]>()
  const parsed: unknown = parseIfJson(`[${form}]`)
  for (const [name = '', value = ''] of Array.isArray(parsed) ? parsed : []) {
    values.set(name, [...(values.get(name) ?? []), ...value.split(',')])
  }
  return JSON.stringify([...values].map(([name, list]) => [name, list.sort()]).sort())
}

/** Where swagger-client departs from the standards. The list is closed. */
export const DEPARTURES: readonly Rule[] = [
  {
    clause:
      'the style of arrays in a form is `form`, exploded, if no encoding says otherwise (OpenAPI 3.0.3 §4.7.15.1)',
    applies: ({ part, ours, theirs }) =>
      part === 'body' && ours.startsWith('["') && joinValues(ours) === joinValues(theirs),
  },
  {
    clause: 'a template expression is replaced wherever it is (OpenAPI 3.0.3 §3.3), also if a ? follows',
    applies: ({ key, part, theirs }) => part === 'path' && key.includes('?') && theirs.includes('%7B'),
  },
]

export const isDeparture = (difference: Difference): boolean => DEPARTURES.some(({ applies }) => applies(difference))

const SECRET = 'secretvalue'

/** Security has a test of its own. */
const withoutSecrets = (request: ComparedRequest): ComparedRequest => ({
  ...request,
  query: request.query.filter(pair => !pair.includes(SECRET)),
  headers: Object.fromEntries(Object.entries(request.headers).filter(([, value]) => !value.includes(SECRET))),
})

const contentTypeOf = ({ headers }: RenderedRequest): string =>
  headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''

/** Returns the fields of a multipart form, sorted. */
const fieldsOf = async (form: Pick<Response, 'formData'> | FormData): Promise<string> => {
  const data = 'formData' in form ? await form.formData() : form
  const texts = [...data].map(async ([name, value]) => [name, typeof value === 'string' ? value : await value.text()])
  return JSON.stringify((await Promise.all(texts)).map(pair => JSON.stringify(pair)).sort())
}

const bodiesOf = async (ours: RenderedRequest, theirs: unknown): Promise<readonly [string, string]> => {
  const type = contentTypeOf(ours)
  const { body = '' } = ours
  if (/[/+]json/.test(type)) {
    // A text that is the whole body is not sent as JSON there.
    const given = typeof theirs === 'string' ? (parseIfJson(theirs) ?? theirs) : theirs
    return [comparedJson(parseIfJson(body) ?? null), comparedJson(JSON.parse(JSON.stringify(given ?? null)))]
  }
  if (type.startsWith('multipart/') && theirs instanceof FormData) {
    const headers = { 'content-type': type }
    return [await fieldsOf(new Response(body, { headers })), await fieldsOf(theirs)]
  }
  if (type.includes('urlencoded')) return [comparedForm(body).join(), comparedForm(theirs).join()]
  return [body, String(theirs ?? '')]
}

const compareOne = async (
  operation: MappedOperation,
  spec: JsonObject,
  sample: ReturnType<typeof createSampler>,
): Promise<readonly Difference[]> => {
  const { key } = operation
  const { properties } = toShownTool(operation.tool).inputSchema
  const args = Object.fromEntries(
    Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]) => [name, sample(schema)]),
  )
  const globals = operation.globals.map(name => [name, name.endsWith('base_url') ? ORIGIN : SECRET] as const)
  const rendered = render(operation, { ...args, ...Object.fromEntries(globals) })
  const built = theirRequest(operation, args, spec)
  const ours = withoutSecrets(comparedOurs(rendered))
  const theirs = withoutSecrets(comparedTheirs(built))
  const [ourBody, theirBody] = await bodiesOf(rendered, built.body)
  const parts = (['method', 'path', 'query', 'headers'] as const).map(
    part => [part, JSON.stringify(ours[part]), JSON.stringify(theirs[part])] as const,
  )
  return [...parts, ['body', ourBody, theirBody] as const]
    .filter(([, one, other]) => one !== other)
    .map(([part, one, other]) => ({ key, part, ours: one, theirs: other }))
}

/** Renders each tool with arguments made from its schema, and compares the requests with those of swagger-client. */
export const compareRequests = async (
  operations: readonly MappedOperation[],
  root: JsonObject,
): Promise<readonly Difference[]> => {
  const spec = createDereferencer(root)(root)
  const sample = createSampler()
  const differences: Difference[] = []
  for (const operation of operations) differences.push(...(await compareOne(operation, spec, sample)))
  return differences
}
