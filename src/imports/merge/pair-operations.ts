import type { OperationSource } from '../openapi/imported-operation.ts'

export type OperationIdentity = Pick<OperationSource, 'method' | 'path'> & { operationId?: string | undefined }

/** Undefined if no tool was imported from the operation before. */
export type Pair<Tool, Operation> = { operation: Operation; tool: Tool | undefined }

/** Returns the method and the path without the names of its parameters, which may change. */
const placeOf = ({ method, path }: OperationIdentity): string => `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`

/**
 * Pairs the operations of a source with the tools that were imported from it before, as the operations are read. Each
 * tool is paired at most once. Operation ids decide first, because paths may change.
 */
export const createPairing = <Tool extends OperationIdentity, Operation extends OperationIdentity>(
  tools: readonly Tool[],
) => {
  const open = new Set(tools)
  const toolsById = Map.groupBy(tools, ({ operationId }) => operationId)
  const toolsByPlace = Map.groupBy(tools, placeOf)
  const waiting: Operation[] = []

  const openTools = (group: readonly Tool[] = []): readonly Tool[] => group.filter(tool => open.has(tool))
  const pair = (operation: Operation, tool: Tool | undefined): Pair<Tool, Operation> => {
    if (tool !== undefined) open.delete(tool)
    return { operation, tool }
  }

  const tryPairing = (operation: Operation): readonly Pair<Tool, Operation>[] => {
    const { operationId } = operation
    const [withSameId] = operationId === undefined ? [] : openTools(toolsById.get(operationId))
    if (withSameId !== undefined) return [pair(operation, withSameId)]
    const there = openTools(toolsByPlace.get(placeOf(operation)))
    const withoutId = there.find(tool => tool.operationId === undefined)
    if (withoutId !== undefined || there.length === 0) return [pair(operation, withoutId)]
    // An operation that is read later may have the id of the tool.
    waiting.push(operation)
    return []
  }

  return {
    /** Returns the pairs of a batch that are certain. The others are among those that `finish` returns. */
    add: (operations: readonly Operation[]): readonly Pair<Tool, Operation>[] => operations.flatMap(tryPairing),
    /** Returns the remaining pairs, and the tools whose operations are gone. */
    finish: (): { pairs: readonly Pair<Tool, Operation>[]; gone: readonly Tool[] } => {
      const pairs = waiting
        .splice(0)
        .map(operation => pair(operation, openTools(toolsByPlace.get(placeOf(operation)))[0]))
      return { pairs, gone: [...open] }
    },
  }
}
