import { z } from 'zod'

/** An id in a path. Invalid UUIDs are rejected before they reach the database. */
export const uuidParam = z.uuid('is not a UUID')
export const uuidParams = z.object({ id: uuidParam })
export const serverParams = z.object({ uuid: uuidParam })

/** Makes a field optional in a creation. Accepts null too, since responses have null for missing values. */
export const absentable = <T extends z.ZodType>(schema: T) => schema.nullish().transform(value => value ?? undefined)

type Fields = Readonly<Record<string, z.ZodType>>

/** Applies `absentable` to all fields. */
export function absentableFields<T extends Fields>(
  fields: T,
): { [Name in keyof T]: ReturnType<typeof absentable<T[Name]>> }
export function absentableFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, absentable(schema)]))
}

/** Makes all fields optional in an update. null removes the value. */
export function nullishFields<T extends Fields>(fields: T): { [Name in keyof T]: z.ZodOptional<z.ZodNullable<T[Name]>> }
export function nullishFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.nullish()]))
}

/** A time in API responses, sent as ISO 8601 in UTC. */
export const timeSchema = z.date()

/** Turns a missing field into null in responses. */
export const orNull = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value: z.input<T> | null | undefined) => value ?? null, schema.nullable())

const NO_TIME = 'must be a date such as 2026-11-22 or a time such as 2026-11-22T09:30:00Z'
/** A time with any offset or a date, as people enter it. PostgreSQL has no year 0. */
export const instantSchema = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], NO_TIME)
  .transform(text => new Date(text))
  .refine(time => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9_999, NO_TIME)

const CONTROL_CHARACTERS = /\p{Cc}/u
/** Bidirectional controls. They reorder the surrounding text, so a name could change the meaning of a page or email. */
const DIRECTION_CHARACTERS = /[\u202a-\u202e\u2066-\u2069]/u
/** Returns a schema for a single-line name of at most `characters` characters. */
export const nameUpTo = (characters: number) =>
  z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(characters, `is longer than ${characters} characters`)
    .refine(text => !CONTROL_CHARACTERS.test(text), 'contains control characters')
    .refine(text => !DIRECTION_CHARACTERS.test(text), 'contains characters that change the direction of text')
export const nameSchema = nameUpTo(100)
