import { z } from 'zod'
import { formLines, formText, parseForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { PARAMETER_TYPES } from '../../templates/template.ts'
import { applyCandidates, metaOfCandidate } from '../../tools/import/apply-candidates.ts'
import type { CandidateParameter } from '../../tools/import/draft-url.ts'
import type { PastedRequest } from '../../tools/import/read-pasted.ts'
import { isSecretValue } from '../../tools/import/secret-values.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { toToolName } from '../../tools/tool-names.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'

/** What was read from a pasted text, without values of secrets. The form carries it in a hidden field. */
export const PastedDraft = z.object({
  kind: z.enum(['url', 'curl']),
  url: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string().optional(),
  candidates: z.array(
    z.object({
      place: z.enum(['path', 'query']),
      index: z.int().min(0),
      name: z.string(),
      value: z.string(),
      suggestedType: z.enum(PARAMETER_TYPES),
    }),
  ),
  /**
   * `where` says where the secret is in the request, such as `Authorization`. A value that is only offered as a secret
   * comes from the model, unless the user makes it one.
   */
  secrets: z.array(z.object({ parameter: z.string(), where: z.string(), isOffered: z.boolean() })),
  /** Placeholders and variables of the text, which became parameters. */
  variables: z.array(z.object({ parameter: z.string(), written: z.string() })),
  notes: z.array(z.string()),
})
export type PastedDraft = z.infer<typeof PastedDraft>

/** What a candidate becomes: a parameter that the model fills in, a part of the URL as it is, or a secret. */
export const BECOMES = ['model', 'fixed', 'secret'] as const
export type Becomes = (typeof BECOMES)[number]

export type PastedForm = {
  draft: PastedDraft
  method: string
  name: string
  description: string
  /** Identifies the held values of the secrets. */
  held: string
  /** One for each candidate. */
  becomes: readonly Becomes[]
  /** The parameters that are offered as secrets and that the user made secrets. */
  accepted: ReadonlySet<string>
  /** Typed values of secrets, by parameter. */
  secrets: ReadonlyMap<string, string>
}

const FIELDS = { method: formText, name: formText, description: formLines, held: formText, draft: formText }
const Everything = z.record(z.string(), z.unknown()).catch({})

const readDraft = (text: string): PastedDraft | undefined => {
  try {
    return PastedDraft.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Parses the form. Returns undefined if it does not have the draft. */
export const parsePastedForm = (body: unknown): PastedForm | undefined => {
  const { draft: text, ...typed } = parseForm(FIELDS, body)
  const draft = readDraft(text)
  if (draft === undefined) return undefined
  const all = Everything.parse(body)
  const textOf = (field: string): string => formText.parse(all[field])
  return {
    ...typed,
    draft,
    becomes: draft.candidates.map((_, index) => BECOMES.find(one => one === textOf(`becomes:${index}`)) ?? 'fixed'),
    accepted: new Set(
      draft.secrets.flatMap(({ parameter }) => (textOf(`offered:${parameter}`) === 'secret' ? parameter : [])),
    ),
    secrets: new Map(draft.secrets.map(({ parameter }) => [parameter, textOf(`secret:${parameter}`)])),
  }
}

/** Returns the parameters that are secrets: those kept as secrets, and those that the user made secrets. */
export const chosenSecrets = ({ draft, accepted }: PastedForm): PastedDraft['secrets'] =>
  draft.secrets.filter(({ parameter, isOffered }) => !isOffered || accepted.has(parameter))

type Where = PastedRequest['draft']['secrets'][number]

const describeWhere = ({ place, name }: Pick<Where, 'place' | 'name'>): string => {
  switch (place) {
    case 'header':
      return name
    case 'path':
      return 'path'
    case 'query':
      return `query parameter ${name}`
    case 'cookie':
      return `cookie ${name}`
    case 'form':
    case 'json':
    case 'xml':
    case 'multipart':
      return `body field ${name}`
  }
}

/** A value stays in the URL if it is empty, or one of several with the same name. */
const suggestBecomes = (candidate: CandidateParameter, all: readonly CandidateParameter[]): Becomes => {
  if (candidate.place === 'path') return 'model'
  const base = candidate.name.replace(/_\d+$/, '')
  const isRepeated = all.some(({ name }) => name !== candidate.name && name.replace(/_\d+$/, '') === base)
  return candidate.value === '' || isRepeated ? 'fixed' : 'model'
}

/** Gives candidates names that no other parameter has. */
const withFreeNames = (candidates: readonly CandidateParameter[], taken: Set<string>): CandidateParameter[] =>
  candidates.map(candidate => {
    let name = candidate.name
    for (let number = 2; taken.has(name); number++) name = `${candidate.name}_${number}`
    taken.add(name)
    return { ...candidate, name }
  })

/** Returns the form for a pasted request, without the values of its secrets, and these values by parameter. */
export const formOfPasted = ({ kind, draft, notes }: PastedRequest) => {
  const { definition, secrets, variables } = draft
  const found = new Map(secrets.map(secret => [secret.parameter, describeWhere(secret)]))
  for (const { parameter, isSecret, written } of variables) if (isSecret) found.set(parameter, written)
  const offered = new Set(secrets.map(({ parameter }) => parameter))
  for (const { parameter, place, name, value } of secrets) {
    if (value === '' || isSecretValue(place, name, value)) offered.delete(parameter)
  }
  const values = new Map(secrets.flatMap(({ parameter, value }) => (value === '' ? [] : [[parameter, value] as const])))
  const taken = new Set([...found.keys(), ...variables.map(({ parameter }) => parameter)])
  const candidates = withFreeNames(draft.candidates, taken)
  const form: PastedForm = {
    draft: {
      kind,
      url: definition.url,
      headers: definition.headers,
      ...(definition.body === undefined ? {} : { body: definition.body }),
      candidates,
      secrets: [...found].map(([parameter, where]) => ({ parameter, where, isOffered: offered.has(parameter) })),
      variables: variables.flatMap(({ parameter, written }) => (found.has(parameter) ? [] : [{ parameter, written }])),
      notes: [...notes],
    },
    method: definition.method,
    name: definition.name,
    description: '',
    held: '',
    becomes: candidates.map(candidate => suggestBecomes(candidate, candidates)),
    accepted: new Set(),
    secrets: new Map(),
  }
  return { form, values }
}

const candidatesThat = ({ draft, becomes }: PastedForm, wanted: readonly Becomes[]): CandidateParameter[] =>
  draft.candidates.filter((_, index) => wanted.includes(becomes[index] ?? 'fixed'))

/** Returns the URL with a placeholder for each value that does not stay as it is. */
export const urlOfForm = (form: PastedForm): string =>
  applyCandidates(form.draft.url, candidatesThat(form, ['model', 'secret']))

/**
 * Returns the values of the secrets, by parameter: those that were typed, or else those of the pasted text. Throws
 * `invalid_request` for each secret without a value.
 */
export const secretsOfForm = (form: PastedForm, held: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const typed = ({ parameter }: { parameter: string }): string =>
    form.secrets.get(parameter) || held.get(parameter) || ''
  const chosen = chosenSecrets(form)
  const missing = chosen.filter(secret => typed(secret) === '')
  if (missing.length > 0) {
    const errors = missing.map(({ parameter }) => ({ path: `secret:${parameter}`, message: 'is required' }))
    throw new AppError('invalid_request', 'A secret has no value.', { errors })
  }
  const ofCandidates = candidatesThat(form, ['secret']).map(({ name, value }) => [name, value] as const)
  return new Map([...chosen.map(secret => [secret.parameter, typed(secret)] as const), ...ofCandidates])
}

/** Returns the tool. Its secrets are bound to secrets of the server with the same names. */
export const definitionOfForm = (form: PastedForm): ToolDefinition => {
  const { draft, method, name, description } = form
  const secretNames = [
    ...chosenSecrets(form).map(({ parameter }) => parameter),
    ...candidatesThat(form, ['secret']).map(candidate => candidate.name),
  ]
  const parameters = [
    ...candidatesThat(form, ['model']).map(candidate => [candidate.name, metaOfCandidate(candidate)] as const),
    ...secretNames.map(key => [key, { binding: { source: 'server', key, secret: true } }] as const),
  ]
  return parseInput(CreateTool, {
    name: toToolName(name),
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    method,
    url: urlOfForm(form),
    headers: draft.headers,
    ...(draft.body === undefined ? {} : { body: draft.body }),
    parameters: Object.fromEntries(parameters),
  })
}
