import { multipartHole, NOT_THE_BOUNDARY, partHeaderHole, textHole } from './encodings.ts'
import { buildWithParts, checkPartLists, findWholeParts, partListHole } from './lists/parts.ts'
import { checkSerializations } from './lists/serialize.ts'
import { type FieldPlan, type Hole, isWhole, type Part } from './plan.ts'
import { line } from './render.ts'
import { countHoles, type Fault, HOLE, type Scan } from './scan.ts'
import type { RenderError, Values } from './template.ts'

const BOUNDARY = /(?:^|[;\s])boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gi

/** Returns the boundaries that a Content-Type declares (RFC 2046 §5.1.1). A valid one declares a single boundary. */
const boundariesOf = (contentType: string): readonly string[] =>
  [...contentType.matchAll(BOUNDARY)]
    .map(([, quoted, token = '']) => quoted?.replaceAll(/\\(.)/g, '$1') ?? token)
    .filter(boundary => boundary !== '')

/** Where in the body a placeholder is. Other strings are the reason that none is allowed there. */
type Spot = 'content' | 'header' | 'quoted' | 'parameter' | { refusal: string }

const ON_DELIMITER: Spot = { refusal: 'a placeholder cannot be on the line of a boundary' }
const IN_BOUNDARY: Spot = { refusal: 'a placeholder cannot be in a boundary. Write the boundary out' }
const IN_HEADER_NAME: Spot = {
  refusal: 'a placeholder in a header of a part must follow its name, as in Content-Type: {{type}}',
}

/** Returns the spots of the placeholders in a header of a part. */
const spotsInHeader = (text: string): readonly Spot[] => {
  const chunks = text.split(HOLE).slice(0, -1)
  if (boundariesOf(text).some(boundary => boundary.includes(HOLE))) return chunks.map(() => IN_BOUNDARY)
  if (/^[^:\0]+:[ \t]*\0[ \t]*$/.test(text)) return ['header']
  let before = ''
  return chunks.map(chunk => {
    before += chunk
    if (!/^[^\s:]+:/.test(before)) return IN_HEADER_NAME
    const quotes = before.replaceAll(/\\./g, '').split('"').length - 1
    return quotes % 2 === 1 ? 'quoted' : 'parameter'
  })
}

/** Matches the name of a form field (RFC 7578 §4.2), quoted or not, after any other parameters. */
const FIELD_NAME = /^content-disposition:(?:[^"]|"[^"]*")*?;\s*name=(?:"([^"\0]*)"|([^\s";\0]+))/i

const fieldNameOf = (header: string): string | undefined => {
  const [, quoted, token] = FIELD_NAME.exec(header) ?? []
  return quoted ?? token
}

type PartsShape = { spots: readonly Spot[]; names: readonly (string | undefined)[]; boundaries: string[] }

/**
 * Finds the spots of all placeholders and the names of their parts, and adds the boundaries of parts that have parts
 * themselves.
 */
const shapeParts = (holed: string, outer: readonly string[]): PartsShape => {
  const boundaries = [...outer]
  const names: (string | undefined)[] = []
  let isHeader = false
  let name: string | undefined
  const spots = holed.split(/\r\n?|\n/).flatMap((text): readonly Spot[] => {
    const all = (spot: Spot): Spot[] => Array.from({ length: countHoles(text) }, () => spot)
    const delimiter = boundaries.find(boundary => text.startsWith(`--${boundary}`))
    if (delimiter !== undefined) {
      isHeader = !text.startsWith(`--${delimiter}--`)
      name = undefined
    }
    if (isHeader) name = fieldNameOf(text) ?? name
    names.push(...all('content').map(() => name))
    if (boundaries.some(boundary => text.includes(boundary))) return all(ON_DELIMITER)
    if (text === '') isHeader = false
    if (!isHeader) return all('content')
    const own = spotsInHeader(text)
    boundaries.push(...boundariesOf(text))
    return own
  })
  return { spots, names, boundaries }
}

