import { formatCount } from '../../lib/http/pages/format.ts'
import { compareVersions } from '../../lib/http/versions.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import { findBindingFaults } from '../../servers/bindings/binding-checks.ts'
import { bindingOf, findSecretAtRisk, type SecretAtRisk } from '../../servers/bindings/bindings.ts'
import { type KnownGlobals, socketsOf } from '../../servers/bindings/sockets.ts'
import type { Binding, Bindings, Instance } from '../../servers/server.ts'
import { exposedSchemaOf } from '../../servers/servers.view.ts'
import type { CheckedParameter } from '../../templates/checked-parameters.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import { faultInWords, toChip } from '../bindings/socket.view.ts'
import { bindingsFrom, globalsWith, NEW_GLOBAL, newGlobalsFrom, type TypedInstance } from './instance-form.ts'

/** What is said beside a parameter: `danger` is refused when it is saved, `warn` is not. */
export type Finding = { tone: 'warn' | 'danger'; text: string }

/** By parameter. */
export type Findings = ReadonlyMap<string, readonly Finding[]>

export const byParameter = (found: readonly (readonly [string, Finding])[]): Findings =>
  new Map([...Map.groupBy(found, ([name]) => name)].map(([name, all]) => [name, all.map(([, finding]) => finding)]))

/** An instance with its tool's template understood, and the globals of its server. */
export type OpenInstance = { instance: Instance; compiled: CompiledDefinition; globals: KnownGlobals }

const faultText = (name: string, message: string): string =>
  /^[A-Z]/.test(message) ? message : `What is typed for ${name} ${faultInWords(message)}.`

type Found = [parameter: string, finding: Finding]

/** A secret that would go wherever the caller likes is told beside both: what carries it, and what lets them choose. */
const riskFindings = ({ originParameter, secretKey, boundAt }: SecretAtRisk): Found[] => {
  const where = `${originParameter} lets the caller choose where the request goes`
  const mend = `wire ${originParameter} to a fixed value or a global, or list the origins that may get it in the tool’s allowed origins`
  const carried = `The secret ${secretKey} would go wherever the caller likes: ${where}. To mend it, ${mend}.`
  const chosen = `The caller would choose where the secret ${secretKey} goes, which ${boundAt} carries.`
  return [
    [boundAt, { tone: 'danger', text: carried }],
    [originParameter, { tone: 'danger', text: chosen }],
  ]
}

const missingText = (key: string): string =>
  `There is no global ${key} yet: until there is, every call of this tool fails.`

/** What speaks against the wiring as it is typed, by parameter; whether or not it is saved already. */
export const findFindings = (
  { instance: { tool }, compiled, globals }: OpenInstance,
  typed: TypedInstance,
): Findings => {
  const bindings = bindingsFrom(typed, compiled.parameters)
  const known = globalsWith(globals, newGlobalsFrom(typed))
  const isSecret = (key: string): boolean => known.get(key) === true
  // Where no global is chosen yet, one is about to be: it is asked for when it is saved.
  const isOpen = (binding: Binding): boolean => binding.source === 'server' && binding.key === ''
  const changed = Object.fromEntries(Object.entries(bindings).filter(([, binding]) => !isOpen(binding)))
  const faults = findBindingFaults(compiled, { tool, bindings }, { isSecret, changed }).flatMap(
    ({ parameter, message, isSecretAtRisk }): Found[] =>
      isSecretAtRisk ? [] : [[parameter, { tone: 'danger', text: faultText(parameter, message) }]],
  )
  const risk = findSecretAtRisk(compiled, tool, bindings, isSecret)
  const missing = socketsOf(headsOf(compiled), changed, known).flatMap(socket =>
    socket.missing.map((key): Found => [socket.parameter, { tone: 'warn', text: missingText(key) }]),
  )
  return byParameter([...faults, ...(risk === undefined ? [] : riskFindings(risk)), ...missing])
}

const headsOf = ({ parameters }: CompiledDefinition) =>
  parameters.map(({ parameter: { name, type } }) => ({ name, type }))

/** Values that the field of a fixed one offers. */
const suggestionsFor = ({ parameter, meta }: CheckedParameter): readonly string[] => {
  if (parameter.type === 'boolean') return ['true', 'false']
  return (meta.enum ?? []).map(value => (typeof value === 'string' ? value : JSON.stringify(value)))
}

const FIXED_HINTS: Readonly<Record<CheckedParameter['parameter']['type'], string>> = {
  string: 'Any text.',
  integer: 'A whole number.',
  number: 'A number, as 2.5.',
  boolean: 'true or false.',
  json: 'JSON; a text in quotation marks.',
  url: 'An address that begins with https:// or http://.',
}

