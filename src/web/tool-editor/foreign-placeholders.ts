/** Placeholders of other tools: `{id}` anywhere, also percent-encoded, and `:id` as a whole path segment. */
const BRACES = /(?<!\{|\\)(?:\{|%7B)([A-Za-z_][A-Za-z0-9_.-]{0,63})(?:\}|%7D)(?!\})/gi
const SEGMENT = /(?<=\/):([A-Za-z_][A-Za-z0-9_-]{0,63})(?=$|[/?#])/g
/**
 * The scheme and authority, or a placeholder for both. `SEGMENT` is not applied here, because a colon also precedes a
 * port.
 */
const ORIGIN = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*|\{\{.*?\}\})?/is

/** Converts other tools' placeholders to `{{name}}`. Returns undefined if there are none. */
export const convertPlaceholders = (url: string): string | undefined => {
  const [origin = ''] = ORIGIN.exec(url) ?? []
  const [path = '', ...rest] = url.slice(origin.length).split(/(?=[?#])/)
  const converted = [
    origin.replace(BRACES, '{{$1}}'),
    path.replace(BRACES, '{{$1}}').replace(SEGMENT, '{{$1}}'),
    ...rest.map(part => (part.startsWith('#') ? part : part.replace(BRACES, '{{$1}}'))),
  ].join('')
  return converted === url ? undefined : converted
}

/** Returns the names of the placeholders that `convertPlaceholders` would convert. */
export const foreignPlaceholderNames = (url: string): string[] => {
  const [origin = ''] = ORIGIN.exec(url) ?? []
  const found = [...url.matchAll(BRACES), ...url.slice(origin.length).matchAll(SEGMENT)]
  return [...new Set(found.flatMap(([, name]) => name ?? []))]
}
