import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { createTokenCounter } from '../../lib/tokens/token-counter.ts'
import { lintAlike } from './alike.ts'
import type { CatalogueFigures, CatalogueJob } from './catalogue-job.ts'
import type { ReportedTool } from './catalogue-report.ts'
import type { ShownTool } from './finding.ts'
import { lintTool } from './lint-tool.ts'

const parseTool = (json: string): ShownTool => {
  const parsed: JsonValue = JSON.parse(json)
  const { name, description, inputSchema, outputSchema }: JsonObject = isJsonObject(parsed) ? parsed : {}
  return {
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' ? description : undefined,
    inputSchema: isJsonObject(inputSchema) ? inputSchema : {},
    outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
  }
}

/** A tools/list as one text, the pages of it together. */
export const joinList = (items: readonly string[]): string => `[${items.join(',')}]`

/** Counts and lints a catalogue; what was counted before of it is not counted again. */
export const createCatalogueReader = () => {
  const count = createTokenCounter()

  const readTools = async ({ serverName, lists: { flat }, ours }: CatalogueJob): Promise<ReportedTool[]> => {
    const tools = flat.map(parseTool)
    const alike = await lintAlike(tools.map(tool => (ours.has(tool.name) ? { name: tool.name } : tool)))
    const read: ReportedTool[] = []
    for (const [index, tool] of tools.entries()) {
      const tokens = await count(flat[index] ?? '')
      const findings = ours.has(tool.name) ? [] : lintTool(tool, { serverName, tokens, alike: alike.get(index) })
      read.push({ name: tool.name, tokens, findings })
    }
    return read
  }

  return async (job: CatalogueJob): Promise<CatalogueFigures> => ({
    tools: await readTools(job),
    tokens: {
      flat: await count(joinList(job.lists.flat)),
      grouped: await count(joinList(job.lists.grouped)),
      search: await count(joinList(job.lists.search)),
    },
  })
}