/** Counts the occurrences of a boundary, including those that overlap. */
const countOf = (text: string, boundary: string): number => {
  let count = 0
  for (let at = text.indexOf(boundary); at !== -1; at = text.indexOf(boundary, at + 1)) count++
  return count
}

/** Stands for a secret where boundaries are searched. */
const COVER = '\ufffd'

const cover = (values: Values, secrets: ReadonlySet<string>): Values =>
  new Map([...values].map(([name, value]) => [name, secrets.has(name) ? COVER : value]))

/**
 * Rejects a body in which values form a boundary together with each other or with the text around them. The values of
 * `secrets` do not count. `searchedPart` is the body without repeated parts, which have boundaries of their own.
 */
const withoutNewBoundaries = (
  part: Part,
  searchedPart: Part,
  { holed, boundaries, secrets }: { holed: string; boundaries: readonly string[]; secrets: ReadonlySet<string> },
  refusal: RenderError,
): Part => {
  const counts = boundaries.map(boundary => [boundary, countOf(holed, boundary)] as const)
  return (values, room) => {
    const text = part(values, room)
    if (typeof text !== 'string') return text
    const isSame = secrets.size === 0 && searchedPart === part
    const searched = isSame ? text : searchedPart(cover(values, secrets), room)
    if (typeof searched !== 'string') return searched
    return counts.every(([boundary, count]) => countOf(searched, boundary) === count) ? text : refusal
  }
}

/**
 * Plans a multipart body. Its text is sent as written, so it needs the boundary that the Content-Type declares. The
 * parameters in `secrets` may contain a boundary: whoever wrote the template chose it, and must not learn from an error
 * whether a secret contains it.
 */
export const planMultipart = (scan: Scan, contentType: string, secrets: ReadonlySet<string>): FieldPlan => {
  const { holed, places } = scan
  const [first] = places
  if (first === undefined || isWhole(scan)) {
    return {
      holes: places.map(({ type }) => textHole(type)),
      faults: checkSerializations(places, [], 'as the whole multipart body'),
      build: partOf => (first === undefined ? line(holed, 0, partOf) : partOf(0)),
    }
  }
  const outer = boundariesOf(contentType)
  const { spots, names, boundaries } = shapeParts(holed, outer)
  const wholeParts = findWholeParts(scan, boundaries)
  const holes = places.map((place, index): Hole | undefined => {
    const spot = spots[index]
    if (spot === undefined || typeof spot === 'object') return undefined
    const refused = secrets.has(place.name) ? [] : boundaries
    if (spot !== 'content') return partHeaderHole(spot, refused)(place.type)
    const whole = wholeParts.get(index)
    const hole = partListHole(place, whole?.before, boundaries) ?? multipartHole(refused)(place.type)
    return whole !== undefined && place.optional ? { ...hole, whenMissing: undefined } : hole
  })
  const faults = places.flatMap(({ offset }, index): Fault[] => {
    const spot = spots[index]
    return typeof spot === 'object' ? [{ offset, message: spot.refusal }] : []
  })
  const message = 'the Content-Type has no boundary. Write it as in multipart/form-data; boundary=part-7d1'
  const removable = [...wholeParts].filter(
    ([place]) => places[place]?.serialization === 'repeat' || places[place]?.optional === true,
  )
  return {
    holes,
    names,
    faults:
      outer.length === 0
        ? [{ offset: first.offset, message }]
        : [...faults, ...checkPartLists(places, index => spots[index] === 'content', wholeParts)],
    build: partOf => {
      // The hole of a whole part refuses the boundary itself, and no boundary contains the line breaks around it.
      const covered = new Set(removable.map(([place]) => place))
      const part = buildWithParts(holed, removable, partOf)
      const searched =
        removable.length === 0 ? part : line(holed, 0, place => (covered.has(place) ? () => COVER : partOf(place)))
      return withoutNewBoundaries(
        part,
        searched,
        { holed, boundaries, secrets },
        { parameter: first.name, message: NOT_THE_BOUNDARY },
      )
    },
  }
}
