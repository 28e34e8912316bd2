/** The tools of a server with a budget, without the server: the same replies as over MCP. */
import { z } from 'zod'
import type { createJobPool } from '../../src/jobs/job-pool.ts'
import { failure } from '../../src/lib/kernel/result.ts'
import { compileCutResultTools } from '../../src/results/budget/cut-result-tools.ts'
import { createResultLimit } from '../../src/results/budget/result-budget.ts'
import { createResultInspector } from '../../src/results/budget/result-inspector.ts'
import { createCutCache } from '../../src/results/cut-cache/cut-cache.ts'
import { createMasker } from '../../src/results/mask/masking.ts'
import {
  findErrorText,
  isLongText,
  isPassed,
  isRefused,
  type ToolResult,
  type UpstreamResult,
} from '../../src/runtime/call/tool-result.ts'
import type { CallTool, Reply } from './asking.ts'

const Passed = z.looseObject({
  content: z.array(z.looseObject({ text: z.string() })),
  isError: z.boolean().optional(),
  _meta: z.looseObject({ 'patchbay/answer': z.looseObject({ cacheId: z.string().optional(), tokens: z.int() }) }),
})

const read = (result: ToolResult | UpstreamResult): Reply & { tokens: number } => {
  if (isRefused(result) || isLongText(result)) throw new Error(JSON.stringify(result).slice(0, 500))
  if (!isPassed(result)) return { text: findErrorText(result) ?? '', cacheId: undefined, tokens: 0, isError: true }
  const { content, _meta, isError = false } = Passed.parse(result.passed)
  const { cacheId, tokens } = _meta['patchbay/answer']
  return { text: content.map(({ text }) => text).join('\n'), cacheId, tokens, isError }
}

type Workers = Pick<ReturnType<typeof createJobPool>, 'job'>

export const openTools = (workers: Workers, budgetTokens: number, maxBytes: number) => {
  const server = { id: 'bench', organizationId: 'bench', maxResponseTokens: budgetTokens, cutNotice: undefined }
  const context = { caller: undefined, client: undefined, signal: new AbortController().signal }
  const cutCache = createCutCache()
  const parts = {
    inspector: createResultInspector(workers.job('inspect-result'), maxBytes),
    cutCache,
    exactCounts: { count: () => Promise.resolve(undefined) },
    onInternalError: (error: unknown) => {
      throw error
    },
  }
  const limit = createResultLimit(server, undefined, parts)
  const tools = compileCutResultTools({
    ...parts,
    server,
    hasGroups: false,
    findTool: () => failure('there are no other tools'),
    isLinked: false,
    recorder: { record: () => undefined },
    masker: createMasker([]),
  })
  const call: CallTool = async (name, args) => {
    const tool = tools.find(each => each.name === name)
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    return read((await tool.call(args, context)).result)
  }
  return {
    call,
    /** Returns the reply to a call whose whole result is these bytes. */
    callFirst: async (utf8: Buffer, contentType: string): Promise<Reply & { tokens: number }> => {
      const tool = limit(
        {
          name: 'frozen',
          title: undefined,
          description: undefined,
          inputSchema: { type: 'object' },
          outputSchema: undefined,
          annotations: undefined,
          isReadOnly: true,
          call: () => Promise.resolve({ result: { utf8 }, contentType }),
        },
        undefined,
      )
      const first = read((await tool.call({}, context)).result)
      if (first.isError) throw new Error(first.text)
      return first
    },
    close: cutCache.close,
  }
}
