import { z } from 'zod'

/** An id in a path. An invalid UUID is refused before it reaches the database. */
export const uuidParam = z.uuid('is not a UUID')
export const uuidParams = z.object({ id: uuidParam })
export const serverParams = z.object({ uuid: uuidParam })

/** Makes a field optional on creation. Treats null as missing, since responses use null for missing values. */
export const absentable = <T extends z.ZodType>(schema: T) => schema.nullish().transform(value => value ?? undefined)

type Fields = Readonly<Record<string, z.ZodType>>

/** Makes all fields optional on creation, as `absentable` does. */
export function absentableFields<T extends Fields>(
  fields: T,
): { [Name in keyof T]: ReturnType<typeof absentable<T[Name]>> }
export function absentableFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, absentable(schema)]))
}

/** Makes all fields optional in a change, where null removes the value. */
export function nullishFields<T extends Fields>(fields: T): { [Name in keyof T]: z.ZodOptional<z.ZodNullable<T[Name]>> }
export function nullishFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.nullish()]))
}

/** A time in API responses: ISO 8601 in UTC. */
export const timeSchema = z.date()

/** Makes a field null in responses if it is missing. */
export const orNull = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value: z.input<T> | null | undefined) => value ?? null, schema.nullable())

const NO_TIME = 'is not a date, or a time such as 2026-11-22T09:30:00Z'
/** A time as people write it: with any offset, or a date alone. PostgreSQL has no year 0. */
export const instantSchema = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], NO_TIME)
  .transform(text => new Date(text))
  .refine(time => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9_999, NO_TIME)

const CONTROL_CHARACTERS = /\p{Cc}/u
/**
 * Bidirectional controls: they reorder the text around them, so a name could change what a page or e-mail seems to say.
 */
const DIRECTION_CHARACTERS = /[\u202a-\u202e\u2066-\u2069]/u
/** Returns a schema for a one-line name of at most `characters` characters. */
export const nameUpTo = (characters: number) =>
  z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(characters, `is longer than ${characters} characters`)
    .refine(text => !CONTROL_CHARACTERS.test(text), 'contains control characters')
    .refine(text => !DIRECTION_CHARACTERS.test(text), 'contains characters that change the direction of text')
export const nameSchema = nameUpTo(100)
