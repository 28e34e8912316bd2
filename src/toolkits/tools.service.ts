import { type Actor, AppError, assertMay, MAX_TOOLS_PER_TOOLKIT, organizationIdsOf } from '../kernel/index.ts'
import { isUniqueViolation, type Transaction } from '../platform/db/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import {
  assertDefinition,
  assertDefinitionSize,
  withoutLostParameters,
  withoutRepeatedDefaults,
} from './tool-definition.ts'
import { assertUnused, noToolkit, type ToolkitServiceParts } from './toolkits.service.ts'
import { findToolkit, findUsableToolkit, touchToolkit } from './toolkits.store.ts'
import * as store from './tools.store.ts'

/** Changed fields of a tool: what is undefined stays, `null` takes an optional one away. */
export type ToolPatch = { [Field in keyof ToolDefinition]?: ToolDefinition[Field] | null | undefined }

const noTool = () => new AppError('not_found', 'There is no such tool.')

const nameTaken = (name: string) =>
  new AppError('conflict', `This toolkit has a tool named "${name}" already.`, {
    errors: [{ path: 'name', message: 'is taken in this toolkit' }],
  })

const rethrowTaken = (name: string) => (error: unknown) => {
  throw isUniqueViolation(error) ? nameTaken(name) : error
}

const assertRoom = async (tx: Transaction, toolkitId: string): Promise<void> => {
  if ((await store.countTools(tx, toolkitId)) < MAX_TOOLS_PER_TOOLKIT) return
  throw new AppError('limit_exceeded', `A toolkit holds at most ${MAX_TOOLS_PER_TOOLKIT} tools.`)
}

const applyPatch = (tool: Tool, patch: ToolPatch): ToolDefinition => {
  const take = <Field extends keyof ToolDefinition>(field: Field) =>
    patch[field] === undefined ? tool[field] : (patch[field] ?? undefined)
  const edited: ToolDefinition = {
    name: patch.name ?? tool.name,
    title: take('title'),
    description: take('description'),
    method: patch.method ?? tool.method,
    url: patch.url ?? tool.url,
    headers: patch.headers ?? tool.headers,
    body: take('body'),
    timeoutMs: take('timeoutMs'),
    parameters: patch.parameters ?? tool.parameters,
    inputSchema: take('inputSchema'),
    outputSchema: take('outputSchema'),
    annotations: take('annotations'),
    allowedOrigins: take('allowedOrigins'),
  }
  return patch.parameters ? withoutRepeatedDefaults(edited) : withoutLostParameters(edited)
}

export const createToolService = ({
  db,
  changes,
  uses,
  maxTimeoutMs,
}: ToolkitServiceParts & { maxTimeoutMs: number }) => {
  const assertTool = (definition: ToolDefinition): void => {
    assertDefinitionSize(definition)
    assertDefinition(definition)
    if (definition.timeoutMs === undefined || definition.timeoutMs <= maxTimeoutMs) return
    throw new AppError(
      'invalid_request',
      `A tool may take at most ${maxTimeoutMs} ms (PATCHBAY_MAX_TOOL_TIMEOUT_MS).`,
      {
        errors: [{ path: 'timeoutMs', message: `is over ${maxTimeoutMs} (PATCHBAY_MAX_TOOL_TIMEOUT_MS)` }],
      },
    )
  }

  const getForChange = async (tx: Transaction, actor: Actor, id: string): Promise<Tool> => {
    const found = await store.findTool(tx, id, organizationIdsOf(actor))
    if (found === undefined) throw noTool()
    assertMay(actor, found.organizationId, 'build')
    return found.tool
  }

  return {
    createTool: (actor: Actor, toolkitId: string, definition: ToolDefinition): Promise<Tool> => {
      assertTool(definition)
      return changes
        .commit(async (tx, announce) => {
          const toolkit = await findToolkit(tx, toolkitId, organizationIdsOf(actor))
          if (toolkit === undefined) throw noToolkit()
          assertMay(actor, toolkit.organizationId, 'build')
          await assertRoom(tx, toolkitId)
          const tool = await store.createTool(tx, toolkitId, definition)
          await touchToolkit(tx, toolkitId)
          announce({ type: 'toolkit_changed', toolkitId })
          return tool
        })
        .catch(rethrowTaken(definition.name))
    },

    /** One's own, or one of a public toolkit. */
    getTool: async (actor: Actor, id: string): Promise<Tool> => {
      const tool = await store.findReadableTool(db, id, organizationIdsOf(actor))
      if (tool === undefined) throw noTool()
      return tool
    },

    /** One of one's own organization, for who may build: to send it, say. */
    getOwnTool: (actor: Actor, id: string): Promise<Tool> => getForChange(db, actor, id),

    listTools: async (actor: Actor, toolkitId: string, page: IdPage): Promise<Tool[]> => {
      const toolkit = await findUsableToolkit(db, toolkitId, organizationIdsOf(actor))
      if (toolkit === undefined) throw noToolkit()
      return store.listTools(db, toolkitId, page)
    },

    updateTool: (actor: Actor, id: string, patch: ToolPatch): Promise<Tool> =>
      changes
        .commit(async (tx, announce) => {
          const tool = await getForChange(tx, actor, id)
          const definition = applyPatch(tool, patch)
          assertTool(definition)
          const updated = await store.updateTool(tx, id, definition)
          await touchToolkit(tx, tool.toolkitId)
          announce({ type: 'toolkit_changed', toolkitId: tool.toolkitId })
          return updated
        })
        .catch(rethrowTaken(patch.name ?? '')),

    /** Throws `conflict`, naming our servers where it is put to work. */
    removeTool: (actor: Actor, id: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const tool = await getForChange(tx, actor, id)
        assertUnused('tool', await uses.ofTool(tx, id))
        await store.removeTool(tx, id)
        await touchToolkit(tx, tool.toolkitId)
        announce({ type: 'toolkit_changed', toolkitId: tool.toolkitId })
      }),
  }
}

export type ToolService = ReturnType<typeof createToolService>
