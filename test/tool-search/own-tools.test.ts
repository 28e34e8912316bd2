import { describe, expect, it } from 'vitest'
import type { CallContext, CompiledTool } from '../../src/runtime/call/compiled-tool.ts'
import { createToolFinder } from '../../src/tool-search/ranking/tool-index.ts'
import { compileSearchTools } from '../../src/tool-search/search-tools.ts'

const ownTool = (group: string, name: string): CompiledTool => ({
  name,
  title: undefined,
  description: undefined,
  inputSchema: { type: 'object' },
  outputSchema: undefined,
  annotations: undefined,
  isReadOnly: false,
  group,
  call: async () => ({ result: { content: [] } }),
})

const OWN = [
  ...Array.from({ length: 9 }, (_, at) => ownTool('many', `ask_question_${at}`)),
  ownTool('few', 'ask_question_about_weather'),
]

const [findTools] = compileSearchTools(
  [],
  [],
  { hiddenCount: 0, groups: [], mostUsed: [] },
  {
    finder: createToolFinder(),
    embeddings: undefined,
    unlisted: { find: () => undefined, list: () => OWN },
    explain: () => undefined,
    budget: { tenant: { owner: '', group: '' }, maxTokens: 0, counting: { sumTokens: async () => 0 } },
  },
).filter(({ name }) => name === 'find_tools')

const { signal } = new AbortController()
const stranger: CallContext = { caller: undefined, client: undefined, signal }
const client: CallContext = {
  ...stranger,
  link: {
    origin: {},
    peer: {
      kind: 'session',
      key: 'one',
      capabilities: {},
      userId: undefined,
      ask: async () => ({}),
      notify: () => {},
      onToolsKnown: () => {},
    },
  },
}
const find = async (context: CallContext, group: string): Promise<string> => {
  const found = await findTools?.call({ queries: ['ask question'], group, limit: 1 }, context)
  return found !== undefined && 'utf8' in found.result ? found.result.utf8.toString() : JSON.stringify(found)
}

describe('tools that an upstream offers to one client only', () => {
  it('are found by group, even if tools of other groups match better', async () => {
    expect(await find(client, 'few')).toContain('ask_question_about_weather')
    expect(await find(client, 'other')).toContain('There is no group')
    expect(await find(stranger, 'few')).toContain('There is no group')
  })
})
