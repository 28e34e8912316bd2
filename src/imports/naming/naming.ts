import { z } from 'zod'
import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import { longToolNameOf, NAME_STYLES } from '../openapi/names.ts'

/** Parts of an operation that the name of its tool can be made from. */
export const NAME_SOURCES = ['operation_id', 'tag_and_operation_id', 'method_and_path'] as const
export type NameSource = (typeof NAME_SOURCES)[number]

/** Leaves half of a name to the operation. */
export const MAX_PREFIX_CHARS = 32

const prefix = z
  .string()
  .regex(/^(?:[A-Za-z][A-Za-z0-9_-]*)?$/, 'must start with a letter and consist of A-Z, a-z, 0-9, _ and -')
  .max(MAX_PREFIX_CHARS, `must have at most ${MAX_PREFIX_CHARS} characters`)
  .refine(
    text => !text.startsWith(RESERVED_TOOL_PREFIX),
    `must not start with ${RESERVED_TOOL_PREFIX}, which is for Patchbay’s own tools`,
  )

/** How the new tools of an import are named. */
export const ImportNaming = z.strictObject({ from: z.enum(NAME_SOURCES), prefix, style: z.enum(NAME_STYLES) })
export type ImportNaming = z.infer<typeof ImportNaming>

/** Tools are named as they were generated. */
export const DEFAULT_NAMING: ImportNaming = { from: 'operation_id', prefix: '', style: 'snake_case' }

/** A missing field changes nothing. */
export type NamingChange = { [Field in keyof ImportNaming]?: ImportNaming[Field] | undefined }

export const changedNaming = (before: ImportNaming, change: NamingChange | null | undefined): ImportNaming =>
  change === null
    ? DEFAULT_NAMING
    : {
        from: change?.from ?? before.from,
        prefix: change?.prefix ?? before.prefix,
        style: change?.style ?? before.style,
      }

export const isSameNaming = (one: ImportNaming, other: ImportNaming): boolean =>
  one.from === other.from && one.prefix === other.prefix && one.style === other.style

/** An operation as far as it decides the name of its tool. */
export type NameableOperation = {
  operationId?: string | undefined
  method: string
  path: string
  tags: readonly string[]
  /** The generated name, used if the operation has no operationId. */
  generated: string
}

/** Returns the name of an operation's tool. It may be too long, and other tools may have it. */
export const longNameOf = (
  { operationId, method, path, tags, generated }: NameableOperation,
  naming: ImportNaming,
): string => {
  const id = operationId ?? generated
  const texts = {
    operation_id: id,
    tag_and_operation_id: `${tags[0] ?? ''} ${id}`,
    method_and_path: '',
  } satisfies Record<NameSource, string>
  return longToolNameOf({ text: texts[naming.from], method, path }, naming)
}
