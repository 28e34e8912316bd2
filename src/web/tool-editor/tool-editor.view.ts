import type { PageData } from '../../lib/http/pages/views.ts'
import { countInWords } from '../operator/count-in-words.ts'
import type { ToolForm } from './tool-editor-form.ts'
import type { EditorHome } from './tool-editor-home.ts'
import { RESPONSE_CHOICES } from './tool-editor-response.ts'
import type { EditorState } from './tool-editor-state.ts'
import { toLiveView } from './tool-live.view.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

const IMPLIED = { value: '', text: 'By the method' }
const YES_NO = [IMPLIED, { value: 'yes', text: 'Yes' }, { value: 'no', text: 'No' }] as const

const toManners = (form: ToolForm) => [
  { id: 'readOnlyHint', label: 'Only reads, changes nothing', value: form.readOnlyHint, options: YES_NO },
  { id: 'idempotentHint', label: 'Safe to send twice', value: form.idempotentHint, options: YES_NO },
  { id: 'destructiveHint', label: 'May destroy something', value: form.destructiveHint, options: YES_NO },
  { id: 'openWorldHint', label: 'Reaches beyond its own API', value: form.openWorldHint, options: YES_NO },
]

const liveWords = (live: number): string =>
  live === 0 ? 'at once; no connection is open' : `on ${countInWords(live, 'open connection')}`

/** "Used by two servers. Saving is live on 5 open connections." */
const subtitleOf = (home: EditorHome): string => {
  if (home.kind === 'in-toolkit') return `It becomes a tool of ${home.toolkit.title}.`
  if (home.kind === 'new')
    return 'An HTTP request with places for what the model fills in. A name and a URL are enough.'
  const servers = new Set(home.offers.map(({ serverId }) => serverId)).size
  if (servers === 0) return 'No server offers it yet.'
  return `Used by ${countInWords(servers, 'server')}. Saving is live ${liveWords(home.live)}.`
}

/** "Saved. Used by two servers. Live on 5 open connections." */
export const savedText = ({ offers, live }: EditorHome & { kind: 'tool' }): string => {
  const servers = new Set(offers.map(({ serverId }) => serverId)).size
  if (servers === 0) return 'Saved. No server offers it yet.'
  return `Saved. Used by ${countInWords(servers, 'server')}. Live ${liveWords(live)}.`
}

/** Where the form is sent, and what its draft is kept under. */
const pathOf = (home: EditorHome): string => {
  if (home.kind === 'tool') return `/tools/${home.tool.id}`
  return home.kind === 'in-toolkit' ? `/toolkits/${home.toolkit.id}/tools/new` : '/toolkits/new-tool'
}

const crumbsOf = (home: EditorHome) => {
  const toolkits = { href: '/toolkits', text: 'Toolkits' }
  if (home.kind === 'new') return [toolkits]
  const { organization, toolkit } = home
  const isOwn = organization.text !== 'Gallery'
  return [
    isOwn
      ? { href: `/organizations/${organization.value}`, text: organization.text }
      : { href: '/gallery', text: 'Gallery' },
    ...(isOwn ? [toolkits] : []),
    { href: isOwn ? `/toolkits/${toolkit.id}` : `/gallery/${toolkit.id}`, text: toolkit.title },
  ]
}

const optionsOfMethod = (method: string) =>
  [...METHODS, ...(METHODS.includes(method) || method === '' ? [] : [method])].map(value => ({ value, text: value }))

/** The whole page. */
export const toEditorPage = (state: EditorState): PageData => {
  const { home, form } = state
  const isNew = home.kind !== 'tool'
  return {
    title: home.kind === 'tool' ? home.tool.name : 'New tool',
    section: 'toolkits',
    scripts: ['drafts', 'tool-editor'],
    ...toLiveView(state),
    crumbs: crumbsOf(home),
    heading: home.kind === 'tool' ? home.tool.name : 'New tool',
    subtitle: subtitleOf(home),
    isNew,
    path: pathOf(home),
    homeFields: [
      ...(home.kind === 'tool' ? [{ name: 'tool', value: home.tool.id }] : []),
      ...(home.kind === 'in-toolkit' ? [{ name: 'toolkit', value: home.toolkit.id }] : []),
    ],
    form,
    draftOwner: home.userId,
    organizations: home.kind === 'new' && home.organizations.length > 1 ? home.organizations : undefined,
    organizationId: home.kind === 'new' ? home.organizationId : undefined,
    hasToolkitTitle: home.kind === 'new',
    methods: optionsOfMethod(form.method),
    manners: toManners(form),
    ...RESPONSE_CHOICES,
    servers: home.servers,
    offers: home.kind === 'tool' ? home.offers : [],
    askForServer: home.kind === 'tool' && home.mayBuild && home.offers.length === 0,
    offerAgain: home.kind === 'tool' && home.mayBuild && home.offers.length > 0,
    hasSchemas: form.inputSchema !== '' || form.outputSchema !== '' || form.allowedOrigins !== '',
  }
}
