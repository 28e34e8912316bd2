import fc from 'fast-check'
import type { Patch, PatchGroup, PatchParameter, PatchTool } from '../../src/web/diagram/patch.ts'
import { patchOf } from './sample-patches.ts'

const KEYS = Array.from({ length: 16 }, (_, index) => `key_${index}`)
const isSecret = (key: string): boolean => key.length % 2 === 0

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })

const parameter: fc.Arbitrary<PatchParameter> = fc.oneof(
  fc.record({ name: text, source: fc.constant('exposed' as const) }),
  fc.record({ name: text, source: fc.constant('fixed' as const), value: text }),
  fc.record({ name: text, key: fc.constantFrom(...KEYS) }).map(
    ({ name, key }): PatchParameter => ({
      name,
      source: isSecret(key) ? 'secret' : 'global',
      key,
    }),
  ),
  fc.record({ name: text, source: fc.constant('missing' as const), key: fc.option(text, { nil: undefined }) }),
)

const toolOf = (parameters: fc.Arbitrary<readonly PatchParameter[]>): fc.Arbitrary<PatchTool> =>
  fc.record({
    name: text,
    href: fc.constant('/tools/1'),
    meta: text,
    calls: fc.nat({ max: 5_000 }),
    state: fc.constantFrom('failed' as const, undefined, undefined),
    parameters,
  })

const groupOf = (tools: fc.Arbitrary<readonly PatchTool[]>): fc.Arbitrary<PatchGroup> =>
  fc.record({
    kind: fc.constantFrom('toolkit' as const, 'upstream' as const),
    name: text,
    href: fc.constant('/toolkits/1'),
    health: text,
    state: fc.constantFrom('good' as const, 'slow' as const, 'failed' as const, 'idle' as const),
    tools,
  })

const callers = fc.record({
  tier: fc.constantFrom('public', 'organization', 'private'),
  list: fc.array(fc.record({ name: text, activity: text, state: fc.constantFrom('good' as const, 'idle' as const) }), {
    maxLength: 9,
  }),
})

const toPatch = (groups: fc.Arbitrary<readonly PatchGroup[]>): fc.Arbitrary<Patch> =>
  fc.record({ groups, callers, unused: fc.nat({ max: 15 }) }).map(({ unused, ...generated }) => {
    const patch = patchOf('a server', generated.groups, { callers: generated.callers })
    const more = Array.from({ length: unused }, (_, index) => ({
      key: `unused_${index}`,
      source: 'global' as const,
      value: 'a value',
      uses: 0,
    }))
    return { ...patch, globals: [...patch.globals, ...more] }
  })

/** Patches small enough to be drawn with every tool and parameter. */
export const smallPatch = toPatch(
  fc.array(groupOf(fc.array(toolOf(fc.array(parameter, { maxLength: 6 })), { maxLength: 4 })), { maxLength: 4 }),
)

/** A toolkit of up to 600 copies of a few tools, which the diagram merges into a stack. */
const largeGroup = fc
  .tuple(
    groupOf(fc.array(toolOf(fc.array(parameter, { maxLength: 70 })), { minLength: 1, maxLength: 8 })),
    fc.nat({ max: 600 }),
  )
  .map(([group, count]): PatchGroup => {
    const { tools } = group
    return {
      ...group,
      tools: Array.from({ length: count }, (_, index) => tools[index % tools.length] ?? []).flat(),
    }
  })

/** Patches of up to several thousand tools from at most twelve sources. */
export const largePatch = toPatch(fc.array(largeGroup, { minLength: 1, maxLength: 12 }))
