import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { Bindings, Server } from '../../servers/server.ts'
import type { ToolDefinition, Toolkit } from '../../tools/tool.ts'
import { addTools, updateTools } from '../../tools/tool-batch.ts'
import { getToolkitForChange } from '../../tools/toolkits.service.ts'
import { touchToolkit } from '../../tools/toolkits.store.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import { isImportedAgain } from '../again/compared-items.store.ts'
import { openSecrets } from '../import-secrets.ts'
import { GENERATOR_VERSION } from '../limits.ts'
import { withoutQuery } from '../source-url.ts'
import * as store from './apply.store.ts'
import { type ImportReport, serverIdsOf, shownReport } from './import-report.ts'
import type { SavedTool } from './lacking-bindings.ts'
import type { GlobalPlan } from './plan-globals.ts'
import { type Generated, newToolOf, type PreparedTools, prepareTools, updatedToolOf } from './prepare-tools.ts'
import { bindingsOn, planForNewServer, planForServer } from './server-globals.ts'
import { createOrigins, type GivenValues } from './wanted-globals.ts'
import { getServerForImport, wireServers } from './wire-server.ts'

const importNotFound = () => new AppError('not_found', 'Import not found.')
const itemNotFound = () => new AppError('not_found', 'The import has no such operation.')

const TOOLKIT_CHANGED =
  'The toolkit has changed since the source was read, so nothing was saved. Read the source again, and apply that import.'

export type ImportApplyingParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  tools: Pick<ToolService, 'prepareTools'>
  maxToolsPerServer: number
}

type Found = { found: store.ApplicableImport; toolkit: Toolkit }

const find = async (tx: Transaction, actor: Actor, id: string): Promise<Found> => {
  const found = orThrow(await store.findApplicable(tx, id, organizationIdsOf(actor)), importNotFound)
  return { found, toolkit: await getToolkitForChange(tx, actor, found.toolkitId) }
}

const assertReady = ({ state, problem }: store.ApplicableImport): void => {
  if (state === 'reading')
    throw new AppError('conflict', 'The source is still being read. Apply the import after that.')
  if (state !== 'failed') return
  throw new AppError('conflict', `The source could not be read, so there is nothing to apply. ${problem ?? ''}`.trim())
}

/** Without a selection, an import of a source that was imported before keeps all tools as they are. */
const assertSelected = async (db: Database, id: string, selected: readonly store.SelectedItem[]): Promise<void> => {
  if (selected.length > 0 || (await isImportedAgain(db, id))) return
  const errors = [{ path: 'select', message: 'is empty' }]
  throw new AppError('invalid_request', 'Select at least one operation.', { errors })
}

/** Throws unless the import and the toolkit are as they were when the tools were prepared. */
const assertUnchanged = ({ found, toolkit }: Found, before: store.ApplicableImport): void => {
  if (found.updatedAt.getTime() !== before.updatedAt.getTime()) {
    throw new AppError('conflict', 'Somebody has changed this import meanwhile. Check it, and apply it again.')
  }
  if (toolkit.updatedAt.getTime() !== found.toolkitUpdatedAt.getTime()) throw new AppError('conflict', TOOLKIT_CHANGED)
}

const toApplied = ({ id, name }: { id: string; name: string }, { key }: { key: string }) => ({ id, name, key })

/** Saves the tools and where they come from. Returns those to add to a server, and the part of the report. */
const saveTools = async (
  tx: Transaction,
  found: store.ApplicableImport,
  { created, updated, unchanged, skipped }: PreparedTools,
) => {
  const { toolkitId } = found
  const changed = await updateTools(tx, toolkitId, updated)
  const added = await addTools(
    tx,
    toolkitId,
    created.map(({ prepared }) => prepared),
  )
  const all = [
    ...updated.map(({ item, prepared, tool: before }, index) => ({ item, prepared, before, tool: changed[index] })),
    ...created.map(({ item, prepared }, index) => ({ item, prepared, before: undefined, tool: added[index] })),
  ].flatMap(({ tool, ...rest }) => (tool === undefined ? [] : [{ ...rest, tool }]))
  const { summary, sha256 } = found
  await store.putToolSources(tx, { title: summary?.title, generator: GENERATOR_VERSION, sha256 }, [
    ...all.map(({ item, tool }) => ({ ...item, toolId: tool.id, base: item.tool })),
    ...unchanged.map(item => ({ ...item, base: item.tool })),
  ])
  await store.putVersion(tx, found, GENERATOR_VERSION)
  await store.putToolkitSource(tx, found)
  const renamed = all.flatMap(({ item: { key }, prepared: { definition }, tool: { name } }) =>
    definition.name === name ? [] : [{ key, from: definition.name, to: name }],
  )
  const saved: SavedTool[] = all.map(({ tool, prepared, before }) => ({ ...tool, prepared, before }))
  const report = {
    created: all.slice(updated.length).map(({ tool, item }) => toApplied(tool, item)),
    updated: all.slice(0, updated.length).map(({ tool, item }) => toApplied(tool, item)),
    unchanged: unchanged.length,
    skipped: [...skipped],
    renamed,
  }
  return { saved, report }
}

