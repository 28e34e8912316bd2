import type { Database } from '../../lib/db/client.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import type { Import, ReadOperation } from '../import.ts'
import { GENERATOR_VERSION } from '../limits.ts'
import { type ComparedTool, compareTool } from '../merge/compare-tools.ts'
import { createPairing, type Pair } from '../merge/pair-operations.ts'
import type { NewTool } from '../openapi/imported-operation.ts'
import { listSourcedTools, listToolOrigins, type SourcedTool, type ToolOrigin } from './tool-sources.store.ts'
import { findToolkitSource } from './toolkit-sources.store.ts'

/** What is known about a source before its operations are read. */
export type ComparedSource = Pick<Import, 'toolkitId' | 'kind' | 'sourceUrl' | 'sha256'> & { title: string | undefined }

/** What an operation is to the tool that was imported from it before. */
export type ItemComparison = Pick<ComparedTool, 'state' | 'pieces' | 'breaking'> & { toolId: string }

export type ComparedOperation = { operation: ReadOperation; comparison: ItemComparison | undefined }

export type ImportComparison = {
  /** Compares a batch of operations as it was read. Operations that are not certain yet come with `finish`. */
  add: (operations: readonly ReadOperation[]) => Promise<readonly ComparedOperation[]>
  /** Returns the remaining operations, and the tools whose operations are gone from the source. */
  finish: () => Promise<{ compared: readonly ComparedOperation[]; gone: readonly ToolOrigin[] }>
}

/** Returns the tools that were imported from this source before. It may have moved, or got another title. */
const listToolsOf = async (db: Database, source: ComparedSource): Promise<readonly ToolOrigin[]> => {
  const { toolkitId, kind, sourceUrl } = source
  const known = await findToolkitSource(db, toolkitId)
  const isSamePlace = known !== undefined && known.kind === kind && sourceUrl !== undefined && known.url === sourceUrl
  const titles = new Set([source.title, ...(isSamePlace ? [known.title] : [])])
  return (await listToolOrigins(db, toolkitId)).filter(({ title }) => titles.has(title))
}

/**
 * Returns the definition with which both sides are compared. If a newer generator made the tool from the same source
 * again, what differs is not a change of the source.
 */
const baseOf = ({ base, generator, sha256 }: SourcedTool, theirs: NewTool, source: ComparedSource) =>
  generator < GENERATOR_VERSION && sha256 !== undefined && sha256 === source.sha256 ? theirs : base

/**
 * Starts to compare a source with the tools that were imported from it before. Returns undefined if there are none. Reads
 * the tools of each batch in one statement, and yields to the event loop.
 */
export const compareImport = async (db: Database, source: ComparedSource): Promise<ImportComparison | undefined> => {
  const origins = await listToolsOf(db, source)
  if (origins.length === 0) return undefined
  const pairing = createPairing<ToolOrigin, ReadOperation>(origins)

  const comparePairs = async (pairs: readonly Pair<ToolOrigin, ReadOperation>[]) => {
    const ids = pairs.flatMap(({ tool }) => tool?.toolId ?? [])
    const known = ids.length === 0 ? new Map<string, SourcedTool>() : await listSourcedTools(db, ids)
    const compareOne = (operation: ReadOperation, toolId: string): ItemComparison | undefined => {
      const sourced = known.get(toolId)
      if (sourced === undefined) return undefined
      if (!('tool' in operation)) return { toolId, state: 'same', pieces: [], breaking: { mine: [], theirs: [] } }
      const theirs = operation.tool
      const { tool: mine } = sourced
      const { tool: _tool, ...compared } = compareTool({ base: baseOf(sourced, theirs, source), mine, theirs })
      return { toolId, ...compared }
    }
    return mapInTurns(pairs, ({ operation, tool }) => ({
      operation,
      comparison: tool === undefined ? undefined : compareOne(operation, tool.toolId),
    }))
  }

  return {
    add: operations => comparePairs(pairing.add(operations)),
    finish: async () => {
      const { pairs, gone } = pairing.finish()
      // A list of requests is not all that an API offers.
      const isComplete = source.kind === 'openapi' || source.kind === 'postman'
      return { compared: await comparePairs(pairs), gone: isComplete ? gone : [] }
    },
  }
}
