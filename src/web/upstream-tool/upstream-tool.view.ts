import { addressOf } from '../../lib/http/list-query.ts'
import type { AppError } from '../../lib/kernel/errors.ts'
import { shorten } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { ShapingPreview } from '../../results/shape/shape-by-rules.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import type { PresentedTool } from '../../upstreams/catalogue/present-tools.ts'
import { presentedName } from '../../upstreams/catalogue/present-tools.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import { type ServerFrame, serverTabPath, upstreamPath, upstreamToolPath } from '../frame/server-frame.ts'
import { RESPONSE_CHOICES, RESPONSE_HINTS } from '../tool-editor/response-rules-form.ts'
import { toSides } from '../tool-editor/shaping-preview.view.ts'
import { placeErrors } from '../tool-editor/tool-editor-errors.ts'
import { isAsKept, type ReadUpstreamTool, type TypedUpstreamTool } from './upstream-tool-form.ts'

/** A tool of an upstream on a server that the user may edit. */
export type OpenTool = {
  server: ServerFrame
  upstream: Upstream
  tool: string
  /** The fetched tool, and its definition by the upstream. Undefined if the tool is not in the stored catalogue. */
  item: PresentedTool['item'] | undefined
  declared: JsonObject | undefined
}

export type UpstreamToolState = {
  opened: OpenTool
  typed: TypedUpstreamTool
  read: ReadUpstreamTool
  preview: ShapingPreview | undefined
  refused: AppError | undefined
  /** Why the arguments are invalid, or why the trial call failed. */
  called?: { argsError?: string; failed?: string } | undefined
}

/** Maximum length of a description on this page. The inspector shows the whole text. */
const MAX_SHOWN_CHARS = 600

const textIn = ({ declared }: OpenTool, member: string): string => {
  const text = declared?.[member]
  return typeof text === 'string' ? removeHidden(text) : ''
}

const hasSchema = ({ declared }: OpenTool): boolean => isJsonObject(declared?.outputSchema)

const saysReadOnly = ({ declared }: OpenTool): boolean => {
  const annotations = declared?.annotations
  return isJsonObject(annotations) && annotations.readOnlyHint === true
}

const TOKENS_HINT =
  'Leave empty for the server’s limit; 0 means no limit. The rest of a longer result is stored for five minutes.'
const SCHEMA_HINT =
  ' This tool has an output schema, which its results must still match after shaping. If you set a limit, the tool is listed without the schema.'

const hintsOf = (opened: OpenTool) => ({
  ...RESPONSE_HINTS,
  responseTokens: TOKENS_HINT + (hasSchema(opened) ? SCHEMA_HINT : ''),
  cacheSeconds: 'For read-only tools. Calls with the same arguments reuse the result during this time.',
})

/** Limits on the number and length of the argument names in a hint. */
const MAX_TOLD_ARGUMENTS = 12
const MAX_TOLD_CHARS = 60

const argumentsHint = ({ declared }: OpenTool): string => {
  const schema = declared?.inputSchema
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? Object.keys(schema.properties) : []
  const told = properties
    .slice(0, MAX_TOLD_ARGUMENTS)
    .map(name => removeHidden(name).slice(0, MAX_TOLD_CHARS).toWellFormed())
  const names =
    told.length === 0
      ? 'It declares no arguments'
      : `It takes ${told.join(', ')}${properties.length > told.length ? ' and more' : ''}`
  return `As JSON. ${names}. This makes a real call as you. It appears in the history.`
}

/** Returns the data for the part of the page that depends on the form. This part is refreshed while the user types. */
export const toUpstreamToolLive = ({ opened, typed, read, preview }: UpstreamToolState) => {
  const isBroken = read.responseErrors.length > 0
  const hint = isBroken
    ? 'Fix the errors to see the preview.'
    : 'Enter a result above to preview it before and after shaping.'
  return {
    mayBuild: true,
    notes: Object.fromEntries(placeErrors(read.errors, [])),
    hints: hintsOf(opened),
    shaped: toSides(typed.sample === '' ? undefined : preview, hint),
  }
}

/**
 * Returns the message above the form if the form was not saved. The message gives the reason, unless a field already
 * shows it.
 */
const problemOf = ({ refused, read }: UpstreamToolState): string | undefined => {
  if (refused === undefined) return undefined
  if (refused.code === 'conflict')
    return `${refused.message} Your changes are not saved yet. Saving again overwrites theirs.`
  return read.errors.length > 0 ? 'Could not save. Fix the fields marked below.' : refused.message
}

/** Returns the data for the page. `draftOwner` is the user whose unsaved text the browser stores. */
export const toUpstreamToolPage = (state: UpstreamToolState, draftOwner: string) => {
  const { opened, typed, called } = state
  const { server, upstream, tool } = opened
  const own = removeHidden(tool)
  const name = presentedName(upstream, tool)
  const path = upstreamToolPath(upstream, tool)
  return {
    title: `${name} in ${server.name}`,
    server,
    draftOwner,
    isUnsaved: !isAsKept(typed, upstream, tool),
    path,
    previewPath: addressOf(`${upstreamPath(server.id, upstream.id)}/tool/preview`, { name: tool.toWellFormed() }),
    crumbs: [
      { href: serverTabPath(server.id, 'sources'), text: 'Sources' },
      { href: upstreamPath(server.id, upstream.id), text: upstream.name },
    ],
    name,
    own: name.endsWith(own) ? undefined : own,
    description: shorten(textIn(opened, 'description'), MAX_SHOWN_CHARS),
    isUnknown: opened.declared === undefined,
    saysReadOnly: saysReadOnly(opened),
    form: typed,
    call: opened.declared && {
      path: addressOf(`${upstreamPath(server.id, upstream.id)}/tool/call`, { name: tool.toWellFormed() }),
      hint: argumentsHint(opened),
      error: called?.argsError,
      failed: called?.failed && shorten(called.failed, MAX_SHOWN_CHARS),
    },
    ...RESPONSE_CHOICES,
    ...toUpstreamToolLive(state),
    problem: problemOf(state),
  }
}
