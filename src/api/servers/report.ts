import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { renderTool } from '../../mcp/registry/tool-definition.ts'
import type { CompiledServer, CompiledTool, PresentedServers } from '../../runtime/call/compiled-server.ts'
import { clientNameOf } from '../../servers/client-name.ts'
import { explainShownAs } from '../../servers/settings/shown-as.ts'
import {
  type CatalogueReport,
  LISTED_PRESENTATIONS,
  type ListedPresentation,
} from '../../tools/lint/catalogue-report.ts'
import type { CatalogueWork } from '../../tools/lint/catalogue-work.ts'
import { joinList } from '../../tools/lint/read-catalogue.ts'

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
