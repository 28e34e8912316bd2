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
import { openGlobals } from './compile-server.ts'
import { type ExecutionParts, type OpenedGlobals, planCall } from './compile-tool.ts'
import { toCurl } from './curl.ts'
import { type CallPlan, maskRequest, performCall, prepareRequest } from './perform-call.ts'
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
}

/** Arguments are the caller's; parameters that none was given for take the server's global of their name, if there is one. */
export const bindingsByName = (names: readonly string[], args: JsonObject, globals: OpenedGlobals): Bindings =>
  Object.fromEntries(
    names.flatMap(name =>
      !Object.hasOwn(args, name) && globals.values.has(name) ? [[name, { source: 'server', key: name } as const]] : [],
    ),
  )

type Wiring = { globals: OpenedGlobals; instance: Instance | undefined }

export const createToolDrafts = (
  parts: Pick<ExecutionParts, 'http' | 'limits' | 'onInternalError'> & {
    db: Database
    sealing: Sealing
    tools: ToolService
  },
) => {
  const { db, sealing, tools, http, limits, onInternalError } = parts

  /** Whoever could save it there may try it. */
  const findOrganizationId = async (actor: Actor, draft: ToolDraft): Promise<string> => {
    if (draft.toolkitId === undefined) return organizationForNew(actor, draft.organizationId)
    return (await tools.getToolkitForTools(actor, draft.toolkitId)).organizationId
  }

  /** Secrets stay within their organization, whatever others the actor belongs to. */
  const findWiring = async (actor: Actor, draft: ToolDraft): Promise<Wiring> => {
    const { serverId, toolId } = draft
    const organizationId = await findOrganizationId(actor, draft)
    if (serverId === undefined) return { globals: openGlobals([], sealing), instance: undefined }
    const server = await getServerFor(db, actor, serverId, 'build')
    if (server.organizationId !== organizationId) throw new AppError('not_found', 'There is no such server.')
    const instances = toolId === undefined ? [] : await listInstancesOfTool(db, serverId, toolId)
    return { globals: openGlobals(await listGlobals(db, serverId), sealing), instance: instances[0] }
  }

  const wire = ({ definition, args }: ToolDraft, compiled: CompiledDefinition, { globals, instance }: Wiring) => {
    const names = compiled.parameters.map(({ parameter }) => parameter.name)
    const bindings = instance?.bindings ?? bindingsByName(names, args, globals)
    const exposed = Object.entries(args).filter(([name]) => bindingOf(bindings, name).source === 'exposed')
    const findPlan = (): CallPlan => planCall(definition, compiled, bindings, globals, limits)
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
      const { bindings, findPlan, exposedArgs } = wire(draft, compiled, wiring)
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
      }
    },

    /** Sends a draft once, under the checks that saving it would make; nothing is recorded. */
    sendDraft: async (actor: Actor, draft: ToolDraft, signal: AbortSignal): Promise<ToolTest> => {
      const wiring = await findWiring(actor, draft)
      const compiled = tools.assertTool(draft.definition)
      const { findPlan, exposedArgs } = wire(draft, compiled, wiring)
      return showTest(await performCall(findPlan, http, exposedArgs, signal, onInternalError), wiring.globals.masker)
    },
  }
}
