import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { compileTemplate } from '../../templates/compile.ts'
import type { CompiledTemplate, TemplateError } from '../../templates/template.ts'
import type { RemoteConfig } from '../upstream.ts'
import type { CompiledConfig, ResolutionFault } from './compiled-config.ts'
import { withTypedBase } from './references.ts'

/** What the protocol itself says with every request, in both eras (MCP, basic/transports). */
const PROTOCOL_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
])

/** Where the headers are looked at by themselves: a global may stand in both them and the URL. */
const NOWHERE = 'https://headers.invalid/'

/** A template's place beside its text, where that has several lines or is long enough to look for it. */
const whereOf = ({ line, column }: TemplateError): string => (line === 1 && column === 1 ? '' : ` (column ${column})`)

type Where = (field: string) => string

const inHeaders =
  (names: readonly string[]): Where =>
  field => {
    const index = /^headers\[(\d+)\]/.exec(field)?.[1]
    return index === undefined ? 'headers' : `headers.${names[Number(index)] ?? ''}`
  }

/** A template's own types, defaults and optional places are for what callers give; globals have none. */
const checkPlaces = ({ parameters }: CompiledTemplate, where: Where): FieldError[] =>
  parameters
    .filter(({ type, required, places }) => !required || (type !== 'string' && places[0]?.kind !== 'base'))
    .map(({ name, places }) => ({
      path: where(places[0]?.field ?? 'url'),
      message: `names the global "${name}" with a type, a "?" or a default, which globals have not: write {{${name}}}`,
    }))

const checkNames = (names: readonly string[]): FieldError[] => {
  const seen = new Set<string>()
  return names.flatMap(name => {
    const lowerCase = name.toLowerCase()
    const isAgain = seen.has(lowerCase)
    seen.add(lowerCase)
    const path = `headers.${name}`
    if (isAgain) return { path, message: 'is there already: the case of letters makes no difference' }
    return PROTOCOL_HEADERS.has(lowerCase) ? { path, message: 'cannot be set: the protocol itself says it' } : []
  })
}

/** The template, or its errors as those of the fields of an upstream. */
const compilePart = (
  url: string,
  headers: RemoteConfig['headers'],
  where: Where,
): Result<CompiledTemplate, readonly FieldError[]> => {
  const pairs = Object.entries(headers).map(([name, value]) => ({ name, value }))
  const compiled = compileTemplate({ method: 'POST', url, headers: pairs })
  if (!compiled.ok) {
    const errors = compiled.error.map(error => ({
      path: where(error.field),
      message: `cannot be taken: ${error.message}${whereOf(error)}`,
    }))
    return failure(errors)
  }
  const errors = checkPlaces(compiled.value, where)
  return errors.length > 0 ? failure(errors) : compiled
}

const compileUrl = (url: string, path: string) => compilePart(withTypedBase(url), {}, () => path)

const errorsOf = (result: Result<unknown, readonly FieldError[]>): readonly FieldError[] =>
  result.ok ? [] : result.error

const URL_RULE =
  'a secret may stand in the URL only where its scheme, host and port are written out; put it into a header instead'

const keysOf = ({ parameters }: CompiledTemplate): string[] => parameters.map(({ name }) => name)

/** The secret of the URL that would decide where it goes, or go wherever a global says. */
const findSecretInUrl = (
  url: CompiledTemplate,
  path: string,
  isSecret: (key: string) => boolean,
): FieldError | undefined => {
  const secret = keysOf(url).find(isSecret)
  const { origin } = url
  if (secret === undefined) return undefined
  const decides = url.parameters.some(
    ({ name, places }) => name === secret && places.some(({ kind }) => kind === 'base' || kind === 'host'),
  )
  return origin.kind === 'open' || decides ? { path, message: `holds the secret "${secret}": ${URL_RULE}` } : undefined
}

const render = (
  template: CompiledTemplate,
  readGlobal: (key: string) => string,
): ReturnType<CompiledTemplate['render']> =>
  template.render(new Map(keysOf(template).map(key => [key, readGlobal(key)])))

const toFault = ({ parameter, message }: { parameter: string; message: string }): Result<never, ResolutionFault> =>
  failure({ reason: 'unfit_value', message: `The global "${parameter}" ${message}.` })

/** The URL as its places are filled, or why it cannot be. */
const renderUrl = (url: CompiledTemplate, readGlobal: (key: string) => string): Result<string, ResolutionFault> => {
  const rendered = render(url, readGlobal)
  return rendered.ok ? success(rendered.value.url) : toFault(rendered.error)
}

/** All of them, or why the first of them that cannot be filled cannot. */
const renderUrls = (
  urls: readonly CompiledTemplate[],
  readGlobal: (key: string) => string,
): Result<readonly string[], ResolutionFault> => {
  const filled: string[] = []
  for (const url of urls) {
    const rendered = renderUrl(url, readGlobal)
    if (!rendered.ok) return rendered
    filled.push(rendered.value)
  }
  return success(filled)
}

/** Checks where a remote upstream is and what is sent along. Errors are told all at once. */
export const compileRemote = ({
  transport,
  url,
  urls,
  headers,
}: RemoteConfig): Result<CompiledConfig<RemoteConfig>, readonly FieldError[]> => {
  const target = compileUrl(url, 'url')
  const more = urls?.map((one, index) => compileUrl(one, `urls[${index}]`)) ?? []
  const sent = compilePart(NOWHERE, headers, inHeaders(Object.keys(headers)))
  const errors = [...[target, ...more, sent].flatMap(errorsOf), ...checkNames(Object.keys(headers))]
  if (!target.ok || !sent.ok || errors.length > 0) return failure(errors)
  const others = more.flatMap(part => (part.ok ? part.value : []))
  return success({
    globals: new Set([target.value, ...others, sent.value].flatMap(keysOf)),
    findSecretAtRisk: isSecret =>
      findSecretInUrl(target.value, 'url', isSecret) ??
      others.map((one, index) => findSecretInUrl(one, `urls[${index}]`, isSecret)).find(risk => risk !== undefined),
    fill: readGlobal => {
      const filledUrl = renderUrl(target.value, readGlobal)
      if (!filledUrl.ok) return filledUrl
      const filledUrls = renderUrls(others, readGlobal)
      if (!filledUrls.ok) return filledUrls
      const filledHeaders = render(sent.value, readGlobal)
      if (!filledHeaders.ok) return toFault(filledHeaders.error)
      return success({
        transport,
        url: filledUrl.value,
        ...(urls !== undefined && { urls: filledUrls.value }),
        headers: Object.fromEntries(filledHeaders.value.headers),
      })
    },
  })
}
