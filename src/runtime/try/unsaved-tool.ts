import type { UnsavedTool } from '../../imports/apply/apply-import.service.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { globalKeysOf } from '../../servers/bindings/bindings.ts'
import { findLacking } from '../../servers/bindings/default-bindings.ts'
import type { Bindings } from '../../servers/server.ts'
import { assertDefinition, type CompiledDefinition } from '../../tools/tool-definition.ts'
import { type GlobalParts, loadOpenedGlobals, type OpenedGlobals, toOpenedGlobals } from '../opened-globals.ts'
import { performCall } from '../perform-call.ts'
import { planCall } from '../plan-call.ts'
import type { ToolDraftParts } from './tool-draft.ts'
import { showTest, type ToolTest } from './tool-test.ts'

type Parts = Pick<ToolDraftParts, 'http' | 'limits' | 'shaper' | 'schemaChecks' | 'onInternalError'> & GlobalParts

/** Returns the bindings that have a value. Arguments come first, and stand in for values that are missing. */
const boundValues = (bindings: Bindings, args: JsonObject, { values }: OpenedGlobals): Bindings =>
  Object.fromEntries(
    Object.entries(bindings).filter(
      ([name, binding]) => !Object.hasOwn(args, name) && [...globalKeysOf(name, binding)].every(key => values.has(key)),
    ),
  )

/** Throws `invalid_request` if a value is missing without which the request cannot be sent. */
const assertComplete = (
  { parameters }: CompiledDefinition,
  bindings: Bindings,
  args: JsonObject,
  { values, secretKeys }: OpenedGlobals,
): void => {
  const isSecretKey = (key: string) => (values.has(key) ? secretKeys.has(key) : undefined)
  const lacking = parameters.flatMap(({ parameter: { name, required }, meta: { binding: declared } }) => {
    const binding = bindings[name]
    if (binding === undefined || Object.hasOwn(args, name)) return []
    return findLacking({ name, required, binding: declared }, binding, isSecretKey) ?? []
  })
  const needed = lacking.filter(({ isNeeded }) => isNeeded)
  if (needed.length === 0) return
  const names = needed.map(({ key, isSecret }) => `the ${isSecret ? 'secret' : 'global'} "${key}"`)
  throw new AppError(
    'invalid_request',
    `Nothing was sent, because ${names.join(' and ')} ${needed.length === 1 ? 'has' : 'have'} no value yet. Fill it in under “URL and auth”, or in the settings of the import with the API.`,
  )
}

export const createUnsavedToolTest = (parts: Parts) => ({
  /** Sends the request of a tool that is not saved yet, with the values that its import would store. */
  testUnsavedTool: async (
    actor: Actor,
    { definition, organizationId, server, given, ...tool }: UnsavedTool,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<ToolTest> => {
    const { shaper, schemaChecks, limits } = parts
    const compiled = assertDefinition(definition)
    const longMasking = parts.longMaskingFor({ owner: actor.userId, group: organizationId })
    const globals =
      server === undefined
        ? toOpenedGlobals({ globals: [], masking: [], storesBodies: false }, parts.sealing, longMasking, given)
        : await loadOpenedGlobals(parts, server, given)
    const compactTables = server?.compactTables ?? false
    const shapingContext = { shaper, schemaChecks, owner: actor.userId, group: organizationId, compactTables }
    assertComplete(compiled, tool.bindings, args, globals)
    const bindings = boundValues(tool.bindings, args, globals)
    const getPlan = () => planCall(definition, compiled, bindings, globals, limits, shapingContext)
    const outcome = await performCall(getPlan, parts.http, args, signal, parts.onInternalError)
    return showTest(outcome, globals.masker, signal)
  },
})
