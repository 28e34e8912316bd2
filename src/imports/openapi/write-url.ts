import { UnusableOperation } from './imported-operation.ts'
import { PATH_EXPRESSION, type PathExpression, readExpression } from './path-expressions.ts'
import { holdsSecret } from './texts.ts'

/** Encodes what would change the meaning of a fixed path. Keeps percent escapes. */
const encodePath = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^!$&'()*+,\-./0-9:;=@A-Z_a-z~%]/gu, char => encodeURIComponent(char))
    .replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25')

const encodeQuery = (text: string): string => encodePath(text).replaceAll('?', '%3F')

const fill = (text: string, placeholderOf: (expression: string) => string, encode: (text: string) => string): string =>
  text
    .replaceAll(/%7B/gi, '{')
    .replaceAll(/%7D/gi, '}')
    .split(PATH_EXPRESSION)
    .map(part => (PATH_EXPRESSION.test(part) ? placeholderOf(part.slice(1, -1)) : encode(part)))
    .join('')

/**
 * Returns the URL of a tool: its base, the path with its placeholders, and the query. Some descriptions have a fixed query
 * in the path, to tell operations apart.
 */
export const writeUrl = (
  baseKey: string,
  path: string,
  { placeholderOf, query }: { placeholderOf: (expression: PathExpression) => string; query: readonly string[] },
): string => {
  if (holdsSecret(path)) throw new UnusableOperation('Its path contains a secret.')
  const toPlaceholder = (expression: string): string => placeholderOf(readExpression(expression))
  const [pathname = '', ...fixed] = path.split('?')
  const pairs = [...fixed.filter(part => part !== '').map(part => fill(part, toPlaceholder, encodeQuery)), ...query]
  const slashed = pathname.startsWith('/') || pathname === '' ? pathname : `/${pathname}`
  const search = pairs.length === 0 ? '' : `?${pairs.join('&')}`
  return `{{url:${baseKey}}}${fill(slashed, toPlaceholder, encodePath)}${search}`
}
