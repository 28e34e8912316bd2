import { type Actor, AppError, type JsonObject, organizationForNew } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import {
  type Bindings,
  bindingOf,
  exposedSchemaOf,
  getServerFor,
  type Instance,
  listGlobals,
  listInstancesOfTool,
} from '../servers/index.ts'
import { type CompiledDefinition, checkDefinition, type ToolDefinition, type ToolService } from '../toolkits/index.ts'
import { createAnswerSamples } from './answer-samples.ts'
import { openGlobals } from './compile-server.ts'
import { type ExecutionParts, type OpenedGlobals, planCall } from './compile-tool.ts'
import { toCurl } from './curl.ts'
import { type CallPlan, maskRequest, performCall, prepareRequest } from './perform-call.ts'
import { previewShaping, type ShapingPlace, type ShapingPreview } from './shape-by-rules.ts'
import { showTest, type ToolTest } from './tool-test.ts'

/** A tool as it is being written, and what it is tried with. */
export type ToolDraft = {
  definition: ToolDefinition
  /** The toolkit it is or would be saved in; one that is made with it has none yet, but an organization. */
  toolkitId: string | undefined
  organizationId: string | undefined
  /** The saved tool that it is a version of: a server that offers that one is tried with the wiring there. */
  toolId: string | undefined
  /** Whose globals and bindings it is tried with; without one the values alone. */
  serverId: string | undefined
  /** By parameter; those of parameters that the wiring fills are left aside. */
  args: JsonObject
  /** Of the answer that what is made of answers is shown with: it came of sending a draft. */
  sampleId: string | undefined
}

/** A draft as it would be called; secrets masked. */
export type DraftPreview = {
  compiled: CompiledDefinition
  bindings: Bindings
  secretKeys: ReadonlySet<string>
  /** What the model is told of it. */
  seen: { name: string; description: string | undefined; inputSchema: JsonObject }
  request: ToolTest['request']
  curl: string | undefined
  /** Why the values make no request, while they make none. */
  problem: string | undefined
  /** Undefined while there is no answer to show it with. */
  shaping: ShapingPreview | undefined
}

/** What came of sending a draft; `sampleId`: of its answer, for looking at what is made of it. */
export type DraftTest = ToolTest & { sampleId: string | undefined }

/** Arguments are the caller's; parameters that none was given for take the server's global of their name, if there is one. */
export const bindingsByName = (names: readonly string[], args: JsonObject, globals: OpenedGlobals): Bindings =>
  Object.fromEntries(
    names.flatMap(name =>
      !Object.hasOwn(args, name) && globals.values.has(name) ? [[name, { source: 'server', key: name } as const]] : [],
    ),
  )

type Wiring = { globals: OpenedGlobals; instance: Instance | undefined; compactTables: boolean }

export const createToolDrafts = (
  parts: Pick<ExecutionParts, 'http' | 'limits' | 'shaper' | 'onInternalError'> & {
    db: Database
    sealing: Sealing
    tools: ToolService
  },
) => {
  const { db, sealing, tools, http, limits, shaper, onInternalError } = parts
  const samples = createAnswerSamples()

  /** Whoever could save it there may try it. */
  const findOrganizationId = async (actor: Actor, draft: ToolDraft): Promise<string> => {
    if (draft.toolkitId === undefined) return organizationForNew(actor, draft.organizationId)
    return (await tools.getToolkitForTools(actor, draft.toolkitId)).organizationId
  }

  /** Secrets stay within their organization, whatever others the actor belongs to. */
  const findWiring = async (actor: Actor, draft: ToolDraft): Promise<Wiring> => {
    const { serverId, toolId } = draft
    const organizationId = await findOrganizationId(actor, draft)
    if (serverId === undefined) return { globals: openGlobals([], sealing), instance: undefined, compactTables: false }
    const server = await getServerFor(db, actor, serverId, 'build')
    if (server.organizationId !== organizationId) throw new AppError('not_found', 'There is no such server.')
    const instances = toolId === undefined ? [] : await listInstancesOfTool(db, serverId, toolId)
    const globals = openGlobals(await listGlobals(db, serverId), sealing)
    return { globals, instance: instances[0], compactTables: server.compactTables }
  }

  const placeOf = ({ userId }: Actor, { compactTables }: Wiring): ShapingPlace => ({
    shaper,
    owner: userId,
    compactTables,
  })

  const findShaping = async (actor: Actor, draft: ToolDraft, wiring: Wiring): Promise<ShapingPreview | undefined> => {
    const { definition, sampleId } = draft
    const sample = sampleId === undefined ? undefined : samples.find(actor.userId, sampleId)
    if (sample === undefined) return undefined
    return previewShaping(sample, definition, placeOf(actor, wiring), limits.maxResponseBytes)
  }

  const wire = (actor: Actor, { definition, args }: ToolDraft, compiled: CompiledDefinition, wiring: Wiring) => {
    const { globals, instance } = wiring
    const names = compiled.parameters.map(({ parameter }) => parameter.name)
    const bindings = instance?.bindings ?? bindingsByName(names, args, globals)
    const exposed = Object.entries(args).filter(([name]) => bindingOf(bindings, name).source === 'exposed')
    const findPlan = (): CallPlan => planCall(definition, compiled, bindings, globals, limits, placeOf(actor, wiring))
    return { bindings, findPlan, exposedArgs: Object.fromEntries(exposed) }
  }

  return {
    /** Undefined while the template or what is said of its parameters is wrong: then there is nothing to preview. */
    previewDraft: async (actor: Actor, draft: ToolDraft): Promise<DraftPreview | undefined> => {
      const wiring = await findWiring(actor, draft)
      const { definition } = draft
      const checked = checkDefinition(definition)
      if (!checked.ok) return undefined
      const compiled = checked.value
      const { bindings, findPlan, exposedArgs } = wire(actor, draft, compiled, wiring)
      // A schema of the builder's own is checked when it is sent or saved: compiling it takes its time.
      const prepared = prepareRequest({ ...findPlan(), inputCheck: undefined }, exposedArgs)
      const request = prepared.ok ? maskRequest(prepared.value, wiring.globals.masker) : undefined
      return {
        compiled,
        bindings,
        secretKeys: wiring.globals.secretKeys,
        seen: {
          name: wiring.instance?.name ?? definition.name,
          description: wiring.instance?.description ?? definition.description,
          inputSchema: exposedSchemaOf(definition, compiled, bindings),
        },
        request,
        curl: request && toCurl(request),
        problem: prepared.ok ? undefined : prepared.error,
        shaping: await findShaping(actor, draft, wiring),
      }
    },

    /** Sends a draft once, under the checks that saving it would make; nothing is recorded. */
    sendDraft: async (actor: Actor, draft: ToolDraft, signal: AbortSignal): Promise<DraftTest> => {
      const wiring = await findWiring(actor, draft)
      const compiled = tools.assertTool(draft.definition)
      const { findPlan, exposedArgs } = wire(actor, draft, compiled, wiring)
      const outcome = await performCall(findPlan, http, exposedArgs, signal, onInternalError)
      const { masker } = wiring.globals
      return { ...showTest(outcome, masker), sampleId: samples.keep(actor.userId, outcome.response, masker) }
    },
  }
}
