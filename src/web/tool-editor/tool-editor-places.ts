/** As other tools write a place: `{id}` anywhere, also as browsers copy it, and `:id` as a whole segment of the path. */
const BRACES = /(?<!\{|\\)(?:\{|%7B)([A-Za-z_][A-Za-z0-9_.-]{0,63})(?:\}|%7D)(?!\})/gi
const SEGMENT = /(?<=\/):([A-Za-z_][A-Za-z0-9_-]{0,63})(?=$|[/?#])/g
/** Scheme and authority, or a place for both: a port begins with a colon too. */
const ORIGIN = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*|\{\{.*?\}\})?/is

/** A URL with the places that other tools write turned into ours; undefined where it has none. */
export const offerPlaces = (url: string): string | undefined => {
  const [origin = ''] = ORIGIN.exec(url) ?? []
  const [path = '', ...rest] = url.slice(origin.length).split(/(?=[?#])/)
  const turned = [
    origin.replace(BRACES, '{{$1}}'),
    path.replace(BRACES, '{{$1}}').replace(SEGMENT, '{{$1}}'),
    ...rest.map(part => (part.startsWith('#') ? part : part.replace(BRACES, '{{$1}}'))),
  ].join('')
  return turned === url ? undefined : turned
}

/** The names of the places that the offer makes, for its sentence. */
export const namesInOffer = (url: string): string[] => {
  const [origin = ''] = ORIGIN.exec(url) ?? []
  const found = [...url.matchAll(BRACES), ...url.slice(origin.length).matchAll(SEGMENT)]
  return [...new Set(found.flatMap(([, name]) => name ?? []))]
}
