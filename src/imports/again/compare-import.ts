import type { Database } from '../../lib/db/client.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import type { Import, ReadOperation } from '../import.ts'
import { GENERATOR_VERSION } from '../limits.ts'
import { type ComparedTool, compareTool } from '../merge/compare-tools.ts'
import { createPairing, type OperationIdentity, type Pair } from '../merge/pair-operations.ts'
import type { NewTool } from '../openapi/imported-operation.ts'
import { listSourcedTools, listToolOrigins, type SourcedTool, type ToolOrigin } from './tool-sources.store.ts'
import { openSourceUrl } from './toolkit-source.ts'
import { findToolkitSource } from './toolkit-sources.store.ts'

/** A source before its operations are read. */
export type ComparedSource = Pick<Import, 'toolkitId' | 'kind' | 'sha256'> & {
  title: string | undefined
  /** The whole URL. */
  url: string | undefined
}

export type CompareParts = { db: Database; sealing: Pick<Sealing, 'open'> }

/** How an operation differs from the tool that was imported from it before. */
export type ItemComparison = Pick<ComparedTool, 'state' | 'pieces' | 'breaking'> & {
  toolId: string
  /** The name of the tool after the update. */
  name: string
}

/** An operation at its place in the source. */
export type PlacedOperation = { operation: ReadOperation; position: number }

export type ComparedOperation = PlacedOperation & { comparison: ItemComparison | undefined }

export type ImportComparison = {
  /** Whether the source has all operations of the API. A list of requests has only some. */
  isComplete: boolean
  /**
   * Compares a batch of operations as it was read. Operations that are not certain yet come with `finish`. `unfilled` are
   * keys of globals for which the source has no value.
   */
  add: (operations: readonly PlacedOperation[], unfilled: readonly string[]) => Promise<readonly ComparedOperation[]>
  /** Returns the remaining operations, and the tools whose operations are gone from the source. */
  finish: () => Promise<{ compared: readonly ComparedOperation[]; gone: readonly ToolOrigin[] }>
}

type Identified = OperationIdentity & { placed: PlacedOperation }

const identify = (placed: PlacedOperation): Identified => {
  const { operationId, method, path } = placed.operation
  return { operationId, method, path, placed }
}

/** Returns the tools that were imported from this source before. It may have moved, or got another title. */
const listToolsOf = async ({ db, sealing }: CompareParts, source: ComparedSource): Promise<readonly ToolOrigin[]> => {
  const { toolkitId, kind, url } = source
  const known = await findToolkitSource(db, toolkitId)
  const isSamePlace =
    known !== undefined && known.kind === kind && url !== undefined && openSourceUrl(sealing, known) === url
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
export const compareImport = async (
  parts: CompareParts,
  source: ComparedSource,
): Promise<ImportComparison | undefined> => {
  const { db } = parts
  const origins = await listToolsOf(parts, source)
  if (origins.length === 0) return undefined
  const pairing = createPairing<ToolOrigin, Identified>(origins)
  const withoutValue = new Set<string>()
  const hasValue = (key: string): boolean => !withoutValue.has(key)
  const isComplete = source.kind === 'openapi' || source.kind === 'postman'

  const compareOne = ({ operation }: PlacedOperation, known: SourcedTool | undefined): ItemComparison | undefined => {
    if (known === undefined) return undefined
    const { tool: mine } = known
    const toolId = mine.id
    if (!('tool' in operation)) {
      return { toolId, name: mine.name, state: 'same', pieces: [], breaking: { mine: [], theirs: [] } }
    }
    const theirs = operation.tool
    const { tool, ...compared } = compareTool({ base: baseOf(known, theirs, source), mine, theirs, hasValue })
    return { toolId, name: tool.name, ...compared }
  }

  const comparePairs = async (pairs: readonly Pair<ToolOrigin, Identified>[]): Promise<ComparedOperation[]> => {
    const ids = pairs.flatMap(({ tool }) => tool?.toolId ?? [])
    const known = ids.length === 0 ? new Map<string, SourcedTool>() : await listSourcedTools(db, ids)
    return mapInTurns(pairs, ({ operation: { placed }, tool }) => ({
      ...placed,
      comparison: compareOne(placed, tool && known.get(tool.toolId)),
    }))
  }

  return {
    isComplete,
    add: (operations, unfilled) => {
      for (const key of unfilled) withoutValue.add(key)
      return comparePairs(pairing.add(operations.map(identify)))
    },
    finish: async () => {
      const { pairs, gone } = pairing.finish()
      return { compared: await comparePairs(pairs), gone: isComplete ? gone : [] }
    },
  }
}
