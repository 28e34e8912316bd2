import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { KeptFor, SampleRemoval, SampleService } from '../../servers/samples/samples.service.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { listRemovedWithServer } from '../frame/removed-with-server.ts'
import { type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { createFirstRun, type FirstRunParts } from './first-run.ts'

type Parts = FirstRunParts & {
  frames: ServerFrameParts
  samples: Pick<SampleService, 'noteSample' | 'previewRemoval' | 'removeSample'>
  servers: Pick<ServerService, 'createServer' | 'countCalls'>
}

/** Names given as the reason why a toolkit stays. The number of the others is added. */
const MAX_NAMES = 5

const quoted = (names: readonly string[]): string => {
  const shown = names.slice(0, MAX_NAMES).map(name => `“${name}”`)
  const more = names.length - shown.length
  return [...shown, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(', ')
}

/** Completes "The toolkit stays, because …". */
const reasonOf = ({ kind, names }: KeptFor): string => {
  if (kind === 'tools') return `it also has tools that are not part of the sample: ${quoted(names)}.`
  return names.length === 0 ? 'other servers use it too.' : `other servers use it too: ${quoted(names)}.`
}

/** Returns the toolkit as an item to delete, or why it stays. */
const describeToolkit = ({ toolkit }: SampleRemoval): { items: { text: string }[]; footnote?: string } => {
  if (toolkit === undefined) return { items: [] }
  const { title, tools, keptFor } = toolkit
  return keptFor === undefined
    ? { items: [{ text: `the toolkit “${title}” with ${formatCount(tools, 'tool')}` }] }
    : { items: [], footnote: `The toolkit “${title}” stays, because ${reasonOf(keptFor)}` }
}

/** Registers the page that removes a sample: its server, and its toolkit unless something else needs it. */
export const sampleRemovalPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { frames, samples, servers } = parts
  const { openStreams } = frames
  const tab = createServerTab(frames, 'overview')
  const firstRun = createFirstRun(parts)

  removalPage(app, '/servers/:uuid/sample/removal', {
    ...serverRoute,
    button: 'Remove sample',
    isUnnamed: true,
    load: async (request: FastifyRequest) => {
      const server = await tab.frameForChange(request)
      return { server, removal: await samples.previewRemoval(actorOf(request), server.id) }
    },
    nameOf: ({ server }) => server.name,
    page: async (request, { server, removal }) => {
      const inside = await listRemovedWithServer({ servers, openStreams }, actorOf(request), server)
      const { items, ...kept } = describeToolkit(removal)
      const all = [...inside, ...items]
      const text = 'The server’s address stops working immediately.'
      return {
        server,
        text: all.length === 0 ? text : `${text} These are deleted with it:`,
        items: all,
        ...kept,
        back: serverTabPath(server.id, 'overview'),
      }
    },
    remove: async (request, { server }) => {
      const actor = actorOf(request)
      await samples.removeSample(actor, server.id)
      return donePath((await firstRun.isDue(actor)) ? '/first-run' : '/servers', 'sample-removed')
    },
  })
}
