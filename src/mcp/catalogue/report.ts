import {
  createPause,
  type Finding,
  lintAlike,
  lintCatalogue,
  lintTool,
  type ShownTool,
  sortFindings,
  TOKEN_ENCODING,
  type TokenCounter,
} from '../../context/index.ts'
import type { CompiledServer, CompiledTool } from '../../execution/index.ts'
import { clientNameOf } from '../../servers/index.ts'
import { renderTool } from '../tool-definition.ts'

/** Presentations whose lists are made here, so that their bytes are known. */
export const LISTED_PRESENTATIONS = ['flat', 'grouped'] as const
export type ListedPresentation = (typeof LISTED_PRESENTATIONS)[number]

/** What tools/list costs under a presentation: all its pages together, as they go out. */
export type ListCost = { presentation: ListedPresentation; tools: number; tokens: number; bytes: number }

/** `tokens`: of its own JSON, as tools/list has it. */
export type ReportedTool = { name: string; tokens: number; findings: readonly Finding[] }

/** What a server's catalogue costs the models of its clients, and what is known to speak against it. */
export type CatalogueReport = {
  /** What the tokens were counted by. */
  encoding: string
  /** Every tool by itself, as a flat list has it, by name: also where clients are shown groups of them. */
  tools: readonly ReportedTool[]
  costs: readonly ListCost[]
}

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

const reportTools = async (server: CompiledServer, count: TokenCounter): Promise<ReportedTool[]> => {
  const pause = createPause()
  const serverName = clientNameOf(server)
  const shown = server.tools.map(toShown)
  const alike = await lintAlike(shown)
  const reported: ReportedTool[] = []
  for (const [index, tool] of server.tools.entries()) {
    const tokens = await count(renderTool(tool, 'session'))
    const findings = lintTool(toShown(tool), { serverName, tokens, alike: alike.get(index) })
    reported.push({ name: tool.name, tokens, findings })
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

/** What speaks against the whole list that clients get, under the presentation that the server has. */
export const findCatalogueFindings = ({ costs }: CatalogueReport, presentation: string): Finding[] => {
  const cost = costs.find(one => one.presentation === presentation)
  return cost === undefined ? [] : sortFindings(lintCatalogue(cost))
}
