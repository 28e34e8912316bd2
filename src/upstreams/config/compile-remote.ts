import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { compileTemplate } from '../../templates/compile.ts'
import type { CompiledTemplate, TemplateError } from '../../templates/template.ts'
import { isOAuth, type RemoteConfig, type UpstreamConfig } from '../upstream.ts'
import type { CompiledConfig, ResolutionFault } from './compiled-config.ts'
import { withTypedBase } from './references.ts'

/** Headers that the protocol itself sets, in both eras (MCP, basic/transports). */
const PROTOCOL_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
])

/** Replaces the URL while headers are compiled, because a global may occur in both. */
const PLACEHOLDER_URL = 'https://headers.invalid/'

/** Returns the position within the template, or an empty string for its start. */
const positionOf = ({ line, column }: TemplateError): string =>
  line === 1 && column === 1 ? '' : ` (column ${column})`

type ToPath = (field: string) => string

const toHeaderPath =
  (names: readonly string[]): ToPath =>
  field => {
    const index = /^headers\[(\d+)\]/.exec(field)?.[1]
    return index === undefined ? 'headers' : `headers.${names[Number(index)] ?? ''}`
  }

/** Reports types, defaults and optional parameters, which apply only to values from callers and not to globals. */
const checkGlobals = ({ parameters }: CompiledTemplate, toPath: ToPath): FieldError[] =>
  parameters
    .filter(({ type, required, places }) => !required || (type !== 'string' && places[0]?.kind !== 'base'))
    .map(({ name, places }) => ({
      path: toPath(places[0]?.field ?? 'url'),
      message: `uses the global "${name}" with a type, a "?" or a default, which globals do not have. Write {{${name}}}`,
    }))

const checkNames = (names: readonly string[]): FieldError[] => {
  const seen = new Set<string>()
  return names.flatMap(name => {
    const lowerCase = name.toLowerCase()
    const isDuplicate = seen.has(lowerCase)
    seen.add(lowerCase)
    const path = `headers.${name}`
    if (isDuplicate) return { path, message: 'is a duplicate (header names are case-insensitive)' }
    return PROTOCOL_HEADERS.has(lowerCase) ? { path, message: 'cannot be set because the protocol sets it' } : []
  })
}

/** Compiles the template. Maps errors to the upstream's fields. */
const compilePart = (
  url: string,
  headers: RemoteConfig['headers'],
  toPath: ToPath,
): Result<CompiledTemplate, readonly FieldError[]> => {
  const pairs = Object.entries(headers).map(([name, value]) => ({ name, value }))
  // Builders set the values, and stored configurations have no version of the rules: cookies are sent as written.
  const compiled = compileTemplate({ method: 'POST', url, headers: pairs, templateRules: 1 })
  if (!compiled.ok) {
    const errors = compiled.error.map(error => ({
      path: toPath(error.field),
      message: `is invalid: ${error.message}${positionOf(error)}`,
    }))
    return failure(errors)
  }
  const errors = checkGlobals(compiled.value, toPath)
  return errors.length > 0 ? failure(errors) : compiled
}

const listErrors = (result: Result<unknown, readonly FieldError[]>): readonly FieldError[] =>
  result.ok ? [] : result.error

const SECRET_IN_URL =
  'a URL with a secret must spell out its scheme, host and port. Put the secret into a header instead'

const SECRET_IN_OAUTH_URL =
  'with OAuth, the URL is shown in the browser and sent to the authorization server. Put the secret into a header instead'

const keysOf = ({ parameters }: CompiledTemplate): string[] => parameters.map(({ name }) => name)

/**
 * Finds a secret that would determine the URL's origin or be sent to an origin determined by a global. With OAuth, the
 * URL is also the resource (RFC 8707) that authorization servers and browsers are told, so it may contain no secret.
 */
