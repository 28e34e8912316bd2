/** `T` with optional fields instead of fields that may be undefined. */
type DefinedFields<T> = T extends unknown
  ? { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
      [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
    }
  : never

/** Removes undefined fields, for updates that leave missing fields unchanged. */
export function definedFields<T extends object>(fields: T): DefinedFields<T>
export function definedFields(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

type WithoutNulls<T> = { [Name in keyof T]: null extends T[Name] ? Exclude<T[Name], null> | undefined : T[Name] }

/** Returns a database row with undefined in place of null. */
export function withoutNulls<T extends object>(row: T): WithoutNulls<T>
export function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]))
}

/** Returns the value, or throws the error from `fault` if the value is undefined. */
export const orThrow = <T>(found: T | undefined, fault: () => Error): T => {
  if (found === undefined) throw fault()
  return found
}

/** Converts a row, or returns undefined if the query found none. */
export const mapFound = <Row, T>(row: Row | null, convert: (row: Row) => T): T | undefined =>
  row === null ? undefined : convert(row)
