import { type AfterBase, baseHole } from './base-url.ts'
import { hostHole, pathHole, queryHole } from './encodings.ts'
import { checkPairLists, createPairLists, withDistinctKeys } from './lists/pairs.ts'
import { checkPathLists, type PathText, pathListHoles, placesOfPath } from './lists/path.ts'
import { checkSerializations } from './lists/serialize.ts'
import { buildPairs, checkEscapes, checkPairs, namesOfPairs } from './pairs-template.ts'
import { type FieldPlan, type Hole, type Part, refusedPlan } from './plan.ts'
import { line, sequence } from './render.ts'
import { countHoles, type Fault, HOLE, type Scan } from './scan.ts'
import { type PairsText, splitPairs } from './split-pairs.ts'
import type { RenderError } from './template.ts'
import { shapeUrl, type UrlShape } from './url-shape.ts'

export type UrlPlan = FieldPlan & {
  /** The origin in the template's text. Undefined if placeholders determine the origin. */
  fixedOrigin: string | undefined
}

/** Parts as normalized by WHATWG URL, with a HOLE for each placeholder. `origin` is empty after a base; `query` has no `?`. */
type CanonicalUrl = { origin: string; path: string; query: string }

/** Returns a marker of lowercase letters that does not occur in the text and that WHATWG URL leaves unchanged. */
const markFor = (text: string): string => {
  let mark = 'place'
  while (text.toLowerCase().includes(mark)) mark += 'q'
  return mark
}

/** Returns the path with exactly one leading slash, or an empty string if there is a base and no path. */
const slashed = ({ hasBase, path }: UrlShape): string => {
  if (!hasBase) return path.holed
  return path.holed === '' ? '' : `/${path.holed.replace(/^\/+/, '')}`
}

/** Normalizes the fixed text with WHATWG URL, with a marker for each placeholder. Undefined if it is not a URL. */
const canonicalize = (shape: UrlShape): CanonicalUrl | undefined => {
  const path = slashed(shape)
  const holed = `${shape.hasBase ? 'https://base.invalid' : shape.origin}${path}?${shape.query?.holed ?? ''}`
  const mark = markFor(holed)
  const url = URL.parse(holed.replaceAll(HOLE, `${mark}0x`))
  if (url === null) return undefined
  const toHoles = (text: string): string => text.replaceAll(`${mark}0x`, HOLE)
  const canonical = {
    origin: shape.hasBase ? '' : toHoles(url.origin),
    path: path === '' && shape.hasBase ? '' : toHoles(url.pathname),
    query: toHoles(url.search.slice(1)),
  }
  const isWhole =
    countHoles(canonical.origin) === countHoles(shape.origin) &&
    countHoles(canonical.path) === countHoles(path) &&
    countHoles(canonical.query) === countHoles(shape.query?.holed ?? '')
  return isWhole ? canonical : undefined
}

const pathTextOf = (scan: Scan, shape: UrlShape): PathText => ({
  holed: slashed(shape),
  places: placesOfPath(scan.places, shape.path),
})

const queryTextOf = (scan: Scan, { query }: UrlShape): PairsText => ({
  holed: query?.holed ?? '',
  places: scan.places,
  firstPlace: query?.firstPlace ?? scan.places.length,
})

/** `canonical` has the text that lists repeat. */
const holesOf = (scan: Scan, shape: UrlShape, canonical: CanonicalUrl | undefined): readonly Hole[] => {
  const hosts = countHoles(shape.origin)
  const path = pathTextOf(scan, shape)
  const query = queryTextOf(scan, shape)
  const after: AfterBase = shape.path.holed !== '' ? 'path' : shape.query === undefined ? 'nothing' : 'query'
  const pathLists = pathListHoles({ ...path, holed: canonical?.path ?? path.holed })
  const pairList = createPairLists('query', { ...query, holed: canonical?.query ?? query.holed })
  return scan.places.map(({ type }, index) => {
    if (shape.hasBase && index === 0) return baseHole(after)
    if (index < hosts) return hostHole(type)
    return index < query.firstPlace
      ? (pathLists[index - shape.path.firstPlace] ?? pathHole(type))
      : (pairList(index) ?? queryHole(type))
  })
}

