import { isDeepStrictEqual } from 'node:util'
import { removeSends } from '../history/response-sizes.store.ts'
import type { Transaction } from '../lib/db/client.ts'
import { rethrowTaken } from '../lib/db/failures.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay, organizationForNew, organizationIdsOf } from '../lib/kernel/actor.ts'
import { assertUnchangedSince, changedMeanwhile, type Unchanged } from '../lib/kernel/conflicts.ts'
import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import { definedFields, orThrow, withoutNulls } from '../lib/kernel/missing.ts'
import { mapInTurns } from '../lib/worker/pause.ts'
import { NEWEST_RULES } from '../templates/template.ts'
import { type CheckedSchemas, findSchemaErrors } from './schemas/saved-schemas.ts'
import type { SchemaChecks } from './schemas/schema-check.ts'
import { isSameDocument, parseDocument, toStored } from './stored-definition.ts'
import type { Tool, ToolDefinition, Toolkit } from './tool.ts'
import { assertRoomInToolkit, type PreparedTool, prepareTool } from './tool-batch.ts'
import {
  assertDefinition,
  assertDefinitionSize,
  type CompiledDefinition,
  withoutLostPagination,
  withoutLostParameters,
  withoutRepeatedDefaults,
} from './tool-definition.ts'
import { uniqueToolName } from './tool-names.ts'
import {
  addToolkit,
  assertUnused,
  getToolkitForChange,
  type ToolkitServiceParts,
  toolkitNotFound,
} from './toolkits.service.ts'
import { findUsableToolkit, touchToolkit } from './toolkits.store.ts'
import * as store from './tools.store.ts'

const toolNotFound = () => new AppError('not_found', 'Tool not found.')

const isElsewhere = (name: string, isForeign: boolean): AppError => {
  const place = isForeign ? 'a toolkit of another organization' : 'another toolkit'
  return new AppError('conflict', `The tool "${name}" was already restored. It is now in ${place}.`)
}

const nameFor = ({ name }: Tool): string => `the tool "${name}"`

/** A tool that was deleted. */
export type DeletedTool = Pick<Tool, 'id' | 'createdAt'> & { definition: ToolDefinition }

/** `allowsInvalid` is whether a tool may be saved although its template or a schema is invalid. */
export type SaveOptions = { allowsInvalid?: boolean | undefined }

/** Fields whose errors only keep a tool from being used. */
const REQUEST_FIELD = /^(?:url|headers|body|parameters|inputSchema|outputSchema)(?![A-Za-z])/
/** Maximum length of a reason, in characters. */
const MAX_PROBLEM_CHARS = 500

/** Returns whether a tool was refused only because its template or a schema is invalid. */
export const isOnlyInvalid = ({ code, errors = [] }: AppError): boolean =>
  code === 'invalid_request' && errors.length > 0 && errors.every(({ path }) => REQUEST_FIELD.test(path))

/** Returns why a refused tool cannot be used. Rethrows the error if the tool cannot be saved either. */
const problemIn = (error: unknown): string => {
  const [first] = error instanceof AppError && isOnlyInvalid(error) ? (error.errors ?? []) : []
  if (first === undefined) throw error
  return `${first.path}: ${first.message}`.slice(0, MAX_PROBLEM_CHARS)
}

/** Changes to a tool's fields: undefined keeps the value, and null removes it. */
export type ToolPatch = { [Field in keyof ToolDefinition]?: ToolDefinition[Field] | null | undefined }

/**
 * Applies a patch and drops the metadata of parameters that no longer exist. The result follows the newest template
 * rules.
 */
const applyPatch = ({ problem: _problem, ...tool }: Tool, patch: ToolPatch): ToolDefinition => {
  const merged = withoutNulls({ ...tool, ...definedFields(patch) })
  const { name = tool.name, title, description } = merged
  const parsed = { ...parseDocument({ ...merged, templateRules: NEWEST_RULES }), name, title, description }
  const edited = patch.pagination ? parsed : withoutLostPagination(parsed)
  return patch.parameters ? withoutRepeatedDefaults(edited) : withoutLostParameters(edited)
}

const isSame = (one: ToolDefinition, other: ToolDefinition): boolean =>
  isDeepStrictEqual(toStored(one), toStored(other))

type ToolServiceParts = ToolkitServiceParts & {
  maxTimeoutMs: number
  schemaChecks: Pick<SchemaChecks, 'findProblem' | 'createCheck'>
}

/** The servers that use a tool are not always open to who edits it. */
const mustBeValid = (cause: unknown): AppError =>
  new AppError('invalid_request', 'A server uses this tool, so it must be valid.', { cause })

