import { countHoles, type Fault, HOLE, type Scan } from './scan.ts'

/** The parts of a URL with holes. `firstPlace` is the index of a part's first placeholder. */
export type UrlShape = {
  hasBase: boolean
  /** Includes the scheme, as in `https://api.example.com:8443`. Empty if the URL starts with a base. */
  origin: string
  path: { holed: string; firstPlace: number }
  /** The query without `?`. Undefined if the URL has none. */
  query: { holed: string; firstPlace: number } | undefined
}

export type ShapedUrl = { shape: UrlShape | undefined; faults: readonly Fault[] }

const BEGIN = 'start it with https://, http:// or a parameter of type url, such as {{url:base}}'

/** Reports each placeholder in a range of the text with holes. */
const placesIn = (scan: Scan, start: number, end: number, message: string): readonly Fault[] => {
  const first = countHoles(scan.holed.slice(0, start))
  const count = countHoles(scan.holed.slice(start, end))
  return scan.places.slice(first, first + count).map(({ offset }) => ({ offset, message }))
}

const checkCharacters = (scan: Scan): readonly Fault[] => {
  const { holed, offsetOf } = scan
  const at = (index: number, message: string): readonly Fault[] =>
    index === -1 ? [] : [{ offset: offsetOf(index), message }]
  return [
    ...at(holed.search(/(?!\0)\p{Cc}/u), 'line breaks and control characters are not allowed in a URL'),
    ...at(holed.startsWith(' ') ? 0 : -1, 'the URL starts with a space. Remove it'),
    ...at(holed.endsWith(' ') ? holed.length - 1 : -1, 'the URL ends with a space. Remove it, or write %20'),
  ]
}

const checkUserInfo = (scan: Scan, start: number, end: number): readonly Fault[] => {
  const at = scan.holed.slice(start, end).lastIndexOf('@')
  if (at === -1) return []
  const message = 'the URL cannot contain credentials. Send them in a header, such as Authorization'
  const places = placesIn(scan, start, start + at, `the user info cannot contain a placeholder; ${message}`)
  return places.length > 0 ? places : [{ offset: scan.offsetOf(start), message }]
}

const checkHost = (scan: Scan, start: number, end: number): readonly Fault[] => {
  let at = start
  return scan.holed
    .slice(start, end)
    .split('.')
    .flatMap(label => {
      const begin = at
      at += label.length + 1
      if (label === HOLE) return []
      const message = 'a placeholder in the host must be a whole label, as in https://{{tenant}}.example.com'
      return placesIn(scan, begin, begin + label.length, message)
    })
}

const checkAuthority = (scan: Scan, start: number, end: number): readonly Fault[] => {
  const authority = scan.holed.slice(start, end)
  const hostStart = start + authority.lastIndexOf('@') + 1
  const colon = scan.holed.slice(hostStart, end).search(/:[^\]]*$/)
  const hostEnd = colon === -1 ? end : hostStart + colon
  const missing = { offset: scan.offsetOf(start), message: 'the URL has no host' }
  return [
    ...(hostEnd === hostStart ? [missing] : []),
    ...checkUserInfo(scan, start, end),
    ...checkHost(scan, hostStart, hostEnd),
    ...placesIn(scan, hostEnd, end, 'the port cannot contain a placeholder. Write the number out'),
  ]
}

const isDotSegment = (segment: string): boolean => /^(?:\.|%2e){1,2}$/i.test(segment)

const checkPath = (scan: Scan, start: number, end: number): readonly Fault[] => {
  const path = scan.holed.slice(start, end)
  const backslash = path.indexOf('\\')
  let at = start
  const dots = path.split('/').flatMap(segment => {
    const offset = scan.offsetOf(at)
    at += segment.length + 1
    return isDotSegment(segment) ? [{ offset, message: `the path contains "${segment}". Remove it` }] : []
  })
  const message = 'the path contains a backslash. Write / or %5C'
  return backslash === -1 ? dots : [...dots, { offset: scan.offsetOf(start + backslash), message }]
}

const firstOf = (holed: string, pattern: RegExp, from: number): number => {
  const found = holed.slice(from).search(pattern)
  return found === -1 ? holed.length : from + found
}

/** Splits the rest of the URL, from `start`, into path, query and fragment. */
const shapeRest = (scan: Scan, start: number): Pick<UrlShape, 'path' | 'query'> & Pick<ShapedUrl, 'faults'> => {
  const { holed } = scan
  const fragment = firstOf(holed, /#/, start)
  const question = Math.min(firstOf(holed, /\?/, start), fragment)
  const piece = (from: number, to: number) => ({
    holed: holed.slice(from, to),
    firstPlace: countHoles(holed.slice(0, from)),
  })
  return {
    path: piece(start, question),
    query: question + 1 < fragment ? piece(question + 1, fragment) : undefined,
    faults: [
      ...checkPath(scan, start, question),
      ...placesIn(scan, fragment, holed.length, 'the fragment cannot contain a placeholder, because it is never sent'),
    ],
  }
}

const shapeBased = (scan: Scan): ShapedUrl => {
  const [base] = scan.places
  const message =
    'a parameter at the start of the URL must have type url, as in {{url:base}}. Otherwise start with https://'
  const untyped = base?.type === 'url' || base?.isBroken ? [] : [{ offset: 0, message }]
  const { path, query, faults } = shapeRest(scan, 1)
  return { shape: { hasBase: true, origin: '', path, query }, faults: [...untyped, ...faults] }
}

/** Splits a URL into its parts, and reports placeholders and characters where they are not allowed. */
export const shapeUrl = (scan: Scan): ShapedUrl => {
  const characters = checkCharacters(scan)
  if (characters.length > 0) return { shape: undefined, faults: characters }
  if (scan.holed.startsWith(HOLE) && !scan.holed.startsWith(`${HOLE}://`)) return shapeBased(scan)

  const separator = scan.holed.search(/:\/\/|[/?#]/)
  const schemeEnd = scan.holed.startsWith('://', separator) ? separator : 0
  const scheme = scan.holed.slice(0, schemeEnd)
  if (scheme.includes(HOLE)) {
    const message = `the scheme cannot contain a placeholder: ${BEGIN}`
    return { shape: undefined, faults: placesIn(scan, 0, schemeEnd, message) }
  }
  if (!/^https?$/i.test(scheme)) {
    const problem = scheme === '' ? 'the URL is not absolute' : `the scheme "${scheme}" is not allowed`
    return { shape: undefined, faults: [{ offset: 0, message: `${problem}: ${BEGIN}` }] }
  }
  const hostStart = schemeEnd + 3
  const hostEnd = firstOf(scan.holed, /[/?#\\]/, hostStart)
  const { path, query, faults } = shapeRest(scan, hostEnd)
  const shape = { hasBase: false, origin: scan.holed.slice(0, hostEnd), path, query }
  return { shape, faults: [...checkAuthority(scan, hostStart, hostEnd), ...faults] }
}