const checkTypes = (scan: Scan, shape: UrlShape): readonly Fault[] =>
  scan.places
    .slice(shape.hasBase ? 1 : 0)
    .filter(place => place.type === 'url')
    .map(({ offset }) => ({
      offset,
      message: 'a parameter of type url is only allowed at the start of the URL. Use {{string:name}} here',
    }))

/** Matches a host whose last label is a number. WHATWG URL parses such a host as an IPv4 address. */
const ENDS_IN_NUMBER = /(?:^|\.)\d+\.?$/

/**
 * Checks a rendered URL whose origin is determined by values. WHATWG URL must not change the URL, and its host must be
 * a name. Labels such as `0x7f` or `2130706433` are well-formed but are parsed as an address.
 */
const verified =
  (part: Part, hasBase: boolean, refusal: RenderError): Part =>
  (values, room) => {
    const text = part(values, room)
    if (typeof text !== 'string') return text
    const url = URL.parse(text)
    if (url === null || url.href !== text) return refusal
    return !hasBase && ENDS_IN_NUMBER.test(url.hostname) ? refusal : text
  }

const buildUrl = (scan: Scan, shape: UrlShape, canonical: CanonicalUrl, partOf: (place: number) => Part): Part => {
  const { origin, path, query } = canonical
  const firstPlace = shape.query?.firstPlace ?? scan.places.length
  const hasOptional = scan.places.slice(firstPlace).some(place => place.optional)
  const head = (shape.hasBase ? HOLE : '') + origin + path
  const text = { holed: query, places: scan.places, firstPlace }
  if (!hasOptional) {
    const whole = line(query === '' ? head : `${head}?${query}`, 0, partOf)
    return withDistinctKeys(whole, splitPairs(text, '&'), '&', partOf)
  }
  const pairs = buildPairs(text, '?', partOf)
  return sequence(['', '', ''], [line(head, 0, partOf), pairs])
}

const refused = (scan: Scan, faults: readonly Fault[]): UrlPlan => ({
  ...refusedPlan(scan, faults),
  fixedOrigin: undefined,
})

/** Plans the URL: how each placeholder is encoded, and the fixed text as normalized by WHATWG URL. */
export const planUrl = (scan: Scan): UrlPlan => {
  const { shape, faults: shapeComplaints } = shapeUrl(scan)
  if (shape === undefined) return refused(scan, shapeComplaints)
  const query = queryTextOf(scan, shape)
  const inOrigin = scan.places.slice(0, shape.path.firstPlace)
  const faults = [
    ...shapeComplaints,
    ...checkTypes(scan, shape),
    ...checkSerializations(inOrigin, [], 'in the origin of the URL'),
    ...checkEscapes({ ...shape.path, places: scan.places }),
    ...checkPathLists(pathTextOf(scan, shape)),
    ...checkPairs(query),
    ...checkEscapes(query),
    ...checkPairLists(query, 'in the query of the URL'),
  ]
  const canonical = faults.length > 0 ? undefined : canonicalize(shape)
  const holes = holesOf(scan, shape, canonical)
  if (faults.length > 0) return { ...refused(scan, faults), holes }
  if (canonical === undefined) {
    return refused(scan, [{ offset: 0, message: 'this is not a valid URL. Check the host and the port' }])
  }

  const isOpen = shape.hasBase || canonical.origin.includes(HOLE)
  const [first] = scan.places
  const refusal = { parameter: first?.name ?? '', message: 'does not result in a valid URL' }
  return {
    holes,
    names: [...Array.from({ length: query.firstPlace }, () => undefined), ...namesOfPairs(query.holed)],
    faults,
    build: partOf => {
      const part = buildUrl(scan, shape, canonical, partOf)
      return isOpen ? verified(part, shape.hasBase, refusal) : part
    },
    fixedOrigin: isOpen ? undefined : canonical.origin,
  }
}
