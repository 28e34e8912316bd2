import { compareVersions } from '../../lib/http/versions.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import { findBindingFaults } from '../../servers/bindings/binding-checks.ts'
import { bindingOf, findSecretAtRisk, type SecretAtRisk } from '../../servers/bindings/bindings.ts'
import { findUnboundDefault } from '../../servers/bindings/default-bindings.ts'
import { exposedSchemaOf } from '../../servers/bindings/exposed-schema.ts'
import { fixedText, type KnownGlobals, socketsOf } from '../../servers/bindings/sockets.ts'
import type { Binding, Bindings, Instance } from '../../servers/server.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import { describeDefault } from '../../tools/lint/unbound-defaults.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import { toChip, toShortError } from '../bindings/socket.view.ts'
import { bindingsFrom, globalsWith, type InstanceForm, NEW_GLOBAL, newGlobalsFrom } from './instance-form.ts'

/** A message beside a parameter. `danger` prevents saving, `warn` does not. */
export type Finding = { tone: 'warn' | 'danger'; text: string }

export type Findings = ReadonlyMap<string, readonly Finding[]>

export const byParameter = (found: readonly (readonly [string, Finding])[]): Findings =>
  new Map([...Map.groupBy(found, ([name]) => name)].map(([name, all]) => [name, all.map(([, finding]) => finding)]))

/** An instance with its compiled tool and its server's globals. */
export type OpenInstance = { instance: Instance; compiled: CompiledDefinition; globals: KnownGlobals }

const errorText = (name: string, message: string): string =>
  /^[A-Z]/.test(message) ? message : `The value of ${name} ${toShortError(message)}.`

type Found = [parameter: string, finding: Finding]

/**
 * Reports a secret that a caller could send to any host. The finding is shown beside two parameters: the one that
 * contains the secret and the one that sets the origin.
 */
const riskFindings = ({ originParameter, secretKey, boundAt }: SecretAtRisk): Found[] => {
  const fix = `Bind ${originParameter} to a fixed value or a global, or list the permitted origins in the tool’s allowed origins.`
  const carried = `The caller could send the secret ${secretKey} anywhere, because ${originParameter} sets where the request goes. ${fix}`
  const chosen = `The caller would choose where the secret ${secretKey} in ${boundAt} is sent.`
  return [
    [boundAt, { tone: 'danger', text: carried }],
    [originParameter, { tone: 'danger', text: chosen }],
  ]
}

const missingText = (key: string, globals: KnownGlobals): string =>
  globals.has(key)
    ? `The global ${key} must be a secret. Calls of this tool fail until you store it as one.`
    : `The global ${key} does not exist. Calls of this tool fail until you add it.`

/** Reports the defaults of parameters that nobody has bound, as long as the form does not bind them either. */
const unboundFindings = ({ instance, compiled }: OpenInstance, typed: InstanceForm): Found[] =>
  headsOf(compiled).flatMap((head): Found[] => {
    const unbound = findUnboundDefault(head, instance.bindings)
    if (unbound === undefined || typed.parameters.get(head.name)?.source !== 'exposed') return []
    const text = `By default, the value is ${describeDefault(unbound)}. The tool got this default after it was added here, so until you bind the parameter, the model chooses the value.`
    return [[head.name, { tone: 'warn', text }]]
  })

/** Checks the bindings as filled in, whether saved or not, and returns the problems by parameter. */
export const findFindings = (opened: OpenInstance, typed: InstanceForm): Findings => {
  const { instance, compiled, globals } = opened
  const { tool } = instance
  const bindings = bindingsFrom(typed, compiled.parameters)
  const known = globalsWith(globals, newGlobalsFrom(typed))
  const isSecret = (key: string): boolean => known.get(key) === true
  // A missing choice of global is reported only when the form is saved.
  const isOpen = (binding: Binding): boolean => binding.source === 'server' && binding.key === ''
  const changed = Object.fromEntries(Object.entries(bindings).filter(([, binding]) => !isOpen(binding)))
  const bindingErrors = findBindingFaults(compiled, { tool, bindings }, { isSecret, changed }).flatMap(
    ({ parameter, message, isSecretAtRisk }): Found[] =>
      isSecretAtRisk ? [] : [[parameter, { tone: 'danger', text: errorText(parameter, message) }]],
  )
  const risk = findSecretAtRisk(compiled, tool, bindings, isSecret)
  const missing = socketsOf(headsOf(compiled), changed, known).flatMap(socket =>
    socket.missing.map((key): Found => [socket.parameter, { tone: 'warn', text: missingText(key, known) }]),
  )
  const unbound = unboundFindings(opened, typed)
  return byParameter([...bindingErrors, ...(risk === undefined ? [] : riskFindings(risk)), ...missing, ...unbound])
}

