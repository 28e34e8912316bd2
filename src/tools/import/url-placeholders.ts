/** How documentation writes a value to be filled in: `{id}` and `<id>`, also percent-encoded, and `:id`. */
const BRACES = /(?<!\{|\\)(?:\{|%7B)([A-Za-z_][A-Za-z0-9_.-]{0,63})(?:\}|%7D)(?!\})/gi
const ANGLES = /(?:<|%3C)([A-Za-z_][A-Za-z0-9_.-]{0,63})(?:>|%3E)/gi
/** A whole segment of a path: elsewhere a colon precedes a port, or is part of a name. */
const SEGMENT = /(?<=\/):([A-Za-z_][A-Za-z0-9_-]{0,63})(?=$|[/?#])/g

/** The scheme and authority, or a placeholder for both. */
const ORIGIN = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*|\{\{.*?\}\})?/is

/** Returns the URL up to its path. */
export const originPart = (url: string): string => ORIGIN.exec(url)?.[0] ?? ''

type Write = (name: string, written: string) => string

/** Replaces the placeholders in braces. */
export const replaceBraces = (text: string, write: Write): string =>
  text.replace(BRACES, (written, name: string) => write(name, written))

const replaceAngles = (text: string, write: Write): string =>
  text.replace(ANGLES, (written, name: string) => write(name, written))

const replaceSegments = (text: string, write: Write): string =>
  text.replace(SEGMENT, (written, name: string) => write(name, written))

/**
 * Replaces other tools' placeholders in the path and the query of a URL. The scheme, the host, the port and the fragment
 * stay as they are.
 */
export const replaceUrlPlaceholders = (url: string, write: Write): string => {
  const origin = originPart(url)
  const [path = '', ...rest] = url.slice(origin.length).split(/(?=[?#])/)
  // Angles first: what `write` returns for them must not be read as a segment or as braces.
  const inBoth = (text: string): string => replaceBraces(replaceAngles(text, write), write)
  const written = [replaceSegments(path, write), ...rest].map(part => (part.startsWith('#') ? part : inBoth(part)))
  return [origin, ...written].join('')
}
