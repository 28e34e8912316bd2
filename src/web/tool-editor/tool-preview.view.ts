import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { DraftPreview } from '../../runtime/try/tool-draft.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import type { Bindings } from '../../servers/server.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import type { TemplateParameter } from '../../templates/template.ts'
import { formatJson } from '../overview/format-json.ts'
import { offerPlaceholders } from './foreign-placeholders.ts'
import { mayKeepValue } from './kept-values.ts'
import { RESPONSE_HINTS } from './response-rules-form.ts'
import { toResponseView } from './sent-response.view.ts'
import { toShapingPreview } from './shaping-preview.view.ts'
import { toAuthView } from './tool-auth.view.ts'
import { WHOLE_TOOL } from './tool-editor-advice.ts'
import type { ParameterTexts } from './tool-editor-parameters.ts'
import type { EditorState } from './tool-editor-state.ts'
import { textOfDefault, toParameterRow } from './tool-parameters.view.ts'
import { toBodyKinds, toTabs } from './tool-tabs.view.ts'
import { importUrl } from './url-import.ts'

const isKeptSecret = ({ definition }: EditorState['read'], name: string): boolean =>
  secretKeyOf(definition.parameters[name]?.binding) !== undefined

/** Returns hidden fields for parameters that are no longer in the request, in case the user adds them again. */
const toHiddenFields = ({ form, read, values }: EditorState, shown: ReadonlySet<string>) => {
  const found = new Set(read.template.parameters.map(({ name }) => name))
  return [
    ...[...form.parameters].flatMap(([name, texts]) =>
      found.has(name)
        ? []
        : Object.entries(texts).flatMap(([key, value]) => (value ? [{ name: `parameter:${name}:${key}`, value }] : [])),
    ),
    ...[...values].flatMap(([name, value]) =>
      shown.has(name) || value === '' || isKeptSecret(read, name) ? [] : [{ name: `value:${name}`, value }],
    ),
  ]
}

const choicesOf = ({ type }: TemplateParameter, texts: ParameterTexts | undefined): string[] | undefined => {
  const listed = (texts?.enum ?? '').split('\n').filter(line => line.trim() !== '')
  if (listed.length > 0) return listed
  return type === 'boolean' ? ['true', 'false'] : undefined
}

/** Returns the fields for values to try the tool with. A secret that the server lacks is asked for in its row. */
const toTryFields = ({ read, form, values, valueFaults, preview, secrets }: EditorState) => {
  const checked = new Map(preview?.compiled.parameters.map(one => [one.parameter.name, one]))
  return read.template.parameters
    .filter(
      ({ name }) =>
        bindingOf(preview?.bindings ?? {}, name).source === 'exposed' && secrets.get(name)?.state !== 'missing',
    )
    .map(parameter => {
      const { name, type } = parameter
      const texts = form.parameters.get(name)
      const isSecret = isKeptSecret(read, name)
      // A secret that was typed is not shown again.
      const value = isSecret ? '' : (values.get(name) ?? '')
      const compiled = checked.get(name)
      return {
        name,
        type,
        isSecret,
        value,
        // An example is on the page anyway.
        isKept: !isSecret && compiled !== undefined && value !== texts?.example && mayKeepValue(compiled, value),
        choices: choicesOf(parameter, texts),
        placeholder: textOfDefault(parameter) ?? texts?.default ?? '',
        fault: valueFaults.get(name),
      }
    })
}

type Segment = { text: string; kind?: 'mask' | 'key' }

/** Matches the mask that replaces secrets in requests. */
const MASK = /(•••)/
/** Splits text at masked secrets. */
export const maskSegments = (text: string): Segment[] =>
  text
    .split(MASK)
    .filter(part => part !== '')
    .map(part => (part === '•••' ? { text: '••••••••', kind: 'mask' } : { text: part }))

const toRequestSegments = (request: NonNullable<DraftPreview['request']>): Segment[] => {
  const headers = request.headers.flatMap(([name, value]): Segment[] => [
    { text: `\n${name}:`, kind: 'key' },
    ...maskSegments(` ${value}`),
  ])
  const body = request.body === undefined ? [] : maskSegments(`\n\n${request.body.slice(0, 20_000)}`)
  return [...maskSegments(` ${request.url}`), ...headers, ...body]
}

/** Returns the parameters that the model does not see, with the sources of their values. */
const toBoundParameters = (bindings: Bindings, { read, preview }: EditorState) =>
  read.template.parameters.flatMap(({ name }) => {
    const binding = bindingOf(bindings, name)
    if (binding.source === 'exposed') return []
    if (binding.source === 'instance') return [{ source: 'fixed', text: name }]
    return [{ source: preview?.secretKeys.has(binding.key ?? name) ? 'secret' : 'global', text: name }]
  })

