/** An expression of a path, such as `{id}`. `keepsSlashes`: its value may have slashes, which are sent as such. */
export type PathExpression = { name: string; keepsSlashes: boolean }

/** Matches the expressions of a path. The text between the braces is a group of its own. */
export const PATH_EXPRESSION = /(\{[^{}]*\})/

/** Signs before and after the name by which an expression takes the rest of the path. */
const CATCH_ALL_START = /^(?:\+|\*{1,2})/
const CATCH_ALL_END = /^(?:\+|:path|:\s*\.[*+]|=.*\*\*)$/
/** Everything that can follow a name: such a sign, the explode modifier, or a router's pattern. */
const AFTER_NAME = /^(?:\+|\*|:path|:\s*[.[(\\^].*|=.*\*)$/s

/**
 * Reads the text between the braces. OpenAPI has names only, but descriptions have what the routers of their APIs and URI
 * templates write: `{+path}` (RFC 6570), `{path+}` (API Gateway), `{*path}` and `{**path}` (ASP.NET), `{path:path}`
 * (Starlette), `{path: .+}` (JAX-RS), `{name=files/**}` (gRPC transcoding).
 */
export const readExpression = (text: string): PathExpression => {
  const [, start = '', name = '', end = ''] = /^([+#/*]*)([^:=+*]*)(.*)$/s.exec(text) ?? []
  const whole = AFTER_NAME.test(end) ? name : name + end
  return { name: whole.trim(), keepsSlashes: CATCH_ALL_START.test(start) || CATCH_ALL_END.test(end) }
}

/** Returns the expressions of a path, also those with escaped braces. */
export const listExpressions = (path: string): readonly PathExpression[] =>
  path
    .replaceAll(/%7B/gi, '{')
    .replaceAll(/%7D/gi, '}')
    .split(PATH_EXPRESSION)
    .flatMap(part => (PATH_EXPRESSION.test(part) ? [readExpression(part.slice(1, -1))] : []))
