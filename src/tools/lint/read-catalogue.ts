import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { createTokenCounter } from '../../lib/tokens/token-counter.ts'
import type { CatalogueFigures, CatalogueJob } from './catalogue-job.ts'
import type { ReportedTool } from './catalogue-report.ts'
import type { ShownTool } from './finding.ts'
import { lintTool } from './lint-tool.ts'
import { lintSimilarTools } from './similar-tools.ts'

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

/** Joins the tools from all pages of tools/list into one string. */
export const joinList = (items: readonly string[]): string => `[${items.join(',')}]`

/** Creates a reader that counts and lints catalogues. Caches token counts by text. */
export const createCatalogueReader = () => {
  const count = createTokenCounter()

  const readTools = async ({ serverName, lists: { flat }, ours }: CatalogueJob): Promise<ReportedTool[]> => {
    const tools = flat.map(parseTool)
    const similar = await lintSimilarTools(tools.map(tool => (ours.has(tool.name) ? { name: tool.name } : tool)))
    const read: ReportedTool[] = []
    for (const [index, tool] of tools.entries()) {
      const tokens = await count(flat[index] ?? '')
      const findings = ours.has(tool.name) ? [] : lintTool(tool, { serverName, tokens, similar: similar.get(index) })
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