const findSecretInUrl = (
  url: CompiledTemplate,
  path: string,
  hasOAuth: boolean,
  isSecret: (key: string) => boolean,
): FieldError | undefined => {
  const secret = keysOf(url).find(isSecret)
  const { origin } = url
  if (secret === undefined) return undefined
  if (hasOAuth) return { path, message: `contains the secret "${secret}": ${SECRET_IN_OAUTH_URL}` }
  const decidesOrigin = url.parameters.some(
    ({ name, places }) => name === secret && places.some(({ kind }) => kind === 'base' || kind === 'host'),
  )
  return origin.kind === 'open' || decidesOrigin
    ? { path, message: `contains the secret "${secret}": ${SECRET_IN_URL}` }
    : undefined
}

const render = (
  template: CompiledTemplate,
  readGlobal: (key: string) => string,
): ReturnType<CompiledTemplate['render']> =>
  template.render(new Map(keysOf(template).map(key => [key, readGlobal(key)])))

const toFault = ({ parameter, message }: { parameter: string; message: string }): Result<never, ResolutionFault> =>
  failure({ reason: 'unfit_value', message: `The global "${parameter}" ${message}.` })

/** Renders all URLs. Fails with the error for the first URL that cannot be rendered. */
const renderUrls = (
  urls: readonly CompiledTemplate[],
  readGlobal: (key: string) => string,
): Result<string[], ResolutionFault> => {
  const filled: string[] = []
  for (const url of urls) {
    const rendered = render(url, readGlobal)
    if (!rendered.ok) return toFault(rendered.error)
    filled.push(rendered.value.url)
  }
  return success(filled)
}

/** Returns the origin of a URL. Returns undefined if it depends on a global that is missing or is not a URL. */
const findOrigin = (url: CompiledTemplate, findValue: (key: string) => string | undefined): string | undefined => {
  if (url.origin.kind === 'fixed') return url.origin.origin
  if (keysOf(url).some(key => findValue(key) === undefined)) return undefined
  const rendered = render(url, key => findValue(key) ?? '')
  return rendered.ok ? URL.parse(rendered.value.url)?.origin : undefined
}

const pathOfUrl = (index: number): string => (index === 0 ? 'url' : `urls[${index - 1}]`)

/** Checks the URLs and headers of a remote upstream. Returns all errors at once. */
export const compileRemote = ({
  transport,
  url,
  urls,
  headers,
  auth,
}: RemoteConfig & Partial<Pick<UpstreamConfig, 'auth'>>): Result<
  CompiledConfig<RemoteConfig>,
  readonly FieldError[]
> => {
  const allUrls = [url, ...(urls ?? [])]
  const compiledUrls = allUrls.map((text, index) => compilePart(withTypedBase(text), {}, () => pathOfUrl(index)))
  const compiledHeaders = compilePart(PLACEHOLDER_URL, headers, toHeaderPath(Object.keys(headers)))
  const errors = [...[...compiledUrls, compiledHeaders].flatMap(listErrors), ...checkNames(Object.keys(headers))]
  if (!compiledHeaders.ok || errors.length > 0) return failure(errors)
  const templates = compiledUrls.flatMap(compiled => (compiled.ok ? compiled.value : []))
  return success({
    globals: new Set([...templates, compiledHeaders.value].flatMap(keysOf)),
    findSecretAtRisk: isSecret =>
      templates
        .map((template, index) => findSecretInUrl(template, pathOfUrl(index), isOAuth(auth), isSecret))
        .find(risk => risk !== undefined),
    listOrigins: findValue => templates.flatMap(template => findOrigin(template, findValue) ?? []),
    fill: readGlobal => {
      const filledUrls = renderUrls(templates, readGlobal)
      if (!filledUrls.ok) return filledUrls
      const filledHeaders = render(compiledHeaders.value, readGlobal)
      if (!filledHeaders.ok) return toFault(filledHeaders.error)
      const [filledUrl = '', ...filledMore] = filledUrls.value
      return success({
        transport,
        url: filledUrl,
        ...(urls !== undefined && { urls: filledMore }),
        headers: Object.fromEntries(filledHeaders.value.headers),
      })
    },
  })
}
