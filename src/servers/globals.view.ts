import { formatCount, formatNumber, timeText } from '../platform/http/index.ts'
import type { GlobalUse } from './rewiring.service.ts'
import type { Global } from './server.ts'
import { serverTabPath } from './server-frame.ts'
import { instancePath } from './tools.pages.ts'

/** Characters of a value that the table shows. */
const MAX_VALUE_CHARACTERS = 60
/** Tools named where a global is used; how many more there are is said. */
const MAX_USES_NAMED = 50

export const globalPath = (serverId: string, key: string): string =>
  `${serverTabPath(serverId, 'globals')}/${encodeURIComponent(key)}`

const shorten = (value: string): string => {
  const characters = [...value]
  return characters.length <= MAX_VALUE_CHARACTERS
    ? value
    : `${characters.slice(0, MAX_VALUE_CHARACTERS - 1).join('')}…`
}

/** How many parameters read it, in words; "nothing" where none does. */
const useCount = (uses: readonly GlobalUse[]): number =>
  uses.reduce((sum, { parameters }) => sum + parameters.length, 0)

export const usesInWords = (uses: readonly GlobalUse[]): string =>
  uses.length === 0 ? 'nothing' : `${formatCount(useCount(uses), 'parameter')} in ${formatCount(uses.length, 'tool')}`

export const toGlobalRow = (serverId: string, global: Global, uses: readonly GlobalUse[]) => ({
  href: globalPath(serverId, global.key),
  key: global.key,
  source: global.isSecret ? 'secret' : 'global',
  isSecret: global.isSecret,
  value: global.isSecret ? undefined : shorten(global.value),
  updated: timeText(global.updatedAt),
  updatedAt: global.updatedAt.toISOString(),
  uses: usesInWords(uses),
})

/** The tools that read a global, each with its parameters, as links. */
export const toUseList = (serverId: string, uses: readonly GlobalUse[]) => ({
  items: uses.slice(0, MAX_USES_NAMED).map(({ instanceId, tool, parameters }) => ({
    href: instancePath(serverId, instanceId),
    text: tool,
    note: parameters.join(', '),
  })),
  more: uses.length > MAX_USES_NAMED ? `and ${formatNumber(uses.length - MAX_USES_NAMED)} more tools` : undefined,
})
