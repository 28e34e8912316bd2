import {
  type CatalogueReport,
  type CatalogueWork,
  joinList,
  LISTED_PRESENTATIONS,
  type ListedPresentation,
  mapInTurns,
  TOKEN_ENCODING,
} from '../../context/index.ts'
import type { CompiledServer, CompiledTool, PresentedServers } from '../../execution/index.ts'
import { RESERVED_TOOL_PREFIX } from '../../kernel/index.ts'
import { clientNameOf, explainShownAs } from '../../servers/index.ts'
import { renderTool } from '../tool-definition.ts'

/** Our own tools about answers: they cost what they cost, and no builder can mend them. */
const isOurs = ({ name }: CompiledTool): boolean => name.startsWith(RESERVED_TOOL_PREFIX)

/** The JSON of each tool, as the session era's tools/list has it. */
const renderList = ({ tools }: CompiledServer): Promise<string[]> =>
  mapInTurns(tools, tool => renderTool(tool, 'session'))

/** Which list a server gets that leaves it to what its tools cost, and why; of others nobody asks. */
const toAuto = ({ shownAs }: PresentedServers): CatalogueReport['auto'] => ({
  presentation: shownAs?.presentation ?? 'flat',
  why: shownAs === undefined ? '' : explainShownAs(shownAs),
})

/** Has the lists counted and linted as clients would get them. */
export const buildReport = async (servers: PresentedServers, work: CatalogueWork): Promise<CatalogueReport> => {
  const lists: Record<ListedPresentation, readonly string[]> = {
    flat: await renderList(servers.flat),
    grouped: await renderList(servers.grouped),
    search: await renderList(servers.search),
  }
  const ours = new Set(servers.flat.tools.filter(isOurs).map(({ name }) => name))
  const { tools, tokens } = await work.read(servers.flat.id, { serverName: clientNameOf(servers.flat), lists, ours })
  const costs = LISTED_PRESENTATIONS.map(presentation => ({
    presentation,
    tools: lists[presentation].length,
    tokens: tokens[presentation],
    bytes: Buffer.byteLength(joinList(lists[presentation])),
  }))
  return { encoding: TOKEN_ENCODING, tools, costs, auto: toAuto(servers) }
}
