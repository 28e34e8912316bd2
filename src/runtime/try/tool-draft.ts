import { findProposedSchema } from '../../imports/proposed-schema.store.ts'
import { type Actor, organizationForNew } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import { maskRequest } from '../../results/mask/record-call.ts'
import { createResponseSamples } from '../../results/shape/response-samples.ts'
import { previewShaping, type ShapingContext, type ShapingPreview } from '../../results/shape/shape-by-rules.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import { exposedSchemaOf } from '../../servers/bindings/exposed-schema.ts'
import { freeKey } from '../../servers/bindings/taken-keys.ts'
import type { Binding, Bindings, Instance } from '../../servers/server.ts'
import { getServerFor } from '../../servers/servers.service.ts'
import { listInstancesOfTool } from '../../servers/tools/instances.store.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { SchemaChecks } from '../../tools/schemas/schema-check.ts'
import { isSameDocument } from '../../tools/stored-definition.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { type CompiledDefinition, checkDefinition } from '../../tools/tool-definition.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import type { ExecutionParts } from '../compile-tool.ts'
import { type GlobalParts, loadOpenedGlobals, NO_GLOBALS, type OpenedGlobals } from '../opened-globals.ts'
import { performCall, renderCall } from '../perform-call.ts'
import { type CallPlan, planCall } from '../plan-call.ts'
import { toCurl } from './curl.ts'
import { findMedia, type ResponseMedia } from './response-media.ts'
import type { SendSizes } from './send-sizes.ts'
import { showTest, type ToolTest } from './tool-test.ts'

/** A tool that is being edited, and the values to try it with. */
export type ToolDraft = {
  definition: ToolDefinition
  /** The tool's toolkit. Undefined if saving would create a new toolkit in the organization below. */
  toolkitId: string | undefined
  organizationId: string | undefined
  /** The saved tool that is being edited. If it is on the server, its bindings there are used. */
  toolId: string | undefined
  /** The server whose globals and bindings are used, if one is selected. */
  serverId: string | undefined
  /** Values by parameter name. Values of bound parameters are ignored. */
  args: JsonObject
  /** Identifies the stored response of an earlier test, for the preview of shaping. */
  sampleId: string | undefined
}

/** A preview of the call that a draft would make, with secrets masked. */
export type DraftPreview = {
  compiled: CompiledDefinition
  bindings: Bindings
  secretKeys: ReadonlySet<string>
  /** The tool as the model sees it. */
  seen: { name: string; description: string | undefined; inputSchema: JsonObject }
  request: ToolTest['request']
  curl: string | undefined
  /** Why the values do not make a valid request. Undefined if they do. */
  problem: string | undefined
  /** The preview of shaping. Undefined if there is no stored response. */
  shaping: ShapingPreview | undefined
}

/**
 * The result of sending a draft. `sampleId` identifies the stored response, for the preview of shaping. `proposedSchema`
 * is an output schema for the tool, which the response matches.
 */
export type DraftTest = ToolTest & {
  sampleId: string | undefined
  media: ResponseMedia | undefined
  proposedSchema?: JsonObject | undefined
}

/**
 * Builds bindings for a test: parameters without an argument use their fixed value, the server's global that their
 * default binding names, or else the one of the same name, if it exists. A key that is taken is replaced as when the tool
 * is added to the server.
 */
export const bindingsForTest = (
  { url }: Pick<ToolDefinition, 'url'>,
  { parameters }: CompiledDefinition,
  args: JsonObject,
  globals: OpenedGlobals,
): Bindings => {
  const known = [...globals.secretKeys].map(key => {
    const { origins = [] } = globals.findCredential(key) ?? {}
    return { key, isSecret: true, origins: origins.length === 0 ? undefined : origins }
  })
  return Object.fromEntries(
    parameters.flatMap(({ parameter: { name }, meta: { binding } }): [string, Binding][] => {
      if (Object.hasOwn(args, name)) return []
      if (binding?.source === 'instance') return [[name, binding]]
      const declared = binding?.key ?? name
      const own = secretKeyOf(binding) === undefined ? [] : [freeKey(declared, url, known), ownedKey(declared, url)]
      const key = [...own, declared, name].find(one => globals.values.has(one))
      return key === undefined ? [] : [[name, { source: 'server', key }]]
    }),
  )
}

/** Leaves out what was typed, or is the example, for a parameter that has a fixed value now. */
const withoutFixed = ({ parameters }: ToolDefinition, args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([name]) => parameters[name]?.binding?.source !== 'instance'))

type Wiring = {
  organizationId: string
  globals: OpenedGlobals
  instance: Instance | undefined
  compactTables: boolean
}

export type ToolDraftParts = Pick<ExecutionParts, 'http' | 'limits' | 'onInternalError'> &
  GlobalParts & {
    shaper: ShapingContext['shaper']
    schemaChecks: SchemaChecks
    tools: ToolService
    sampleBytes: number
    sendSizes: SendSizes
  }

