import type { JsonValue } from '../lib/kernel/json.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '../lib/kernel/limits.ts'
import { once } from '../lib/kernel/once.ts'
import type { Credential } from '../lib/outbound/credentials.ts'
import type { Masker } from '../results/mask/masking.ts'
import { type PlannedShaping, planShaping, type ShapingContext } from '../results/shape/shape-by-rules.ts'
import { bindingOf, explainSecretAtRisk, findSecretAtRisk, globalKeysOf } from '../servers/bindings/bindings.ts'
import { explainLacking, findLacking, type LackingValue } from '../servers/bindings/default-bindings.ts'
import { exposedSchemaOf } from '../servers/bindings/exposed-schema.ts'
import { type FindGlobal, resolveConstant } from '../servers/bindings/resolve-constant.ts'
import { listCredentials } from '../servers/origins/tool-origins.ts'
import type { Bindings, Instance } from '../servers/server.ts'
import { compileTemplate } from '../templates/compile.ts'
import type { CheckedParameter } from '../templates/compile-parameters.ts'
import type { CompiledTemplate } from '../templates/template.ts'
import type { SchemaCheck, SchemaTrim } from '../tools/schemas/schema-check.ts'
import type { ToolDefinition } from '../tools/tool.ts'
import { type CompiledDefinition, checkDefinition } from '../tools/tool-definition.ts'
import { checkParameters } from './check-parameters.ts'
import { type CursorPlan, planCursor } from './next-page/read-cursor.ts'
import type { OpenedGlobals } from './opened-globals.ts'

/** The source of each parameter's value in an instance. Values that do not come from the model are constants. */
export type ResolutionPlan = {
  constants: readonly (readonly [name: string, value: JsonValue])[]
  exposed: ReadonlyMap<string, CheckedParameter>
  /** Why every call fails, whatever its arguments. Defined if a bound value is missing or invalid. */
  problem: string | undefined
}

/** The parts of a tool call that do not depend on its arguments. */
export type CallPlan = {
  /** The organization that the request is sent for. */
  organizationId: string
  resolution: ResolutionPlan
  template: CompiledTemplate
  masker: Masker
  timeoutMs: number
  /** Maximum number of retries after a temporary failure. */
  retries: number
  maxResponseBytes: number
  /** Undefined if neither the tool nor an exposed parameter has a schema of its own, or if every call fails anyway. */
  inputCheck: SchemaCheck | undefined
  outputTrim: SchemaTrim | undefined
  /** How results are shaped. Undefined for most tools, whose results are not shaped. */
  shaping: PlannedShaping | undefined
  /** How the cursor of the next page is found, if the tool says where it is. */
  cursor: CursorPlan | undefined
  mayReach: ((origin: string) => boolean) | undefined
  /** The secrets in the request. */
  credentials: readonly Credential[]
}

/** The limits of the installation. */
export type CallLimits = { maxResponseBytes: number; maxToolTimeoutMs: number }

/** Returns the bound parameters that have no value on this server. */
const listLacking = (
  { parameters }: CompiledDefinition,
  bindings: Bindings,
  { values, secretKeys }: OpenedGlobals,
): ReadonlyMap<string, LackingValue> => {
  const isSecretKey = (key: string) => (values.has(key) ? secretKeys.has(key) : undefined)
  const lacking = parameters.flatMap(({ parameter: { name, required }, meta: { binding } }) => {
    const found = findLacking({ name, required, binding }, bindingOf(bindings, name), isSecretKey)
    return found === undefined ? [] : [[name, found] as const]
  })
  return new Map(lacking)
}

/** Returns whether every call of the instance fails because a bound parameter has no value on this server. */
export const lacksValue = (compiled: CompiledDefinition, bindings: Bindings, globals: OpenedGlobals): boolean =>
  [...listLacking(compiled, bindings, globals).values()].some(({ isNeeded }) => isNeeded)

const planResolution = (compiled: CompiledDefinition, bindings: Bindings, globals: OpenedGlobals): ResolutionPlan => {
  const { values, secretKeys } = globals
  const lackingValues = listLacking(compiled, bindings, globals)
  const findGlobal: FindGlobal = key => {
    const value = values.get(key)
    return value === undefined ? undefined : { value, isSecret: secretKeys.has(key) }
  }
  const constants: [string, JsonValue][] = []
  const exposed = new Map<string, CheckedParameter>()
  const problems: string[] = []
  for (const checked of compiled.parameters) {
    const { name, default: fallback } = checked.parameter
    const lacking = lackingValues.get(name)
    if (lacking !== undefined) {
      if (lacking.isNeeded) problems.push(explainLacking(lacking))
      if (fallback !== undefined) constants.push([name, fallback])
      continue
    }
    if (bindingOf(bindings, name).source === 'exposed') {
      exposed.set(name, checked)
      continue
    }
    const constant = resolveConstant(checked, bindings, findGlobal)
    if (constant.ok) constants.push([name, constant.value])
    else problems.push(constant.error)
  }
  return { constants, exposed, problem: problems.length === 0 ? undefined : problems.join('\n') }
}

