import { shortenCallers } from './callers.ts'
import { type Detail, MAX_OPEN_SOCKETS, MAX_OPEN_TOOLS } from './detail.ts'
import type { DiagramContent, Source } from './diagram-content.ts'
import { orderGroups, orderWiring } from './order.ts'
import type { Patch, PatchGroup, PatchTool } from './patch.ts'
import { openPanels, stackedPanels } from './stacks.ts'

const toolsOf = ({ groups }: Patch): readonly PatchTool[] => groups.flatMap(({ tools }) => tools)

const isSmall = (tools: readonly PatchTool[]): boolean =>
  tools.length <= MAX_OPEN_TOOLS &&
  tools.reduce((sum, { parameters }) => sum + parameters.length, 0) <= MAX_OPEN_SOCKETS

/** Chooses what to draw: everything in a small patch, otherwise a stack of tools for each source. */
export const condense = (patch: Patch, detail: Detail): DiagramContent => {
  const { title, globals, callers, links } = patch
  const tools = toolsOf(patch)
  const isStacked = !isSmall(tools)
  const toSource = (group: PatchGroup): Source => ({
    name: group.name,
    href: group.href,
    health: group.health,
    state: group.state,
    panels: isStacked ? stackedPanels(group, detail, links) : openPanels(group),
  })
  const groups = orderGroups(patch.groups, detail.sources, links)
  return {
    title,
    toolCount: tools.length,
    isStacked,
    ...orderWiring(groups.map(toSource), globals, links.globals),
    callers: { tier: callers.tier, href: callers.href, list: shortenCallers(callers.list) },
  }
}
