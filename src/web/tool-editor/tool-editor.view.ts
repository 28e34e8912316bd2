import type { PageData } from '../../lib/http/pages/views.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import { instancePath } from '../server-tools/tools.pages.ts'
import { RESPONSE_CHOICES } from './response-rules-form.ts'
import type { ToolForm } from './tool-editor-form.ts'
import type { EditorState } from './tool-editor-state.ts'
import type { EditorSubject } from './tool-editor-subject.ts'
import { toPreviewView } from './tool-preview.view.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

const FROM_METHOD = { value: '', text: 'Auto (from method)' }
const YES_NO = [FROM_METHOD, { value: 'yes', text: 'Yes' }, { value: 'no', text: 'No' }] as const

const toAnnotationFields = (form: ToolForm) => [
  { id: 'readOnlyHint', label: 'Read-only', value: form.readOnlyHint, options: YES_NO },
  { id: 'idempotentHint', label: 'Idempotent', value: form.idempotentHint, options: YES_NO },
  { id: 'destructiveHint', label: 'Destructive', value: form.destructiveHint, options: YES_NO },
  { id: 'openWorldHint', label: 'Open world', value: form.openWorldHint, options: YES_NO },
]

const withConnections = ({ openConnections }: EditorSubject & { kind: 'tool' }): string =>
  openConnections === undefined ? '' : `, with ${formatCount(openConnections, 'open connection')}`

/** Returns the subtitle, such as "Used by 2 servers, with 5 open connections. Changes go live when you save." */
const subtitleOf = (subject: EditorSubject): string => {
  if (subject.kind === 'tool' && subject.tool.problem !== undefined)
    return `Cannot be used until this is fixed: ${subject.tool.problem}.`
  if (subject.kind === 'in-toolkit') return `Adds a tool to ${subject.toolkit.title}.`
  if (subject.kind === 'new')
    return 'An HTTP request with parameters that the model fills in. Only a name and a URL are required.'
  const servers = new Set(subject.offers.map(({ serverId }) => serverId)).size
  if (servers === 0) return 'Not used by any server yet.'
  return `Used by ${formatCount(servers, 'server')}${withConnections(subject)}. Changes go live when you save.`
}

/** Returns the message after saving, such as "Saved. Live on 2 servers, with 5 open connections." */
export const savedText = (subject: EditorSubject & { kind: 'tool' }): string => {
  if (subject.tool.problem !== undefined) return 'Saved. No server can use it until it is fixed.'
  const servers = new Set(subject.offers.map(({ serverId }) => serverId)).size
  if (servers === 0) return 'Saved. Not used by any server yet.'
  return `Saved. Live on ${formatCount(servers, 'server')}${withConnections(subject)}.`
}

/** Returns the URL to which the form is submitted. It also identifies the form's draft. */
const pathOf = (subject: EditorSubject): string => {
  if (subject.kind === 'tool') return `/tools/${subject.tool.id}`
  return subject.kind === 'in-toolkit' ? `/toolkits/${subject.toolkit.id}/tools/new` : '/toolkits/new-tool'
}

const crumbsOf = (subject: EditorSubject) => {
  const toolkits = { href: '/toolkits', text: 'Toolkits' }
  if (subject.kind === 'new') return [toolkits]
  const { organization, toolkit } = subject
  const isOwn = organization.text !== 'Gallery'
  return [
    isOwn
      ? { href: `/organizations/${organization.value}`, text: organization.text }
      : { href: '/gallery', text: 'Gallery' },
    ...(isOwn ? [toolkits] : []),
    { href: isOwn ? `/toolkits/${toolkit.id}` : `/gallery/${toolkit.id}`, text: toolkit.title },
  ]
}

/** Lists the servers that use the tool, with the parameters whose defaults nobody has bound there. */
const toOfferRows = (subject: EditorSubject) => {
  if (subject.kind !== 'tool') return []
  const defaults = Object.entries(subject.tool.parameters).filter(([, { binding }]) => binding !== undefined)
  const unboundOf = (bound: readonly string[]) => defaults.flatMap(([name]) => (bound.includes(name) ? [] : name))
  return subject.offers.map(({ instanceId, serverId, serverName, name, bound }) => ({
    serverId,
    serverName,
    name,
    unbound: subject.mayBuild ? unboundOf(bound).join(', ') : '',
    bindHref: instancePath(serverId, instanceId),
  }))
}

const optionsOfMethod = (method: string) =>
  [...METHODS, ...(METHODS.includes(method) || method === '' ? [] : [method])].map(value => ({ value, text: value }))

/** Returns the text of the save bar, which the script replaces. `isUnsaved`: the form is not as it was saved. */
const saveStateOf = (subject: EditorSubject, isUnsaved: boolean): string => {
  if (subject.kind !== 'tool') return 'Not saved yet'
  return isUnsaved ? 'Unsaved changes' : 'Save to keep your changes'
}

export const toEditorPage = (state: EditorState, isUnsaved: boolean): PageData => {
  const { subject, form } = state
  const isNew = subject.kind !== 'tool'
  const mayOffer = subject.kind === 'tool' && subject.mayBuild && subject.tool.problem === undefined
  return {
    title: subject.kind === 'tool' ? subject.tool.name : 'New tool',
    section: 'toolkits',
    width: 'wide',
    scripts: ['tool-editor'],
    ...toPreviewView(state),
    crumbs: crumbsOf(subject),
    heading: subject.kind === 'tool' ? subject.tool.name : 'New tool',
    subtitle: subtitleOf(subject),
    isNew,
    saveState: saveStateOf(subject, isUnsaved),
    path: pathOf(subject),
    subjectFields: [
      ...(subject.kind === 'tool' ? [{ name: 'tool', value: subject.tool.id }] : []),
      ...(subject.kind === 'in-toolkit' ? [{ name: 'toolkit', value: subject.toolkit.id }] : []),
    ],
    form,
    draftOwner: subject.userId,
    organizations: subject.kind === 'new' && subject.organizations.length > 1 ? subject.organizations : undefined,
    organizationId: subject.kind === 'new' ? subject.organizationId : undefined,
    hasToolkitTitle: subject.kind === 'new',
    methods: optionsOfMethod(form.method),
    annotations: toAnnotationFields(form),
    ...RESPONSE_CHOICES,
    servers: subject.servers,
    offers: toOfferRows(subject),
    askForServer: mayOffer && subject.offers.length === 0,
    offerAgain: mayOffer && subject.offers.length > 0,
  }
}
