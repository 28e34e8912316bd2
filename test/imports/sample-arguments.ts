import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/kernel/json.ts'

const TEXTS = ['plain', 'a b', 'é&=', 'x?z', '100%', 'q+r', "o'k"] as const
const MAX_MEMBERS = 4
const MAX_DEPTH = 4

/** Creates values that schemas allow, the same ones every time. Ignores patterns. */
export const createSampler = () => {
  let seed = 7
  const next = (limit: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed % limit
  }
  const sampleText = ({ format }: JsonObject): string => {
    if (format === 'date-time') return '2026-01-02T03:04:05Z'
    return TEXTS[next(TEXTS.length)] ?? ''
  }
  const sample = (given: JsonValue | undefined, depth = 0): JsonValue => {
    const schema: JsonObject = isJsonObject(given) ? given : {}
    const { type, enum: values, anyOf, items, properties, minimum } = schema
    if (Array.isArray(values)) return values[next(values.length)] ?? null
    if (Array.isArray(anyOf)) return sample(anyOf[0], depth)
    if (type === 'integer') return Math.max(typeof minimum === 'number' ? minimum : 1, 1 + next(9))
    if (type === 'number') return 1.5
    if (type === 'boolean') return next(2) === 0
    if (type === 'array')
      return depth < 2 ? [sample(items, depth + 1), sample(items, depth + 1)] : [sample(items, depth + 1)]
    if (type === 'object') {
      const members = Object.entries(isJsonObject(properties) ? properties : { k: { type: 'string' } })
      const chosen = members.slice(0, MAX_MEMBERS)
      return Object.fromEntries(chosen.map(([key, one]) => [key, depth > MAX_DEPTH ? 'x' : sample(one, depth + 1)]))
    }
    return sampleText(schema)
  }
  return sample
}
