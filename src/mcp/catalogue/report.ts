import {
  type CatalogueReport,
  createPause,
  LISTED_PRESENTATIONS,
  type ListCost,
  type ListedPresentation,
  lintAlike,
  lintTool,
  type ReportedTool,
  type ShownTool,
  TOKEN_ENCODING,
  type TokenCounter,
} from '../../context/index.ts'
import type { CompiledServer, CompiledTool } from '../../execution/index.ts'
import { clientNameOf } from '../../servers/index.ts'
import { renderTool } from '../tool-definition.ts'

/** Under each presentation the server as it would be compiled. */
export type PresentedServers = Readonly<Record<ListedPresentation, CompiledServer>>

const toShown = ({ name, description, inputSchema, outputSchema }: CompiledTool): ShownTool => ({
  name,
  description,
  inputSchema,
  outputSchema,
})

const listCost = async (
  presentation: ListedPresentation,
  { tools }: CompiledServer,
  count: TokenCounter,
): Promise<ListCost> => {
  const pause = createPause()
  const items: string[] = []
  for (const tool of tools) {
    items.push(renderTool(tool, 'session'))
    await pause()
  }
  const list = `[${items.join(',')}]`
  return { presentation, tools: tools.length, tokens: await count(list), bytes: Buffer.byteLength(list) }
}

/** Our own tools about answers: they cost what they cost, and no builder can mend them. */
const isOurs = ({ name }: CompiledTool): boolean => name.startsWith('proxy_')

const reportTools = async (server: CompiledServer, count: TokenCounter): Promise<ReportedTool[]> => {
  const pause = createPause()
  const serverName = clientNameOf(server)
  const alike = await lintAlike(server.tools.map(tool => (isOurs(tool) ? { name: tool.name } : toShown(tool))))
  const reported: ReportedTool[] = []
  for (const [index, tool] of server.tools.entries()) {
    const tokens = await count(renderTool(tool, 'session'))
    const lint = () => lintTool(toShown(tool), { serverName, tokens, alike: alike.get(index) })
    reported.push({ name: tool.name, tokens, findings: isOurs(tool) ? [] : lint() })
    await pause()
  }
  return reported
}

/** Counts and lints; takes turns with whatever else there is to do, however large the catalogue is. */
export const buildReport = async (servers: PresentedServers, count: TokenCounter): Promise<CatalogueReport> => {
  const tools = await reportTools(servers.flat, count)
  const costs: ListCost[] = []
  for (const presentation of LISTED_PRESENTATIONS)
    costs.push(await listCost(presentation, servers[presentation], count))
  return { encoding: TOKEN_ENCODING, tools, costs }
}
