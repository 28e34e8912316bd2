import type { ToolDefinition } from '../../tools/tool.ts'
import type { MappedOperation, OperationSource } from '../openapi/imported-operation.ts'
import { type BreakingChange, findBreakingChanges } from './breaking-changes.ts'
import { type MergedTool, mergeTool, type Side } from './merge-tool.ts'

/** A tool that was imported before. */
export type ImportedTool = Pick<OperationSource, 'key' | 'operationId' | 'method' | 'path'> & {
  base: ToolDefinition
  mine: ToolDefinition
}

export type ComparedTool = MergedTool & {
  imported: ImportedTool
  operation: MappedOperation
  breaking: readonly BreakingChange[]
}

export type ComparedImport = {
  /** Tools whose operations are in the source. */
  tools: readonly ComparedTool[]
  /** Tools whose operations are gone. They stay until somebody removes them. */
  gone: readonly ImportedTool[]
  /** Operations that no tool was made of. */
  added: readonly MappedOperation[]
}

type Identity = Pick<OperationSource, 'operationId' | 'method' | 'path'>

const byId = ({ operationId }: Identity): string | undefined => operationId
/** Parameters may get other names. */
const byPlace = ({ method, path }: Identity): string => `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`

/** Pairs tools with operations, each at most once. Operation ids decide first, as paths may change. */
const pairOperations = (tools: readonly ImportedTool[], operations: readonly MappedOperation[]) => {
  const pairs = new Map<ImportedTool, MappedOperation>()
  const used = new Set<MappedOperation>()
  for (const identify of [byId, byPlace]) {
    const open = Map.groupBy(
      operations.filter(operation => !used.has(operation)),
      identify,
    )
    for (const tool of tools) {
      const key = pairs.has(tool) ? undefined : identify(tool)
      const operation = key === undefined ? undefined : open.get(key)?.shift()
      if (operation === undefined) continue
      pairs.set(tool, operation)
      used.add(operation)
    }
  }
  return { pairs, used }
}

/**
 * Compares the tools of an import with what its source makes of them now. `choices` resolve conflicts, by the key of the
 * tool and the piece.
 */
export const compareImport = (
  tools: readonly ImportedTool[],
  operations: readonly MappedOperation[],
  choices: ReadonlyMap<string, ReadonlyMap<string, Side>> = new Map(),
): ComparedImport => {
  const { pairs, used } = pairOperations(tools, operations)
  return {
    tools: [...pairs].map(([imported, operation]) => {
      const { base, mine, key } = imported
      const merged = mergeTool({ base, mine, theirs: operation.tool }, choices.get(key))
      return { imported, operation, ...merged, breaking: findBreakingChanges(mine, merged.tool) }
    }),
    gone: tools.filter(tool => !pairs.has(tool)),
    added: operations.filter(operation => !used.has(operation)),
  }
}
