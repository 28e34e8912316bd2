import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { Job } from '../../lib/worker/job.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { renderTool } from '../../mcp/registry/tool-definition.ts'
import type { CompiledServer, PresentedServers } from '../../runtime/call/compiled-server.ts'
import type { CompiledTool } from '../../runtime/call/compiled-tool.ts'
import { clientNameOf } from '../../servers/client-name.ts'
import { explainShownAs } from '../../servers/settings/shown-as.ts'
import type { CatalogueFigures, CatalogueJob } from '../../tools/lint/catalogue-job.ts'
import {
  type CatalogueReport,
  LISTED_PRESENTATIONS,
  type ListedPresentation,
  type ReportedTool,
} from '../../tools/lint/catalogue-report.ts'
import { sortFindings } from '../../tools/lint/lint-tool.ts'
import { joinList } from '../../tools/lint/read-catalogue.ts'

/** Returns whether a tool is one of Patchbay's own for reading truncated results, which builders cannot change. */
const isOurs = ({ name }: CompiledTool): boolean => name.startsWith(RESERVED_TOOL_PREFIX)

/** Returns the JSON of each tool as in tools/list of the session era. */
const renderList = ({ tools }: CompiledServer): Promise<string[]> =>
  mapInTurns(
    tools.filter(({ isHidden }) => isHidden !== true),
    tool => renderTool(tool, 'session'),
  )

/** Returns the presentation that `auto` selects, and why. */
const toAuto = ({ shownAs }: PresentedServers): CatalogueReport['auto'] => ({
  presentation: shownAs?.presentation ?? 'flat',
  why: shownAs === undefined ? '' : explainShownAs(shownAs),
})

/** Adds the findings about requests and bindings, which are not in the lists that clients receive. */
const withOwnFindings = (tools: readonly ReportedTool[], { tools: compiled }: CompiledServer): ReportedTool[] => {
  const own = new Map(compiled.map(({ name, findings = [] }) => [name, findings]))
  return tools.map(tool => {
    const findings = own.get(tool.name) ?? []
    return findings.length === 0 ? tool : { ...tool, findings: sortFindings([...findings, ...tool.findings]) }
  })
}

/** Counts the tokens of the lists and lints them, as clients receive them. */
export const buildReport = async (
  servers: PresentedServers,
  readCatalogue: Job<CatalogueJob, CatalogueFigures>,
): Promise<CatalogueReport> => {
  const lists: Record<ListedPresentation, readonly string[]> = {
    flat: await renderList(servers.flat),
    grouped: await renderList(servers.grouped),
    search: await renderList(servers.search),
  }
  const ours = new Set(servers.flat.tools.filter(isOurs).map(({ name }) => name))
  const { id, access } = servers.flat
  const job = { serverName: clientNameOf(servers.flat), lists, ours }
  const read = await readCatalogue.run(id, job, { group: access.organizationId })
  if (!read.ok) throw new Error(`the catalogue of server ${id} was not counted: ${read.error}`)
  const { tools, tokens } = read.value
  const costs = LISTED_PRESENTATIONS.map(presentation => ({
    presentation,
    tools: lists[presentation].length,
    tokens: tokens[presentation],
    bytes: Buffer.byteLength(joinList(lists[presentation])),
  }))
  return {
    encoding: TOKEN_ENCODING,
    tools: withOwnFindings(tools, servers.flat),
    costs,
    auto: toAuto(servers),
  }
}
