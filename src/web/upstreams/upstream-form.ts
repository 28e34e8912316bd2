import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import { readWholeNumber } from '../../lib/kernel/whole-number.ts'
import type { Upstream, UpstreamConfig } from '../../upstreams/upstream.ts'
import { CreateUpstream, type UpstreamChange, type UpstreamInput } from '../../upstreams/upstreams.schema.ts'
import { AUTH_LABELS, AuthForm, NEW_AUTH, readAuth, typedAuthOf } from './auth-form.ts'
import {
  HEADER_LINES,
  readPairs,
  readTexts,
  toFieldErrors,
  VARIABLE_LINES,
  writePairs,
  writeTexts,
} from './typed-lines.ts'

/** Form for an upstream, as typed. The value of a cleared checkbox is empty. */
export const UpstreamForm = {
  name: formText,
  description: formText,
  transport: formText,
  url: formText,
  urls: formText,
  headers: formText,
  ...AuthForm,
  command: formText,
  args: formText,
  env: formText,
  cwd: formText,
  tools: formText,
  resources: formText,
  prompts: formText,
  allow: formText,
  deny: formText,
  prefix: formText,
  timeoutMs: formText,
  eager: formText,
  enabled: formText,
  version: formText,
}
export type TypedUpstream = Record<keyof typeof UpstreamForm, string>

/** Field names as used in sentences. */
export const LABELS: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  transport: 'transport',
  url: 'URL',
  urls: 'URL',
  headers: 'header',
  ...AUTH_LABELS,
  command: 'command',
  args: 'argument',
  env: 'variable',
  cwd: 'working directory',
  allow: 'pattern',
  deny: 'pattern',
  prefix: 'prefix',
  timeoutMs: 'time',
}

const box = (isTicked: boolean): string => (isTicked ? 'on' : '')

const NO_PLACE = { ...NEW_AUTH, url: '', urls: '', headers: '', command: '', args: '', env: '', cwd: '' }

const placeOf = (config: UpstreamConfig) =>
  config.transport === 'stdio'
    ? {
        ...NO_PLACE,
        command: config.command,
        args: writeTexts(config.args),
        env: writePairs(config.env, VARIABLE_LINES),
        cwd: config.cwd ?? '',
      }
    : {
        ...NO_PLACE,
        ...typedAuthOf(config.auth),
        url: config.url,
        urls: writeTexts(config.urls ?? []),
        headers: writePairs(config.headers, HEADER_LINES),
      }

/** Returns the form fields for an upstream's transport and address. */
export const typedPlaceOf = (config: UpstreamConfig) => ({ transport: config.transport, ...placeOf(config) })

/** The form for a new upstream. */
export const NEW_UPSTREAM: TypedUpstream = {
  ...parseForm(UpstreamForm, {}),
  ...NEW_AUTH,
  transport: 'http',
  tools: 'on',
  resources: 'on',
  prompts: 'on',
  enabled: 'on',
}

/** Returns the form of an existing upstream. */
export const typedOf = ({ name, description, isEnabled, config, updatedAt }: Upstream): TypedUpstream => ({
  ...typedPlaceOf(config),
  name,
  description: description ?? '',
  tools: box(config.features.tools),
  resources: box(config.features.resources),
  prompts: box(config.features.prompts),
  allow: writeTexts(config.allow ?? []),
  deny: writeTexts(config.deny ?? []),
  prefix: config.prefix ?? '',
  timeoutMs: String(config.timeoutMs),
  eager: box(config.isEager),
  enabled: box(isEnabled),
  version: updatedAt.toISOString(),
})

/** Trims text. Returns undefined if nothing is left. */
const given = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim())

/** Reads the fields of the chosen transport and ignores the fields of the others. */
const readPlace = (typed: TypedUpstream, complainOf: (path: string) => (message: string) => void) =>
  typed.transport === 'stdio'
    ? {
        command: typed.command.trim(),
        args: readTexts(typed.args, complainOf('args')),
        env: readPairs(typed.env, VARIABLE_LINES, complainOf('env')),
        cwd: given(typed.cwd),
      }
    : {
        url: typed.url.trim(),
        urls: readTexts(typed.urls, complainOf('urls')),
        headers: readPairs(typed.headers, HEADER_LINES, complainOf('headers')),
        auth: readAuth(typed),
      }

const refuse = (errors: readonly FieldError[]): AppError =>
  new AppError('invalid_request', 'Could not save. Fix the fields marked below.', {
    errors: toFieldErrors(errors),
  })

/** Reads a form. If any fields are invalid, throws `invalid_request` with an error for each of them. */
export const readUpstreamForm = (typed: TypedUpstream): UpstreamInput => {
  const errors: FieldError[] = []
  const complainOf = (path: string) => (message: string) => errors.push({ path, message })
  const input = {
    name: typed.name.trim(),
    description: given(typed.description.replaceAll('\r\n', '\n')),
    transport: typed.transport,
    ...readPlace(typed, complainOf),
    features: { tools: typed.tools === 'on', resources: typed.resources === 'on', prompts: typed.prompts === 'on' },
    allow: readTexts(typed.allow, complainOf('allow')),
    deny: readTexts(typed.deny, complainOf('deny')),
    prefix: given(typed.prefix),
    timeoutMs: readWholeNumber(typed.timeoutMs),
    eager: typed.eager === 'on',
    enabled: typed.enabled === 'on',
  }
  try {
    const parsed = parseInput(CreateUpstream, input)
    if (errors.length === 0) return parsed
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    errors.push(...(error.errors ?? []))
  }
  throw refuse(errors)
}

/** Rethrows an error with its API field errors moved to form fields. A form field can cover several API fields. */
export const rethrowBesideFields = (error: unknown): never => {
  if (!(error instanceof AppError) || error.errors === undefined) throw error
  throw new AppError(error.code, error.message, { cause: error, errors: toFieldErrors(error.errors) })
}

/** Converts the form's input to a change that clears every field left empty. */
export const toWholeChange = (input: UpstreamInput): UpstreamChange => ({
  ...input,
  description: input.description ?? null,
  prefix: input.prefix ?? null,
  timeoutMs: input.timeoutMs ?? null,
  ...(input.transport === 'stdio' ? { cwd: input.cwd ?? null } : {}),
})