const auditImport = (
  tx: Transaction,
  actor: Actor,
  { found, toolkit }: Found,
  { created, updated, server }: ImportReport,
): Promise<void> =>
  writeAudit(tx, {
    action: 'toolkit.imported',
    actor,
    organizationId: toolkit.organizationId,
    target: { type: 'toolkit', id: toolkit.id, name: toolkit.title },
    change: {
      kind: found.kind,
      from: found.sourceUrl === undefined ? (found.sourceName ?? null) : withoutQuery(found.sourceUrl),
      created: created.length,
      updated: updated.length,
      serverId: server?.id ?? null,
    },
  })

/** A tool that is not saved yet, with what it takes to call it as its import would wire it. */
export type UnsavedTool = {
  definition: ToolDefinition
  bindings: Bindings
  organizationId: string
  /** The server whose globals are used. */
  server: Server | undefined
  /** Values that are not stored yet. */
  given: GlobalPlan['created']
}

/** Turns the selected operations of imports into tools. */
export const createImportApplying = ({ db, changes, sealing, tools, maxToolsPerServer }: ImportApplyingParts) => {
  const givenOf = ({ id, summary, settings, sealed }: store.ApplicableImport): GivenValues => ({
    summary,
    settings,
    secrets: openSecrets(sealing, id, sealed),
  })

  const prepare = async ({ found }: Found): Promise<{ given: GivenValues; prepared: PreparedTools }> => {
    const { id, toolkitId } = found
    const selected = await store.listSelected(db, id)
    await assertSelected(db, id, selected)
    const given = givenOf(found)
    return { given, prepared: await prepareTools({ db, tools }, toolkitId, selected, createOrigins(given)) }
  }

  const apply = async (
    tx: Transaction,
    actor: Actor,
    { found, toolkit }: Found,
    { given, prepared }: { given: GivenValues; prepared: PreparedTools },
  ): Promise<ImportReport> => {
    const { saved, report } = await saveTools(tx, found, prepared)
    const choice = found.settings.server
    const wiring = await wireServers(
      tx,
      { actor, sealing, maxToolsPerServer },
      { toolkit, choice, tools: saved, given },
    )
    return { ...report, ...wiring }
  }

  const unsavedToolOf = async (toolkitId: string, item: Generated, given: GivenValues): Promise<ToolDefinition> => {
    const { toolId } = item
    const there =
      toolId === undefined ? undefined : (await store.listToolsToUpdate(db, toolkitId, [toolId])).get(toolId)
    return there === undefined ? newToolOf(item, createOrigins(given)) : updatedToolOf(item, there)
  }

  const show = async (actor: Actor, report: ImportReport): Promise<ImportReport> =>
    shownReport(report, await store.listOpenServers(db, actor, serverIdsOf(report)))

  return {
    /**
     * Creates and updates the tools of the selected operations, all or none, and adds them to the chosen server with
     * their globals. If the source was imported before, notes which version the toolkit has, even without a selection.
     * If the import has been applied, changes nothing and returns what it did then. The report leaves out servers that
     * the actor may not open. Throws `conflict` if the toolkit has changed since the source was read.
     */
    applyImport: async (actor: Actor, id: string): Promise<ImportReport> => {
      const before = await find(db, actor, id)
      if (before.found.report !== undefined) return show(actor, before.found.report)
      assertReady(before.found)
      const ready = await prepare(before)
      const applied = await changes.commit(async (tx, announce) => {
        const now = await find(tx, actor, id)
        if (now.found.report !== undefined) return now.found.report
        assertUnchanged(now, before.found)
        const report = await apply(tx, actor, now, ready)
        await store.markAsApplied(tx, id, report)
        await touchToolkit(tx, now.toolkit.id)
        await auditImport(tx, actor, now, report)
        announce({ type: 'toolkit_changed', toolkitId: now.toolkit.id })
        return report
      })
      return show(actor, applied)
    },

    /** Returns the tool that an operation would become, wired as applying the import would wire it. */
    getUnsavedTool: async (actor: Actor, id: string, key: string): Promise<UnsavedTool> => {
      const { found, toolkit } = await find(db, actor, id)
      const item = orThrow(await store.findItem(db, id, key), itemNotFound)
      if (item.tool === undefined) throw new AppError('invalid_request', `It cannot be tested. ${item.reason ?? ''}`)
      const given = givenOf(found)
      const definition = await unsavedToolOf(found.toolkitId, { ...item, tool: item.tool }, given)
      const choice = found.settings.server
      const server = typeof choice === 'string' ? await getServerForImport(db, actor, toolkit, choice) : undefined
      const plan =
        server === undefined
          ? planForNewServer([definition], given)
          : await planForServer(db, { serverId: server.id, sealing }, { tools: [definition], given })
      const { organizationId } = toolkit
      return { definition, bindings: bindingsOn(definition, plan), organizationId, server, given: plan.created }
    },
  }
}

export type ImportApplying = ReturnType<typeof createImportApplying>
