import type { ImportReport } from '../../imports/apply/import-report.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { serverTabPath } from '../frame/server-frame.ts'

/** Tools named on the page. The others are in the toolkit. */
const TOOLS_SHOWN = 50

/** Rewired servers named on the page. */
const SERVERS_SHOWN = 25

const toMissing = ({ missing, server, rewired }: ImportReport) =>
  missing.map(({ key, secret, origins, serverId = server?.id }) => ({
    key,
    source: secret ? 'secret' : 'global',
    href: serverId && (secret ? `${serverTabPath(serverId, 'tools')}/values` : serverTabPath(serverId, 'globals')),
    server: [...(server === undefined ? [] : [server]), ...rewired].find(({ id }) => id === serverId)?.name,
    origins: origins.join(', '),
  }))

const toRewired = ({ id, name, globals, rekeyed }: ImportReport['rewired'][number]) => ({
  name,
  href: `/servers/${id}`,
  globals: globals.map(({ key, secret }) => ({ source: secret ? 'secret' : 'global', text: key })),
  rekeyed,
})

const headingOf = ({ created, updated }: ImportReport): string => {
  if (created.length + updated.length === 0) return 'All tools stay as they are'
  if (updated.length === 0) return `${formatCount(created.length, 'tool')} imported`
  if (created.length === 0) return `${formatCount(updated.length, 'tool')} updated`
  return `${formatCount(created.length, 'tool')} imported, ${formatNumber(updated.length)} updated`
}

/** Returns what an import did, and what is left to do. */
export const toApplied = (report: ImportReport) => {
  const { created, updated, unchanged, skipped, renamed, server, rewired, discarded } = report
  const isMixed = created.length > 0 && updated.length > 0
  const tools = [
    ...created.map(tool => ({ ...tool, isMarked: isMixed })),
    ...updated.map(tool => ({ ...tool, isMarked: false })),
  ]
  return {
    heading: headingOf(report),
    server: server && {
      ...toRewired(server),
      isNew: server.created,
      tools: server.tools === 0 ? undefined : formatCount(server.tools, 'tool'),
    },
    rewired: rewired.slice(0, SERVERS_SHOWN).map(toRewired),
    moreRewired: rewired.length > SERVERS_SHOWN ? formatNumber(rewired.length - SERVERS_SHOWN) : undefined,
    missing: toMissing(report),
    isNew: created.length > 0,
    isUpdate: updated.length > 0,
    discarded: discarded.join(', '),
    unchanged: unchanged === 0 ? undefined : formatCount(unchanged, 'tool'),
    skipped,
    renamed,
    tools: tools
      .slice(0, TOOLS_SHOWN)
      .map(({ id, name, key, isMarked }) => ({ href: `/tools/${id}`, name, key, isMarked })),
    more: tools.length > TOOLS_SHOWN ? formatNumber(tools.length - TOOLS_SHOWN) : undefined,
  }
}
