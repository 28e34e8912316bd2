import { formatNumber } from '../../lib/http/pages/format.ts'
import type { DraftPreview } from '../../runtime/try/tool-draft.ts'
import { bindingOf } from '../../servers/bindings/bindings.ts'
import type { Bindings } from '../../servers/server.ts'
import type { TemplateParameter } from '../../templates/template.ts'
import { numberInWords } from '../operator/count-in-words.ts'
import { formatJson } from '../overview/format-json.ts'
import { toAnswerView } from './tool-answer.view.ts'
import { WHOLE_TOOL } from './tool-editor-advice.ts'
import type { ParameterTexts } from './tool-editor-parameters.ts'
import { namesInOffer, offerPlaces } from './tool-editor-places.ts'
import { RESPONSE_HINTS } from './tool-editor-response.ts'
import type { EditorState } from './tool-editor-state.ts'
import { toShapedView } from './tool-shaped.view.ts'

const PLACE_WORDS: Readonly<Record<TemplateParameter['places'][number]['kind'], string>> = {
  base: 'URL',
  host: 'host',
  path: 'path',
  query: 'query',
  header: 'header',
  json: 'body',
  'json-string': 'body',
  form: 'body',
  text: 'body',
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const neededText = ({ required, default: value }: TemplateParameter, texts: ParameterTexts): string => {
  if (value !== undefined) return textOf(value)
  if (texts.default) return texts.default
  return required ? 'yes' : 'no'
}

const toRow = (parameter: TemplateParameter, { form, placed, advice }: EditorState) => {
  const { name, type, places } = parameter
  const texts = form.parameters.get(name) ?? {}
  const field = (key: keyof ParameterTexts) => ({
    name: `parameter:${name}:${key}`,
    value: texts[key] ?? '',
    errors: placed.get(`parameter:${name}:${key}`) ?? [],
  })
  const isNumber = type === 'integer' || type === 'number'
  const isText = type === 'string' || type === 'url'
  const fields = {
    description: field('description'),
    default: parameter.default === undefined ? field('default') : undefined,
    example: field('example'),
    enum: field('enum'),
    minimum: isNumber || texts.minimum ? field('minimum') : undefined,
    maximum: isNumber || texts.maximum ? field('maximum') : undefined,
    pattern: isText || texts.pattern ? field('pattern') : undefined,
  }
  const { description: _description, ...more } = fields
  const said = Object.values(more).filter(one => one !== undefined && one.value !== '').length
  return {
    name,
    type,
    where: [...new Set(places.map(({ kind }) => PLACE_WORDS[kind]))].join(', '),
    needed: neededText(parameter, texts),
    fields,
    advice: advice.get(`parameter:${name}:description`),
    said: said === 0 ? undefined : numberInWords(said),
    isOpen: Object.values(more).some(one => one !== undefined && one.errors.length > 0),
  }
}

/** What is said of parameters that the request does not have now: kept in the form, should it have them again. */
const toKept = ({ form, read, values }: EditorState, shown: ReadonlySet<string>) => {
  const found = new Set(read.template.parameters.map(({ name }) => name))
  return [
    ...[...form.parameters].flatMap(([name, texts]) =>
      found.has(name)
        ? []
        : Object.entries(texts).flatMap(([key, value]) => (value ? [{ name: `parameter:${name}:${key}`, value }] : [])),
    ),
    ...[...values].flatMap(([name, value]) =>
      shown.has(name) || value === '' ? [] : [{ name: `value:${name}`, value }],
    ),
  ]
}

const choicesOf = ({ type }: TemplateParameter, texts: ParameterTexts | undefined): string[] | undefined => {
  const listed = (texts?.enum ?? '').split('\n').filter(line => line.trim() !== '')
  if (listed.length > 0) return listed
  return type === 'boolean' ? ['true', 'false'] : undefined
}

const toTryFields = ({ read, form, values, valueFaults, preview }: EditorState) =>
  read.template.parameters
    .filter(({ name }) => bindingOf(preview?.bindings ?? {}, name).source === 'exposed')
    .map(parameter => {
      const { name, type } = parameter
      const texts = form.parameters.get(name)
      return {
        name,
        type,
        value: values.get(name) ?? '',
        choices: choicesOf(parameter, texts),
        placeholder: parameter.default === undefined ? (texts?.default ?? '') : textOf(parameter.default),
        fault: valueFaults.get(name),
      }
    })

type Segment = { text: string; kind?: 'mask' | 'key' }

/** Secrets stand as dots in what execution gives out. */
const MASK = /(•••)/
const maskSegments = (text: string): Segment[] =>
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

/** Parameters that the model is not shown, with where their values come from instead. */
const toHidden = (bindings: Bindings, { read, preview }: EditorState) =>
  read.template.parameters.flatMap(({ name }) => {
    const binding = bindingOf(bindings, name)
    if (binding.source === 'exposed') return []
    if (binding.source === 'instance') return [{ source: 'fixed', text: name }]
    return [{ source: preview?.secretKeys.has(binding.key ?? name) ? 'secret' : 'global', text: name }]
  })

const toSeen = (state: EditorState) => {
  const { seen, cost, preview, home, form } = state
  if (seen === undefined || cost === undefined) return undefined
  return {
    name: seen.name || 'unnamed',
    description: seen.description,
    schema: formatJson(JSON.stringify(seen.inputSchema)) ?? [],
    tokens: formatNumber(cost.tokens),
    ofDescription: formatNumber(cost.ofDescription),
    encoding: cost.encoding,
    advice: state.advice.get(WHOLE_TOOL),
    where: home.servers.find(({ value }) => value === form.serverId)?.text,
    hidden: toHidden(preview?.bindings ?? {}, state),
  }
}

const quoteList = (names: readonly string[]): string => names.map(name => `{{${name}}}`).join(', ')

const toUrlOffer = (url: string) => {
  const offer = offerPlaces(url)
  return offer === undefined ? undefined : { url: offer, places: quoteList(namesInOffer(url)) }
}

/** What stands beneath a field while nothing is wrong with it. */
const HINTS = {
  name: 'What the model calls: letters, digits, _ and -',
  title: '',
  description: 'Say when to use it. The model reads this before every call.',
  url: 'Type {{ for a parameter. ? makes it optional, = gives a default.',
  headers: 'One a line, such as Accept: application/json',
  body: '',
  timeoutMs: '',
  cacheSeconds: 'For tools that only read. The same request is answered again meanwhile, unless the API forbids it.',
  outputSchema: 'JSON Schema of the answer: clients get the answer as structured content then',
  inputSchema: 'JSON Schema instead of the one that the parameters make',
  allowedOrigins: 'One a line. Needed where a parameter decides where a request with a secret goes.',
  ...RESPONSE_HINTS,
  toolkitTitle: '',
} as const

/** The part of the editor that follows from what is typed: answered alone while somebody types. */
export const toLiveView = (state: EditorState) => {
  const { read, preview, placed, form, test, home } = state
  const tryFields = toTryFields(state)
  const shown = new Set(tryFields.map(({ name }) => name))
  const count = read.template.parameters.length
  return {
    mayBuild: home.mayBuild,
    notes: Object.fromEntries(placed),
    advice: Object.fromEntries(state.advice),
    hints: {
      ...HINTS,
      timeoutMs: `${formatNumber(state.defaultTimeoutMs)} unless you say; ${formatNumber(state.maxTimeoutMs)} at most`,
    },
    bodyWarning: read.bodyWarning,
    urlOffer: home.mayBuild ? toUrlOffer(form.url) : undefined,
    rows: read.template.parameters.map(parameter => toRow(parameter, state)),
    found: count === 0 ? undefined : numberInWords(count),
    kept: toKept(state, shown),
    tryFields,
    method: read.definition.method,
    request: preview?.request && toRequestSegments(preview.request),
    curl: preview?.curl,
    missing: preview?.problem?.split('\n'),
    isEmpty: form.url.trim() === '',
    seen: toSeen(state),
    answer: test && toAnswerView(test),
    shaped: toShapedView(state),
  }
}
