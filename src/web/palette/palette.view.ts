import { addressOf } from '../../lib/http/list-query.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import { serverTabPath, upstreamPath, upstreamToolPath } from '../frame/server-frame.ts'
import { organizationPath } from '../organizations/organization-frame.ts'
import { instancePath } from '../server-tools/tools.pages.ts'
import type { Destination } from './destinations.ts'
import type { FoundByName } from './palette.store.ts'

/** Maximum number of pages, and of actions. */
const MAX_DESTINATIONS = 6

type Shown = { href: string; text: string; note: string; isCode?: true }

/** Returns the text around the first match, so that the match can be marked. */
const markMatch = (text: string, wanted: string) => {
  const start = wanted === '' ? -1 : text.toLowerCase().indexOf(wanted.toLowerCase())
  // In a few languages, lower case changes the length of a text.
  if (start === -1 || text.toLowerCase().length !== text.length) return { before: text, match: '', after: '' }
  const end = start + wanted.length
  return { before: text.slice(0, start), match: text.slice(start, end), after: text.slice(end) }
}

/** Returns the destinations whose text contains the wanted text, first those that start with it. */
const matching = (destinations: readonly Destination[], wanted: string): Destination[] => {
  const text = wanted.toLowerCase()
  const found = destinations.filter(one => one.text.toLowerCase().includes(text))
  const startsWith = (one: Destination): boolean => one.text.toLowerCase().startsWith(text)
  return [...found.filter(startsWith), ...found.filter(one => !startsWith(one))].slice(0, MAX_DESTINATIONS)
}

/** Returns what can be done with the first tool of a server that was found. */
const actionsOn = ([first]: FoundByName['instances']): Shown[] => {
  if (first === undefined) return []
  const { name, server } = first
  // The inspector has a page only for tools that are listed under their own name.
  const tryIt = {
    href: addressOf(serverTabPath(server.id, 'inspector'), { tool: name }),
    text: `Try ${name}`,
    note: server.name,
  }
  return [
    ...(server.presentation === 'flat' ? [tryIt] : []),
    {
      href: addressOf(serverTabPath(server.id, 'history'), { tool: name }),
      text: `Calls of ${name}`,
      note: server.name,
    },
  ]
}

type Found = FoundByName & { pages: readonly Destination[]; actions: readonly Destination[] }

/** Returns the groups of the palette that are not empty, in order. */
export const toPaletteGroups = (found: Found, wanted: string) => {
  const group = (title: string, icon: string, items: readonly Shown[]) => ({ title, icon, items })
  const groups = [
    group(
      'Servers',
      'server',
      found.servers.map(({ id, name, organization }) => ({
        href: serverTabPath(id, 'overview'),
        text: name,
        note: organization.name,
      })),
    ),
    group(
      'Tools of servers',
      'tool',
      found.instances.map(({ id, name, server }) => ({
        href: instancePath(server.id, id),
        text: name,
        note: server.name,
        isCode: true,
      })),
    ),
    group(
      'Tools of MCP servers',
      'tool',
      found.upstreamTools.map(({ upstream, tool, name, mayBuild }) => ({
        href: mayBuild
          ? upstreamToolPath({ id: upstream.id, serverId: upstream.server.id }, tool)
          : addressOf(upstreamPath(upstream.server.id, upstream.id), { q: removeHidden(tool) }),
        text: name,
        note: `${upstream.name}, ${upstream.server.name}`,
        isCode: true,
      })),
    ),
    group(
      'Tools',
      'tool',
      found.tools.map(({ id, name, toolkit }) => ({
        href: `/tools/${id}`,
        text: name,
        note: toolkit.title,
        isCode: true,
      })),
    ),
    group(
      'Toolkits',
      'toolkit',
      found.toolkits.map(({ id, title, organization }) => ({
        href: `/toolkits/${id}`,
        text: title,
        note: organization.name,
      })),
    ),
    group(
      'MCP servers',
      'live',
      found.upstreams.map(({ id, name, server }) => ({
        href: upstreamPath(server.id, id),
        text: name,
        note: server.name,
      })),
    ),
    group(
      'Members',
      'person',
      found.members.map(({ organizationId, user, organization }) => ({
        href: organizationPath(organizationId, 'members'),
        text: user.email,
        note: organization.name,
      })),
    ),
    group('Actions', 'more', [...actionsOn(found.instances), ...matching(found.actions, wanted)]),
    group('Pages', 'page', matching(found.pages, wanted)),
  ]
  return groups
    .filter(({ items }) => items.length > 0)
    .map(({ items, ...rest }) => ({
      ...rest,
      id: rest.title.toLowerCase().replaceAll(' ', '-'),
      items: items.map(({ text, ...item }) => ({ ...item, ...markMatch(text, wanted) })),
    }))
}
