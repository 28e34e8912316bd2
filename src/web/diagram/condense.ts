import { shortenCallers } from './callers.ts'
import { type Detail, MAX_OPEN_SOCKETS, MAX_OPEN_TOOLS } from './detail.ts'
import { orderGroups, orderWiring } from './order.ts'
import type { Patch, PatchGroup, PatchTool } from './patch.ts'
import type { Sheet, Source } from './sheet.ts'
import { gatheredPanels, openPanels } from './stacks.ts'

const toolsOf = ({ groups }: Patch): readonly PatchTool[] => groups.flatMap(({ tools }) => tools)

const isSmall = (tools: readonly PatchTool[]): boolean =>
  tools.length <= MAX_OPEN_TOOLS &&
  tools.reduce((sum, { parameters }) => sum + parameters.length, 0) <= MAX_OPEN_SOCKETS

/** What of a patch is drawn: everything where that is little, else every source's tools gathered in a stack. */
export const condense = (patch: Patch, detail: Detail): Sheet => {
  const { title, globals, callers, links } = patch
  const tools = toolsOf(patch)
  const isGathered = !isSmall(tools)
  const toSource = (group: PatchGroup): Source => ({
    name: group.name,
    href: group.href,
    health: group.health,
    state: group.state,
    panels: isGathered ? gatheredPanels(group, detail, links) : openPanels(group),
  })
  const groups = orderGroups(patch.groups, detail.sources, links)
  return {
    title,
    toolCount: tools.length,
    isGathered,
    ...orderWiring(groups.map(toSource), globals, links.globals),
    callers: { tier: callers.tier, href: callers.href, list: shortenCallers(callers.list) },
  }
}
