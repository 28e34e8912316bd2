import { formHole, textHole } from './encodings.ts'
import { planJson } from './json-template.ts'
import { MAX_BODY_TEMPLATE_CHARS } from './limits.ts'
import { checkPairLists, createPairLists } from './lists/pairs.ts'
import { checkSerializations } from './lists/serialize.ts'
import { planMultipart } from './multipart-template.ts'
import { buildPairs, checkEscapes, checkPairs, namesOfPairs } from './pairs-template.ts'
import { type FieldPlan, refusedPlan } from './plan.ts'
import { line } from './render.ts'
import { type Scan, type ScanOptions, scanTemplate } from './scan.ts'
import type { BodyKind, TemplateRules } from './template.ts'
import { planXml } from './xml-template.ts'

/** `contentType` is sent as the Content-Type if the tool has no Content-Type header of its own. */
export type BodyPlan = { kind: BodyKind; scan: Scan; plan: FieldPlan; contentType: string }

const FORM_TYPE = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Returns the kind of body for a Content-Type (RFC 9110 §8.3, RFC 6839 §3.1), ignoring its parameters. */
export const kindOf = (contentType: string): BodyKind => {
  const [type = ''] = contentType.split(';', 1)
  const essence = type.trim().toLowerCase()
  if (essence === FORM_TYPE) return 'form'
  if (/^(?:application|text)\/json$|\+json$/.test(essence)) return 'json'
  if (essence.startsWith('multipart/')) return 'multipart'
  return /^(?:application|text)\/xml$|\+xml$/.test(essence) ? 'xml' : 'text'
}

const kindUnder = (rules: TemplateRules, kind: BodyKind): BodyKind =>
  rules === 1 && (kind === 'xml' || kind === 'multipart') ? 'text' : kind

const scanBody = (body: string, pairs: ScanOptions['pairs']): Scan =>
  scanTemplate(body, { pairs, maxChars: MAX_BODY_TEMPLATE_CHARS })

const planForm = (scan: Scan): FieldPlan => {
  const text = { holed: scan.holed, places: scan.places, firstPlace: 0 }
  const list = createPairLists('form', text)
  return {
    holes: scan.places.map(({ type }, index) => list(index) ?? formHole(type)),
    names: namesOfPairs(scan.holed),
    faults: [...checkPairs(text), ...checkEscapes(text), ...checkPairLists(text, 'in a form')],
    build: partOf => buildPairs(text, '', partOf),
  }
}

const planText = ({ holed, places }: Scan): FieldPlan => ({
  holes: places.map(({ type }) => textHole(type)),
  faults: checkSerializations(places, [], 'in a body of text'),
  build: partOf => line(holed, 0, partOf),
})

const planWithoutType = (body: string): BodyPlan => {
  const scan = scanBody(body, 'keep')
  const json = planJson(scan)
  // A body that could not be scanned to its end reports only that error, so its kind does not matter.
  if (json.ok || scan.isCut) {
    return { kind: 'json', scan, plan: json.ok ? json.value : planText(scan), contentType: JSON_TYPE }
  }
  const asText = scanBody(body, 'halve')
  return { kind: 'text', scan: asText, plan: planText(asText), contentType: TEXT_TYPE }
}

/**
 * Plans the body. `contentType` is the fixed value of the tool's own Content-Type header, if there is one. `secrets` are
 * the parameters that are bound to secrets.
 */
export const planBody = (
  body: string,
  contentType: string | undefined,
  rules: TemplateRules,
  secrets: ReadonlySet<string>,
): BodyPlan => {
  if (contentType === undefined) return planWithoutType(body)
  const kind = kindUnder(rules, kindOf(contentType))
  const scan = scanBody(body, kind === 'json' ? 'keep' : 'halve')
  if (kind === 'form') return { kind, scan, plan: planForm(scan), contentType: FORM_TYPE }
  if (kind === 'text' || scan.isCut) return { kind, scan, plan: planText(scan), contentType: TEXT_TYPE }
  if (kind === 'xml') return { kind, scan, plan: planXml(scan, contentType), contentType }
  if (kind === 'multipart') return { kind, scan, plan: planMultipart(scan, contentType, secrets), contentType }
  const json = planJson(scan)
  const plan = json.ok
    ? json.value
    : refusedPlan(scan, [{ offset: json.error.offset, message: `the body is not valid JSON: ${json.error.message}` }])
  return { kind, scan, plan, contentType: JSON_TYPE }
}