export const createToolService = ({ db, changes, uses, maxTimeoutMs, schemaChecks }: ToolServiceParts) => {
  /** Checks everything but the schemas, whose errors are given. */
  const assertWithSchemas = (
    definition: ToolDefinition,
    schemaErrors: readonly FieldError[] = [],
  ): CompiledDefinition => {
    assertDefinitionSize(definition)
    const compiled = assertDefinition(definition, schemaErrors)
    if (definition.timeoutMs === undefined || definition.timeoutMs <= maxTimeoutMs) return compiled
    throw new AppError(
      'invalid_request',
      `A tool's timeout can be at most ${maxTimeoutMs} ms (PATCHBAY_MAX_TOOL_TIMEOUT_MS).`,
      {
        errors: [{ path: 'timeoutMs', message: `must be at most ${maxTimeoutMs} (PATCHBAY_MAX_TOOL_TIMEOUT_MS)` }],
      },
    )
  }

  const assertTool = async (
    actor: Actor,
    organizationId: string,
    definition: ToolDefinition,
    saved?: CheckedSchemas,
  ): Promise<CompiledDefinition> => {
    assertDefinitionSize(definition)
    const tenant = { owner: actor.userId, group: organizationId }
    return assertWithSchemas(definition, await findSchemaErrors(schemaChecks, definition, tenant, saved))
  }

  /** Like `assertTool`. If the tool may be invalid, returns it with the reason why it cannot be used. */
  const checkTool = async (
    actor: Actor,
    organizationId: string,
    definition: ToolDefinition,
    { allowsInvalid = false, saved }: SaveOptions & { saved?: CheckedSchemas | undefined },
  ): Promise<{ problem?: string; refusal?: unknown }> => {
    assertDefinitionSize(definition)
    try {
      await assertTool(actor, organizationId, definition, saved)
      return {}
    } catch (refusal) {
      if (!allowsInvalid) throw refusal
      return { problem: problemIn(refusal), refusal }
    }
  }

  const findForChange = async (tx: Transaction, actor: Actor, id: string) => {
    const found = orThrow(await store.findTool(tx, id, organizationIdsOf(actor)), toolNotFound)
    assertMay(actor, found.organizationId, 'build')
    return found
  }
  const getForChange = async (tx: Transaction, actor: Actor, id: string): Promise<Tool> =>
    (await findForChange(tx, actor, id)).tool

  return {
    /** Maximum timeout of a tool, from the settings. */
    maxTimeoutMs,

    /**
     * Checks an unsaved tool exactly as saving would. Does not check schemas that equal those of `saved`. Throws
     * `invalid_request`. Must not be called in a transaction, because checking schemas may take seconds.
     */
    assertTool,

    /**
     * Checks tools whose schemas an import has checked, before the transaction that saves them. Yields to the event loop.
     * Throws `invalid_request` and names the tool.
     */
    prepareTools: (definitions: readonly ToolDefinition[]): Promise<PreparedTool[]> =>
      mapInTurns(definitions, definition => prepareTool(definition, assertWithSchemas)),

    /** Returns the toolkit if the actor may save tools in it. */
    getToolkitForTools: (actor: Actor, toolkitId: string): Promise<Toolkit> =>
      getToolkitForChange(db, actor, toolkitId),

    createTool: async (
      actor: Actor,
      toolkitId: string,
      definition: ToolDefinition,
      options: SaveOptions = {},
    ): Promise<Tool> => {
      const { organizationId } = await getToolkitForChange(db, actor, toolkitId)
      const { problem } = await checkTool(actor, organizationId, definition, options)
      return changes
        .commit(async (tx, announce) => {
          await getToolkitForChange(tx, actor, toolkitId)
          await assertRoomInToolkit(tx, toolkitId)
          const tool = await store.createTool(tx, toolkitId, { ...definition, problem })
          await touchToolkit(tx, toolkitId)
          announce({ type: 'toolkit_changed', toolkitId })
          return tool
        })
        .catch(rethrowTaken('toolkit', 'a tool', definition.name))
    },

    /** Returns the tool with the same name and content. For a form that is sent twice, this is the saved tool. */
    findSameTool: async (actor: Actor, toolkitId: string, definition: ToolDefinition): Promise<Tool | undefined> => {
      await getToolkitForChange(db, actor, toolkitId)
      const found = await store.findToolByName(db, toolkitId, definition.name)
      return found !== undefined && isSame({ ...found, problem: undefined }, definition) ? found : undefined
    },

    /**
     * Creates a tool in a new private toolkit. If a toolkit with this title already has the same tool, returns that
     * tool, so that sending a form twice creates only one of each.
     */
    createToolWithToolkit: async (
      actor: Actor,
      toolkit: { title: string; organizationId: string | undefined },
      definition: ToolDefinition,
      options: SaveOptions = {},
    ): Promise<Tool> => {
      const organizationId = organizationForNew(actor, toolkit.organizationId)
      const { problem } = await checkTool(actor, organizationId, definition, options)
      const { title } = toolkit
      return changes.commit(async (tx, announce) => {
        const known = await store.findToolInToolkitTitled(tx, { organizationId, title, name: definition.name })
        if (known !== undefined && isSame({ ...known, problem: undefined }, definition)) return known
        const fields = { organizationId, title, description: undefined, visibility: 'private' } as const
        const created = await addToolkit(tx, actor, fields)
        const tool = await store.createTool(tx, created.id, { ...definition, problem })
        announce({ type: 'toolkit_changed', toolkitId: created.id })
        return tool
      })
    },

    /** Copies a tool within its toolkit, under a new name. */
    duplicateTool: (actor: Actor, id: string): Promise<Tool> =>
      changes.commit(async (tx, announce) => {
        const { toolkitId, ...tool } = await getForChange(tx, actor, id)
        await assertRoomInToolkit(tx, toolkitId)
        const name = uniqueToolName(tool.name, new Set(await store.listToolNames(tx, toolkitId)))
        const copy = await store.createTool(tx, toolkitId, { ...tool, name })
        await touchToolkit(tx, toolkitId)
        announce({ type: 'toolkit_changed', toolkitId })
        return copy
      }),

    /** Returns a tool of the actor's organizations or of a public toolkit. */
    getTool: async (actor: Actor, id: string): Promise<Tool> =>
      orThrow(await store.findReadableTool(db, id, organizationIdsOf(actor)), toolNotFound),

    /** Returns a tool that the actor may edit. */
    getOwnTool: (actor: Actor, id: string): Promise<Tool> => getForChange(db, actor, id),

    listTools: async (actor: Actor, toolkitId: string, page: IdPage): Promise<Tool[]> => {
      orThrow(await findUsableToolkit(db, toolkitId, organizationIdsOf(actor)), toolkitNotFound)
      return store.listTools(db, toolkitId, page)
    },

    /**
     * Throws `conflict` with the path `version` if the tool has changed since `ifUnchangedSince`. A tool that servers use
     * must be valid.
     */
    updateTool: async (
      actor: Actor,
      id: string,
      patch: ToolPatch,
      { ifUnchangedSince, allowsInvalid }: Unchanged & SaveOptions = {},
    ): Promise<Tool> => {
      const patched = (tool: Tool): ToolDefinition => {
        assertUnchangedSince(nameFor(tool), tool.updatedAt, { ifUnchangedSince })
        return applyPatch(tool, patch)
      }
      const { tool: before, organizationId } = await findForChange(db, actor, id)
      const checked = { allowsInvalid, saved: before.problem === undefined ? before : undefined }
      const { problem, refusal } = await checkTool(actor, organizationId, patched(before), checked)
      return changes
        .commit(async (tx, announce) => {
          const tool = await getForChange(tx, actor, id)
          const definition = patched(tool)
          // Checked again because the tool may have changed meanwhile. Its schemas are those of the patch or were saved.
          if (problem === undefined) assertWithSchemas(definition)
          else if ((await uses.ofTools(tx, [id])).has(id)) throw mustBeValid(refusal)
          const written = { ...definition, problem }
          const updated = orThrow(await store.updateVersion(tx, tool, written, ifUnchangedSince !== undefined), () =>
            changedMeanwhile(nameFor(tool)),
          )
          if (!isSameDocument(tool, updated)) await removeSends(tx, [id])
          await touchToolkit(tx, tool.toolkitId)
          announce({ type: 'toolkit_changed', toolkitId: tool.toolkitId })
          return updated
        })
        .catch(rethrowTaken('toolkit', 'a tool', patch.name ?? ''))
    },

    /** Throws `conflict` with the names of the organization's servers that use the tool. */
    removeTool: (actor: Actor, id: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const tool = await getForChange(tx, actor, id)
        await assertUnused('tool', uses.ofTools, tx, id)
        await store.removeTool(tx, id)
        await touchToolkit(tx, tool.toolkitId)
        announce({ type: 'toolkit_changed', toolkitId: tool.toolkitId })
      }),

    /**
     * Creates deleted tools again with their IDs, all or none. Skips those that are there again. Throws `conflict` if a
     * name is taken or a tool is elsewhere by now, and checks each tool as saving would: the settings may have changed.
     */
    restoreTools: async (actor: Actor, toolkitId: string, deleted: readonly DeletedTool[]): Promise<void> => {
      const { organizationId } = await getToolkitForChange(db, actor, toolkitId)
      const checked: DeletedTool[] = []
      for (const tool of deleted) {
        const { problem: before, ...definition } = tool.definition
        const saved = before === undefined ? definition : undefined
        const { problem } = await checkTool(actor, organizationId, definition, { allowsInvalid: true, saved })
        checked.push({ ...tool, definition: { ...definition, problem } })
      }
      await changes.commit(async (tx, announce) => {
        const toolkit = await getToolkitForChange(tx, actor, toolkitId)
        const there = await store.listPlaces(
          tx,
          checked.map(({ id }) => id),
        )
        for (const { id, createdAt, definition } of checked) {
          const place = there.get(id)
          if (place?.toolkitId === toolkitId) continue
          if (place !== undefined) {
            throw isElsewhere(definition.name, place.organizationId !== toolkit.organizationId)
          }
          await assertRoomInToolkit(tx, toolkitId)
          await store
            .createTool(tx, toolkitId, definition, { id, createdAt })
            .catch(rethrowTaken('toolkit', 'a tool', definition.name))
        }
        await touchToolkit(tx, toolkitId)
        announce({ type: 'toolkit_changed', toolkitId })
      })
    },
  }
}

export type ToolService = ReturnType<typeof createToolService>