export const createToolDrafts = (parts: ToolDraftParts) => {
  const { db, tools, http, limits, shaper, schemaChecks, onInternalError } = parts
  const samples = createResponseSamples(parts.sampleBytes)

  /** Throws unless the actor may save the draft. Anyone who may save a draft may also try it. */
  const findOrganizationId = async (actor: Actor, draft: ToolDraft): Promise<string> => {
    if (draft.toolkitId === undefined) return organizationForNew(actor, draft.organizationId)
    return (await tools.getToolkitForTools(actor, draft.toolkitId)).organizationId
  }

  /**
   * The server and the toolkit must belong to the same organization, so that secrets stay within it even if the actor
   * belongs to several.
   */
  const findWiring = async (actor: Actor, draft: ToolDraft): Promise<Wiring> => {
    const { serverId, toolId } = draft
    const organizationId = await findOrganizationId(actor, draft)
    if (serverId === undefined) {
      return { organizationId, globals: NO_GLOBALS, instance: undefined, compactTables: false }
    }
    const server = await getServerFor(db, actor, serverId, 'build')
    if (server.organizationId !== organizationId) throw new AppError('not_found', 'Server not found.')
    const instances = toolId === undefined ? [] : await listInstancesOfTool(db, serverId, toolId)
    const globals = await loadOpenedGlobals(parts, server)
    return { organizationId, globals, instance: instances[0], compactTables: server.compactTables }
  }

  const shapingContextOf = ({ userId }: Actor, { organizationId, compactTables }: Wiring): ShapingContext => ({
    shaper,
    schemaChecks,
    owner: userId,
    group: organizationId,
    compactTables,
  })

  const findShaping = async (actor: Actor, draft: ToolDraft, wiring: Wiring): Promise<ShapingPreview | undefined> => {
    const { definition, sampleId } = draft
    const sample = sampleId === undefined ? undefined : samples.find(actor.userId, sampleId)
    if (sample === undefined) return undefined
    return previewShaping(sample, definition, shapingContextOf(actor, wiring), limits.maxResponseBytes)
  }

  const wire = (actor: Actor, { definition, args }: ToolDraft, compiled: CompiledDefinition, wiring: Wiring) => {
    const { globals, instance } = wiring
    const bindings =
      instance?.bindings ?? bindingsForTest(definition, compiled, withoutFixed(definition, args), globals)
    const exposed = Object.entries(args).filter(([name]) => bindingOf(bindings, name).source === 'exposed')
    const getPlan = (): CallPlan =>
      planCall(definition, compiled, bindings, globals, limits, shapingContextOf(actor, wiring))
    return { bindings, getPlan, exposedArgs: Object.fromEntries(exposed) }
  }

  return {
    /** Previews a draft. Returns undefined if the template or its parameters are invalid. */
    previewDraft: async (actor: Actor, draft: ToolDraft): Promise<DraftPreview | undefined> => {
      const wiring = await findWiring(actor, draft)
      const { definition } = draft
      const checked = checkDefinition(definition)
      if (!checked.ok) return undefined
      const compiled = checked.value
      const { bindings, getPlan, exposedArgs } = wire(actor, draft, compiled, wiring)
      // Compiling a custom schema takes time, so it is checked only when the draft is sent or saved.
      const prepared = renderCall(getPlan(), exposedArgs)
      const shown = wiring.instance ? bindings : { ...defaultBindingsOf(definition), ...bindings }
      const request = prepared.ok ? maskRequest(prepared.value, wiring.globals.masker) : undefined
      return {
        compiled,
        bindings,
        secretKeys: wiring.globals.secretKeys,
        seen: {
          name: wiring.instance?.name ?? definition.name,
          description: wiring.instance?.description ?? definition.description,
          inputSchema: exposedSchemaOf(definition, compiled, shown),
        },
        request,
        curl: request && toCurl(request),
        problem: prepared.ok ? undefined : prepared.error.message,
        shaping: await findShaping(actor, draft, wiring),
      }
    },

    /**
     * Sends a draft's request once, after the same checks as when saving. Records only the size of the response, if the
     * draft is saved.
     */
    sendDraft: async (actor: Actor, draft: ToolDraft, signal: AbortSignal): Promise<DraftTest> => {
      const wiring = await findWiring(actor, draft)
      const { definition, toolId } = draft
      const saved = toolId === undefined ? undefined : await tools.getOwnTool(actor, toolId)
      const checked = saved?.problem === undefined ? saved : undefined
      const compiled = await tools.assertTool(actor, wiring.organizationId, definition, checked)
      const hasOwn = definition.outputSchema !== undefined
      const proposed = saved === undefined || hasOwn ? undefined : await findProposedSchema(db, saved.id)
      const tried = proposed === undefined ? draft : { ...draft, definition: { ...definition, outputSchema: proposed } }
      const { getPlan, exposedArgs } = wire(actor, tried, compiled, wiring)
      const called = await performCall(getPlan, http, exposedArgs, signal, onInternalError)
      const outcome = proposed === undefined ? called : { ...called, schemaMismatch: undefined }
      const isMatch = called.callResult === 'success' && called.schemaMismatch === undefined
      if (saved !== undefined && isSameDocument(saved, definition)) {
        await parts.sendSizes.note(saved.id, shapingContextOf(actor, wiring), outcome)
      }
      const { masker } = wiring.globals
      const sampleId = await samples.keep(actor.userId, outcome.response, masker, signal)
      const media = await findMedia(outcome.response, masker, signal)
      const proposedSchema = isMatch ? proposed : undefined
      return { ...(await showTest(outcome, masker, signal)), sampleId, media, proposedSchema }
    },
  }
}
