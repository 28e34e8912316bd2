import type { StoredExecution } from '../../history/executions.store.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { formatDuration } from '../../lib/kernel/format.ts'
import type { ToolOffer } from '../../servers/tools/tool-picks.store.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { showOutcome } from '../history/call-outcome.view.ts'

/** Returns the rows of a tool's last calls, each with a link to the call. */
export const toLastCalls = (calls: readonly StoredExecution[], offers: readonly ToolOffer[]) => {
  const names = new Map(offers.map(({ serverId, serverName }) => [serverId, serverName]))
  return calls.map(call => ({
    href: `${serverTabPath(call.serverId, 'history')}/${call.id}`,
    time: shownTime(call.startedAt),
    outcome: showOutcome(call),
    took: formatDuration(call.durationMs),
    server: names.get(call.serverId),
  }))
}