const reachOf = (tool: ToolDefinition): CallPlan['mayReach'] => {
  if (tool.allowedOrigins === undefined || tool.allowedOrigins.length === 0) return undefined
  const allowed = new Set(tool.allowedOrigins)
  return origin => allowed.has(origin)
}

/** Compiles the template again if a multipart body contains secrets, which must not be searched for its boundary. */
const templateOf = (
  tool: ToolDefinition,
  { template, parameters }: CompiledDefinition,
  bindings: Bindings,
  { secretKeys }: OpenedGlobals,
): CompiledTemplate => {
  if (template.bodyKind !== 'multipart' || secretKeys.size === 0) return template
  const names = parameters.map(({ parameter }) => parameter.name)
  const isSecret = (name: string): boolean =>
    [...globalKeysOf(name, bindingOf(bindings, name))].some(key => secretKeys.has(key))
  const compiled = compileTemplate(tool, new Set(names.filter(isSecret)))
  return compiled.ok ? compiled.value : template
}

const ARGUMENTS = { rootName: 'the arguments', schemaName: 'inputSchema' }
const PARAMETERS = { ...ARGUMENTS, schemaName: 'the schema of its parameters' }
const RESULT = { rootName: 'the result', schemaName: 'outputSchema' }

/** Prepares the parts of a call that do not depend on its arguments. */
export const planCall = (
  tool: ToolDefinition,
  compiled: CompiledDefinition,
  bindings: Bindings,
  globals: OpenedGlobals,
  limits: CallLimits,
  shapingContext: ShapingContext,
): CallPlan => {
  const { createCheck, createTrim } = shapingContext.schemaChecks
  const resolution = planResolution(compiled, bindings, globals)
  // Bindings are checked when saved, and checked again here because the URL may have been edited since.
  const risk = findSecretAtRisk(compiled, tool, bindings, key => globals.secretKeys.has(key))
  const problem = risk === undefined ? resolution.problem : explainSecretAtRisk(risk)
  const ownSchema = tool.inputSchema && exposedSchemaOf(tool, compiled, bindings)
  const inputCheck = ownSchema
    ? createCheck(ownSchema, ARGUMENTS, shapingContext)
    : checkParameters([...resolution.exposed.values()], schema => createCheck(schema, PARAMETERS, shapingContext))
  return {
    organizationId: shapingContext.group,
    resolution: { ...resolution, problem },
    template: templateOf(tool, compiled, bindings, globals),
    masker: globals.masker,
    timeoutMs: Math.min(tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS, limits.maxToolTimeoutMs),
    retries: tool.retries ?? 0,
    maxResponseBytes: limits.maxResponseBytes,
    inputCheck: problem === undefined ? inputCheck : undefined,
    outputTrim: tool.outputSchema && createTrim(tool.outputSchema, RESULT, shapingContext),
    shaping: planShaping(tool, shapingContext, limits.maxResponseBytes),
    cursor: planCursor(tool.pagination, shapingContext),
    mayReach: reachOf(tool),
    credentials: listCredentials(compiled, bindings, globals.findCredential, key => globals.values.get(key)),
  }
}

type PlanSource = { tool: ToolDefinition; bindings: Bindings }

/**
 * Returns a function that builds the call plan on first use. Most tools of a server are never called, so until first
 * use only a JSON string is in memory, a tenth of the plan's size.
 */
export const planOnce = (
  { tool: { id, toolkitId, originId, createdAt, updatedAt, description, annotations, ...tool }, bindings }: Instance,
  globals: OpenedGlobals,
  limits: CallLimits,
  shapingContext: ShapingContext,
): (() => CallPlan) => {
  const source = JSON.stringify({ tool, bindings } satisfies PlanSource)
  return once(() => {
    const plain: PlanSource = JSON.parse(source)
    const compiled = checkDefinition(plain.tool)
    if (!compiled.ok) throw new Error(`the tool ${plain.tool.name} no longer compiles`)
    return planCall(plain.tool, compiled.value, plain.bindings, globals, limits, shapingContext)
  })
}