const headsOf = ({ parameters }: CompiledDefinition) =>
  parameters.map(({ parameter: { name, type, required }, meta: { binding } }) => ({ name, type, required, binding }))

const suggestionsFor = ({ parameter, meta }: CheckedParameter): readonly string[] => {
  if (parameter.type === 'boolean') return ['true', 'false']
  return (meta.enum ?? []).map(fixedText)
}

const FIXED_HINTS: Readonly<Record<CheckedParameter['parameter']['type'], string>> = {
  string: 'Any text.',
  integer: 'A whole number.',
  number: 'A number, such as 2.5.',
  boolean: 'true or false.',
  json: 'JSON. Put strings in quotation marks.',
  url: 'A URL that starts with https:// or http://.',
}

const limitsOf = ({ parameter, meta }: CheckedParameter): string | undefined => {
  const limits = [
    meta.minimum === undefined ? undefined : `at least ${meta.minimum}`,
    meta.maximum === undefined ? undefined : `at most ${meta.maximum}`,
    meta.pattern === undefined ? undefined : `matching ${meta.pattern}`,
    parameter.default === undefined ? undefined : `default ${JSON.stringify(parameter.default)}`,
  ].flatMap(limit => limit ?? [])
  const [first = '', ...more] = limits
  return limits.length === 0 ? undefined : [first.charAt(0).toUpperCase() + first.slice(1), ...more].join(', ')
}

/** Returns the options of the global select, including a bound global that does not exist. */
const globalOptions = (globals: KnownGlobals, chosen: string) => [
  { value: '', text: 'Choose one…' },
  ...[...globals].map(([key, isSecret]) => ({ value: key, text: isSecret ? `${key} (secret)` : key })),
  ...(chosen === '' || chosen === NEW_GLOBAL || globals.has(chosen)
    ? []
    : [{ value: chosen, text: `${chosen} (missing)` }]),
  { value: NEW_GLOBAL, text: 'New global…' },
]

export const toParameterFields = ({ compiled, globals }: OpenInstance, typed: InstanceForm, findings: Findings) => {
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
      fixedHint: `${FIXED_HINTS[type]} Use {{key}} to insert a global.`,
      suggestions: suggestionsFor(parameter),
      global: one?.global ?? '',
      globals: globalOptions(globals, one?.global ?? ''),
      key: one?.key ?? '',
      value: one?.value ?? '',
      isSecret: one?.isSecret ?? false,
      suggestedKey: parameter.meta.binding?.source === 'server' ? parameter.meta.binding.key : name,
      isFixedWrong: one?.source === 'fixed' && (findings.get(name) ?? []).some(({ tone }) => tone === 'danger'),
      chip: socket && toChip(socket),
      findings: findings.get(name) ?? [],
    }
  })
}

/** Returns the bound parameters that the tool no longer has. Saving the form removes their bindings. */
export const removedParameters = ({ instance, compiled }: OpenInstance): string[] => {
  const known = new Set(compiled.parameters.map(({ parameter }) => parameter.name))
  return Object.keys(instance.bindings).filter(name => !known.has(name))
}

/** Builds the tool definition that clients see, and counts its tokens. */
export const toDefinitionPreview = async (
  { instance: { tool }, compiled }: OpenInstance,
  typed: InstanceForm,
  countTokens: TokenCounter,
) => {
  const bindings = bindingsFrom(typed, compiled.parameters)
  const inputSchema: JsonObject = exposedSchemaOf(tool, compiled, bindings)
  const description = typed.description === '' ? tool.description : typed.description
  const definition = { name: typed.name, ...(description === undefined ? {} : { description }), inputSchema }
  return {
    name: typed.name,
    description,
    schema: JSON.stringify(inputSchema, null, 2),
    tokens: formatCount(await countTokens(JSON.stringify(definition)), 'token'),
  }
}

const describeBinding = (name: string, bindings: Bindings): string => {
  const binding = bindingOf(bindings, name)
  switch (binding.source) {
    case 'exposed':
      return 'from the model'
    case 'server':
      return `from global ${binding.key ?? name}`
    case 'instance':
      return `fixed value ${fixedText(binding.value)}`
  }
}

/** Compares the form with the version that someone else has saved. */
export const compareWithSaved = ({ instance, compiled }: OpenInstance, typed: InstanceForm) => {
  const mine = bindingsFrom(typed, compiled.parameters)
  return compareVersions([
    { label: 'Name', mine: typed.name, theirs: instance.name },
    { label: 'Description', mine: typed.description, theirs: instance.description ?? '' },
    { label: 'Max response tokens', mine: typed.maxResponseTokens, theirs: String(instance.maxResponseTokens ?? '') },
    ...compiled.parameters.map(({ parameter: { name } }) => ({
      label: name,
      mine: describeBinding(name, mine),
      theirs: describeBinding(name, instance.bindings),
    })),
  ])
}
