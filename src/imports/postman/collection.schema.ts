import { z } from 'zod'

/**
 * Postman's collection format 2.1 and 2.0 (schema.getpostman.com). Only what a request is made of is read, and read
 * tolerantly: Postman itself writes null where the format has none, and lists as objects of their keys in 2.0.
 */

const scalar = z
  .union([z.string(), z.number(), z.boolean()])
  .nullish()
  .catch(null)
  .transform(value => (value === undefined || value === null ? undefined : String(value).replaceAll('\0', '')))

const description = z
  .union([z.string(), z.object({ content: z.string().nullish() }).transform(({ content }) => content ?? '')])
  .nullish()
  .catch(null)
  .transform(text => text ?? '')

const flag = z.boolean().nullish().catch(null)

/** Entries of a list that are not what they should be are left out. */
const listOf = <Entry>(entry: z.ZodType<Entry>) =>
  z
    .array(z.unknown())
    .nullish()
    .catch(null)
    .transform(entries =>
      (entries ?? []).flatMap((one): Entry[] => {
        const parsed = entry.safeParse(one)
        return parsed.success ? [parsed.data] : []
      }),
    )

const Pair = z.object({ key: scalar, value: scalar, disabled: flag, description })
export type PostmanPair = z.infer<typeof Pair>

const Variable = z
  .object({
    id: scalar,
    key: scalar,
    value: z.unknown().optional(),
    type: scalar,
    disabled: flag,
    enabled: flag,
    description,
  })
  .transform(({ id, key, value, ...rest }) => ({ ...rest, key: key ?? id ?? '', value: textOf(value) }))
export type PostmanVariable = z.infer<typeof Variable>

/** Values of variables can be of any type. Objects are inserted as JSON. */
const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\0', '')
}

/** A segment can be an object in 2.0. */
const segment = z.union([
  z.string(),
  z.number().transform(String),
  z.object({ value: z.string() }).transform(one => one.value),
])
const segments = z
  .union([z.string(), z.array(segment)])
  .nullish()
  .catch(null)

const UrlParts = z.object({
  raw: z.string().nullish().catch(null),
  protocol: z.string().nullish().catch(null),
  host: segments,
  port: scalar,
  path: segments,
  query: listOf(Pair),
  variable: listOf(Variable),
})
export type PostmanUrl = z.infer<typeof UrlParts>

const NO_PARTS = { protocol: null, host: null, port: undefined, path: null, query: [], variable: [] }

const Url = z
  .union([z.string().transform((raw): PostmanUrl => ({ raw, ...NO_PARTS })), UrlParts])
  .nullish()
  .transform(url => url ?? { raw: '', ...NO_PARTS })

/** In 2.0, the attributes of a kind are an object; in 2.1, a list of pairs. */
const Auth = z.looseObject({ type: z.string() }).transform(({ type, ...kinds }) => {
  const given = kinds[type]
  const pairs = z.array(z.object({ key: z.string(), value: z.unknown().optional() })).safeParse(given)
  const entries = pairs.success
    ? pairs.data.map(({ key, value }): [string, unknown] => [key, value])
    : Object.entries(z.record(z.string(), z.unknown()).catch({}).parse(given))
  return { type, attributes: new Map(entries.map(([key, value]) => [key, textOf(value)])) }
})
export type PostmanAuth = z.infer<typeof Auth>
const auth = Auth.nullish().catch(null)

const FormPart = Pair.extend({ type: scalar, src: z.unknown().optional(), contentType: scalar, fileName: scalar })
export type PostmanFormPart = z.infer<typeof FormPart>

const Body = z.object({
  mode: z.string().nullish().catch(null),
  raw: scalar,
  urlencoded: listOf(Pair),
  formdata: listOf(FormPart),
  graphql: z
    .object({ query: scalar, variables: z.unknown().optional(), operationName: scalar })
    .nullish()
    .catch(null)
    .transform(graphql => graphql && { ...graphql, variables: textOf(graphql.variables) }),
  options: z
    .object({ raw: z.object({ language: z.string().nullish() }).nullish() })
    .nullish()
    .catch(null),
  disabled: flag,
})
export type PostmanBody = z.infer<typeof Body>

/** In 2.0, headers can be lines of a text. */
const readHeaderLines = (text: string): PostmanPair[] =>
  text.split(/\r?\n/).flatMap(line => {
    const colon = line.indexOf(':')
    if (colon < 1) return []
    return [{ key: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim(), disabled: false, description: '' }]
  })

const RequestParts = z.object({
  method: z.string().nullish().catch(null),
  url: Url,
  header: z.union([z.string().transform(readHeaderLines), listOf(Pair)]),
  body: Body.nullish().catch(null),
  auth,
  description,
})
const Request = z.union([z.string().transform(url => RequestParts.parse({ url })), RequestParts])
export type PostmanRequest = z.infer<typeof Request>

const Script = z.object({
  disabled: flag,
  script: z
    .object({ exec: z.union([z.string(), z.array(z.string()).transform(lines => lines.join('\n'))]).nullish() })
    .nullish()
    .catch(null),
})

/** What items, folders and collections have in common. */
const shared = {
  auth,
  description,
  event: listOf(Script).transform(events =>
    events.flatMap(({ script, disabled }) => (disabled !== true && script?.exec?.trim() ? [script.exec] : [])),
  ),
  protocolProfileBehavior: z.object({ disableBodyPruning: flag }).nullish().catch(null),
}

/** An item is a folder if it has `item`, and otherwise a request. */
export const Item = z.object({
  ...shared,
  id: scalar,
  _postman_id: scalar,
  name: scalar,
  item: z.array(z.unknown()).nullish(),
  request: Request.nullish(),
})
export type PostmanItem = z.infer<typeof Item>

export const Collection = z.object({
  ...shared,
  info: z.object({ name: scalar, schema: scalar, description }),
  item: z.array(z.unknown()),
  variable: listOf(Variable),
})
export type PostmanCollection = z.infer<typeof Collection>

export const Environment = z.object({
  name: scalar,
  values: listOf(Variable),
  _postman_variable_scope: scalar,
})
export type PostmanEnvironment = z.infer<typeof Environment>
