import type { ReadOperation } from '../import.ts'
import { DUPLICATE_RULE } from '../preselection.ts'
import type { RequestingTool } from '../toolkit-requests.store.ts'
import { requestKeysOf } from './request-keys.ts'

const REMEDY = 'Models cannot choose between two tools that do the same. Import only one of them.'

const withFinding = (operation: ReadOperation, twin: string): ReadOperation =>
  'tool' in operation
    ? {
        ...operation,
        findings: [
          {
            rule: DUPLICATE_RULE,
            level: 'warning',
            field: 'tools',
            message: `It has the same method and URL as ${twin}.`,
            remedy: REMEDY,
            clients: [],
          },
          ...operation.findings,
        ],
      }
    : operation

/** Finds operations that send the same request as a tool of the toolkit, or as an earlier operation of the source. */
export const createDuplicates = (tools: readonly RequestingTool[], baseUrlOf: (key: string) => string | undefined) => {
  const ofToolkit = new Map<string, string>()
  for (const { name, request, baseUrls } of tools) {
    const { absolute, relative } = requestKeysOf(request, key => baseUrls.get(key) ?? [])
    for (const key of absolute.length > 0 ? absolute : relative) if (!ofToolkit.has(key)) ofToolkit.set(key, name)
  }
  const ofSource = new Map<string, string>()
  const known = new Set<string>()
  return {
    /** Returns an operation with a finding if it is a duplicate. `isCompared` is whether it has a tool that it updates. */
    mark: (operation: ReadOperation, isCompared: boolean): ReadOperation => {
      if (!('tool' in operation)) return operation
      const { absolute, relative } = requestKeysOf(operation.tool, key => {
        const baseUrl = baseUrlOf(key)
        return baseUrl === undefined ? [] : [baseUrl]
      })
      const keys = [...absolute, ...relative]
      const tool = isCompared ? undefined : keys.map(key => ofToolkit.get(key)).find(name => name !== undefined)
      const earlier = keys.map(key => ofSource.get(key)).find(key => key !== undefined)
      for (const key of keys) if (!ofSource.has(key)) ofSource.set(key, operation.key)
      if (tool !== undefined) {
        known.add(operation.key)
        return withFinding(operation, `the tool ${tool} of the toolkit`)
      }
      return earlier === undefined ? operation : withFinding(operation, `${earlier} of the same source`)
    },
    /** Returns whether the toolkit has a tool that sends the same request as the operation with this key. */
    isInToolkit: (key: string): boolean => known.has(key),
  }
}
