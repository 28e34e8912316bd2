import { type AfterBase, baseHole } from './base-url.ts'
import { hostHole, pathHole, queryHole } from './encodings.ts'
import { buildPairs, checkEscapes, checkPairs } from './pairs-template.ts'
import { type FieldPlan, type Hole, line, type Part, sequence } from './plan.ts'
import { type Complaint, countHoles, HOLE, type Scan } from './scan.ts'
import type { RenderError } from './template.ts'
import { shapeUrl, type UrlShape } from './url-shape.ts'

export type UrlPlan = FieldPlan & {
  /** Of the builder's own text; undefined when places decide it. */
  fixedOrigin: string | undefined
}

/** As WHATWG URL writes them, places masked again; `origin` is empty after a base, `query` without its `?`. */
type CanonicalUrl = { origin: string; path: string; query: string }

/** Survives WHATWG URL unchanged in host, path and query: lower-case letters and digits that the text does not hold. */
const markFor = (text: string): string => {
  let mark = 'place'
  while (text.toLowerCase().includes(mark)) mark += 'q'
  return mark
}

/** The path with exactly one slash before it; after a base, none when there is no path. */
const slashed = ({ hasBase, path }: UrlShape): string => {
  if (!hasBase) return path.masked
  return path.masked === '' ? '' : `/${path.masked.replace(/^\/+/, '')}`
}

/** Lets WHATWG URL write the fixed text as it always would, with a harmless word in each place; undefined: no URL. */
const canonicalize = (shape: UrlShape): CanonicalUrl | undefined => {
  const path = slashed(shape)
  const masked = `${shape.hasBase ? 'https://base.invalid' : shape.origin}${path}?${shape.query?.masked ?? ''}`
  const mark = markFor(masked)
  const url = URL.parse(masked.replaceAll(HOLE, `${mark}0x`))
  if (url === null) return undefined
  const mask = (text: string): string => text.replaceAll(`${mark}0x`, HOLE)
  const canonical = {
    origin: shape.hasBase ? '' : mask(url.origin),
    path: path === '' && shape.hasBase ? '' : mask(url.pathname),
    query: mask(url.search.slice(1)),
  }
  const isWhole =
    countHoles(canonical.origin) === countHoles(shape.origin) &&
    countHoles(canonical.path) === countHoles(path) &&
    countHoles(canonical.query) === countHoles(shape.query?.masked ?? '')
  return isWhole ? canonical : undefined
}

const holesOf = (scan: Scan, shape: UrlShape): readonly Hole[] => {
  const hosts = countHoles(shape.origin)
  const queryFirst = shape.query?.firstPlace ?? scan.places.length
  const after: AfterBase = shape.path.masked !== '' ? 'path' : shape.query === undefined ? 'nothing' : 'query'
  return scan.places.map(({ type }, index) => {
    if (shape.hasBase && index === 0) return baseHole(after)
    if (index < hosts) return hostHole(type)
    return index < queryFirst ? pathHole(type) : queryHole(type)
  })
}

const checkTypes = (scan: Scan, shape: UrlShape): readonly Complaint[] =>
  scan.places
    .slice(shape.hasBase ? 1 : 0)
    .filter(place => place.type === 'url')
    .map(({ offset }) => ({
      offset,
      message: 'a place typed url may only be the very start of the URL: use {{string:name}} here',
    }))

/** WHATWG URL reads a host whose last label is a number as an IPv4 address. */
const ENDS_IN_NUMBER = /(?:^|\.)\d+\.?$/

/**
 * Where values choose the origin, the last word is WHATWG URL's: it must read the text as it stands, and its host as a
 * name. Labels such as `0x7f` or `2130706433` are well-formed and still an address.
 */
const verified = (part: Part, hasBase: boolean, refusal: RenderError): Part => {
  return (values, room) => {
    const text = part(values, room)
    if (typeof text !== 'string') return text
    const url = URL.parse(text)
    if (url === null || url.href !== text) return refusal
    return !hasBase && ENDS_IN_NUMBER.test(url.hostname) ? refusal : text
  }
}

const buildUrl = (scan: Scan, shape: UrlShape, canonical: CanonicalUrl, partOf: (place: number) => Part): Part => {
  const { origin, path, query } = canonical
  const firstPlace = shape.query?.firstPlace ?? scan.places.length
  const hasOptional = scan.places.slice(firstPlace).some(place => place.optional)
  const head = (shape.hasBase ? HOLE : '') + origin + path
  if (!hasOptional) return line(query === '' ? head : `${head}?${query}`, 0, partOf)
  const pairs = buildPairs({ masked: query, places: scan.places, firstPlace }, '?', partOf)
  return sequence(['', '', ''], [line(head, 0, partOf), pairs])
}

const refused = (scan: Scan, complaints: readonly Complaint[]): UrlPlan => ({
  holes: scan.places.map(() => undefined),
  complaints,
  build: () => () => undefined,
  fixedOrigin: undefined,
})

/** The request's URL: what each place may do to it, and its fixed text as WHATWG URL writes it. */
export const planUrl = (scan: Scan): UrlPlan => {
  const { shape, complaints: shapeComplaints } = shapeUrl(scan)
  if (shape === undefined) return refused(scan, shapeComplaints)
  const query = shape.query ?? { masked: '', firstPlace: scan.places.length }
  const complaints = [
    ...shapeComplaints,
    ...checkTypes(scan, shape),
    ...checkEscapes({ ...shape.path, places: scan.places }),
    ...checkPairs({ ...query, places: scan.places }),
    ...checkEscapes({ ...query, places: scan.places }),
  ]
  const holes = holesOf(scan, shape)
  if (complaints.length > 0) return { ...refused(scan, complaints), holes }
  const canonical = canonicalize(shape)
  if (canonical === undefined) {
    return refused(scan, [{ offset: 0, message: 'this is not a URL: look at the host and the port' }])
  }

  const isOpen = shape.hasBase || canonical.origin.includes(HOLE)
  const [first] = scan.places
  const refusal = { parameter: first?.name ?? '', message: 'does not lead to a valid URL' }
  return {
    holes,
    complaints,
    build: partOf => {
      const part = buildUrl(scan, shape, canonical, partOf)
      return isOpen ? verified(part, shape.hasBase, refusal) : part
    },
    fixedOrigin: isOpen ? undefined : canonical.origin,
  }
}
