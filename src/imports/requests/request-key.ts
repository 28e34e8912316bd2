import type { ImportedRequest } from '../../tools/import/imported-request.ts'
import { originPart } from '../../tools/import/url-placeholders.ts'
import { fillMarks } from '../../tools/import/variable-marks.ts'

const MAX_PATH_CHARS = 300

/** Returns the method and the path as API descriptions write them: `/orders/{id}`. */
export const describeTarget = ({
  method,
  url,
  variables,
}: Pick<ImportedRequest, 'method' | 'url' | 'variables'>): { method: string; path: string } => {
  const names = new Map(variables.map(({ name, placeholder }) => [name, placeholder?.name ?? name]))
  const [path = ''] = url.slice(originPart(url).length).split('?', 1)
  const shown = fillMarks(path, name => `{${names.get(name) ?? name}}`).slice(0, MAX_PATH_CHARS)
  return { method: method.toUpperCase(), path: shown === '' ? '/' : shown }
}

/** Creates a function that names operations by method and path, with a number from 2 on if there are several such. */
export const createOperationKeys = (): ((target: { method: string; path: string }) => string) => {
  const counts = new Map<string, number>()
  return ({ method, path }) => {
    const key = `${method} ${path}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count === 1 ? key : `${key} (${count})`
  }
}
