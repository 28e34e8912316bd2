import type { JsonObject } from '../../src/lib/kernel/json.ts'

/** Each step tries the next one twice, so there are 2^steps attempts, none of which matches. */
export const steps = (count: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: count + 1 }, (_, step) => {
      const next = { $ref: `#/$defs/a${step + 1}` }
      return [`a${step}`, step === count ? false : { anyOf: [next, next] }]
    }),
  )
/** A schema that takes 2^count attempts to reject a value. */
export const branching = (count: number): JsonObject => ({ type: 'object', $ref: '#/$defs/a0', $defs: steps(count) })

/** A recursive schema. */
export const TREE: JsonObject = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
    },
  },
}