const toSeen = (state: EditorState) => {
  const { seen, cost, preview, subject, form } = state
  if (seen === undefined || cost === undefined) return undefined
  return {
    name: seen.name || 'unnamed',
    description: seen.description,
    schema: formatJson(JSON.stringify(seen.inputSchema)) ?? [],
    tokens: formatNumber(cost.tokens),
    ofDescription: formatNumber(cost.ofDescription),
    encoding: cost.encoding,
    advice: state.advice.get(WHOLE_TOOL),
    where: subject.servers.find(({ value }) => value === form.serverId)?.text,
    hidden: toBoundParameters(preview?.bindings ?? {}, state),
  }
}

const quoteList = (names: readonly string[]): string => names.map(name => `{{${name}}}`).join(', ')

const toUrlOffer = (url: string) => {
  const offer = offerPlaceholders(url)
  return offer && { ...offer, placeholders: quoteList(offer.names) }
}

/** Offers to make the values of the URL parameters. A saved URL is only changed if it has a secret. */
const toValuesOffer = ({ form, subject }: EditorState) => {
  const imported = importUrl(form)
  const isSaved = subject.kind === 'tool' && subject.tool.url === form.url.trim()
  if (imported === undefined || (isSaved && !imported.hadSecrets)) return undefined
  return { placeholders: quoteList(imported.names), hasSecret: imported.hadSecrets }
}

const HINTS = {
  name: 'Tool name the model uses. Letters, digits, _ and -.',
  title: '',
  description: 'Say when to use it. The model reads this before every call.',
  url: 'Type {{ to add a parameter. ? makes it optional, = sets a default, | repeat sends a list. Or paste a cURL command.',
  headers: 'One per line, e.g. Accept: application/json',
  body: '',
  timeoutMs: '',
  retries: 'After a failed connection or 429, 502, 503, 504. Not for POST and PATCH. Default 0, max 3',
  callPrice: 'Counted by limits of money, in the currency in which they are set, e.g. 0.005',
  cacheSeconds: 'For read-only tools. Repeated requests get the cached response, unless the API forbids caching.',
  cursorParameter: 'The parameter that takes the cursor of the next page, e.g. cursor',
  cursorPath: 'Where the response has this cursor, e.g. meta.next_cursor',
  outputSchema: 'JSON Schema of the response. Clients then get structured content.',
  inputSchema: 'JSON Schema to use instead of the one generated from the parameters',
  allowedOrigins: 'One per line. Required if a parameter sets where a request with a secret goes.',
  ...RESPONSE_HINTS,
  toolkitTitle: '',
} as const

const SENT_UNCHANGED = 'Sent unchanged: must be well-formed XML in UTF-8, without a DOCTYPE.'

/** Shows the name that a typed text such as "Get order" becomes. */
const nameHint = ({ read, form }: EditorState): string => {
  const { name } = read.definition
  return name === form.name.trim() ? HINTS.name : `Saved as ${name}.`
}

const bodyHint = ({ read }: EditorState): string => {
  const isDocument = read.template.parameters.some(({ places }) => places.some(({ kind }) => kind === 'xml-document'))
  return isDocument ? SENT_UNCHANGED : HINTS.body
}

/** Returns the data for the parts of the editor that change while the user types. */
export const toPreviewView = (state: EditorState) => {
  const { read, preview, placed, form, test, subject, isCommand } = state
  const tryFields = toTryFields(state)
  const shown = new Set(tryFields.map(({ name }) => name))
  const rows = read.template.parameters.map(parameter => toParameterRow(parameter, state))
  const auth = toAuthView(state, rows)
  return {
    mayBuild: subject.mayBuild,
    notes: Object.fromEntries(placed),
    advice: Object.fromEntries(state.advice),
    hints: {
      ...HINTS,
      name: nameHint(state),
      body: bodyHint(state),
      timeoutMs: `Default ${formatNumber(state.defaultTimeoutMs)}, max ${formatNumber(state.maxTimeoutMs)}`,
    },
    bodyWarning: read.bodyWarning,
    urlOffer: subject.mayBuild ? toUrlOffer(form.url) : undefined,
    valuesOffer: subject.mayBuild ? toValuesOffer(state) : undefined,
    isCommand: subject.mayBuild && isCommand,
    rows,
    globals: state.globals,
    tabs: toTabs(state, rows, auth),
    auth,
    bodyKinds: toBodyKinds(state),
    isJsonBody: read.template.bodyKind === 'json',
    rewritten: form.rewritten.map(field => ({ field, text: form[field] })),
    parameterCount: formatCount(rows.length, 'parameter'),
    hiddenFields: toHiddenFields(state, shown),
    isUsed: subject.kind === 'tool' && subject.offers.length > 0,
    tryFields,
    method: read.definition.method,
    request: preview?.request && toRequestSegments(preview.request),
    curl: preview?.curl,
    missing: preview?.problem?.split('\n'),
    isEmpty: form.url.trim() === '',
    seen: toSeen(state),
    response: test && toResponseView(test),
    shaped: toShapingPreview(state),
  }
}