const limitsOf = ({ parameter, meta }: CheckedParameter): string | undefined => {
  const limits = [
    meta.minimum === undefined ? undefined : `at least ${meta.minimum}`,
    meta.maximum === undefined ? undefined : `at most ${meta.maximum}`,
    meta.pattern === undefined ? undefined : `matching ${meta.pattern}`,
    parameter.default === undefined ? undefined : `${JSON.stringify(parameter.default)} where it is left out`,
  ].flatMap(limit => limit ?? [])
  const [first = '', ...more] = limits
  return limits.length === 0 ? undefined : [first.charAt(0).toUpperCase() + first.slice(1), ...more].join(', ')
}

/** The options of the choice of a global; one that is bound and not there stands among them. */
const globalOptions = (globals: KnownGlobals, chosen: string) => [
  { value: '', text: 'Choose one…' },
  ...[...globals].map(([key, isSecret]) => ({ value: key, text: isSecret ? `${key}, secret` : key })),
  ...(chosen === '' || chosen === NEW_GLOBAL || globals.has(chosen)
    ? []
    : [{ value: chosen, text: `${chosen}, not there yet` }]),
  { value: NEW_GLOBAL, text: 'A new global…' },
]

/** The parameters with what is typed and what speaks against it, as the form and the reader see them. */
export const toParameterFields = ({ compiled, globals }: OpenInstance, typed: TypedInstance, findings: Findings) => {
  const sockets = socketsOf(headsOf(compiled), bindingsFrom(typed, compiled.parameters), globals)
  return compiled.parameters.map((parameter, index) => {
    const { name, type, required } = parameter.parameter
    const one = typed.parameters.get(name)
    const socket = sockets[index]
    return {
      id: `p${index}`,
      name,
      type,
      isRequired: required,
      about: parameter.meta.description,
      limits: limitsOf(parameter),
      source: one?.source ?? 'exposed',
      fixed: one?.fixed ?? '',
      isLong: type === 'json' || (one?.fixed ?? '').includes('\n'),
      fixedHint: `${FIXED_HINTS[type]} {{key}} in it stands for a global.`,
      suggestions: suggestionsFor(parameter),
      global: one?.global ?? '',
      globals: globalOptions(globals, one?.global ?? ''),
      key: one?.key ?? '',
      value: one?.value ?? '',
      isSecret: one?.isSecret ?? false,
      suggestedKey: name,
      isFixedWrong: one?.source === 'fixed' && (findings.get(name) ?? []).some(({ tone }) => tone === 'danger'),
      chip: socket && toChip(socket),
      findings: findings.get(name) ?? [],
    }
  })
}

/** Parameters whose bindings are kept although the tool has lost them; saving lets them go. */
export const lostParameters = ({ instance, compiled }: OpenInstance): string[] => {
  const known = new Set(compiled.parameters.map(({ parameter }) => parameter.name))
  return Object.keys(instance.bindings).filter(name => !known.has(name))
}

/** What a client is told of the tool, with what it costs in every conversation. */
export const toSeen = async (
  { instance: { tool }, compiled }: OpenInstance,
  typed: TypedInstance,
  countTokens: TokenCounter,
) => {
  const bindings = bindingsFrom(typed, compiled.parameters)
  const inputSchema: JsonObject = exposedSchemaOf(tool, compiled, bindings)
  const description = typed.description === '' ? tool.description : typed.description
  const told = { name: typed.name, ...(description === undefined ? {} : { description }), inputSchema }
  return {
    name: typed.name,
    description,
    schema: JSON.stringify(inputSchema, null, 2),
    tokens: formatCount(await countTokens(JSON.stringify(told)), 'token'),
  }
}

/** A binding as a sentence says it: what two versions are compared by. */
const inWords = (name: string, bindings: Bindings): string => {
  const binding = bindingOf(bindings, name)
  switch (binding.source) {
    case 'exposed':
      return 'asked of the model'
    case 'server':
      return `global ${binding.key ?? name}`
    case 'instance':
      return `fixed value ${typeof binding.value === 'string' ? binding.value : JSON.stringify(binding.value)}`
  }
}

/** What is typed beside what somebody else has saved meanwhile. */
export const compareTyped = ({ instance, compiled }: OpenInstance, typed: TypedInstance) => {
  const mine = bindingsFrom(typed, compiled.parameters)
  return compareVersions([
    { label: 'Name', mine: typed.name, theirs: instance.name },
    { label: 'Description', mine: typed.description, theirs: instance.description ?? '' },
    { label: 'Tokens of an answer', mine: typed.maxResponseTokens, theirs: String(instance.maxResponseTokens ?? '') },
    ...compiled.parameters.map(({ parameter: { name } }) => ({
      label: name,
      mine: inWords(name, mine),
      theirs: inWords(name, instance.bindings),
    })),
  ])
}
